"""Is what has been computed before not computed again?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

import glasstorch


@pytest.fixture
def cse(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.passes.dialect.common.cse_pass")


def a_module(torch: Any, *calls: tuple[Any, ...]) -> Any:
    """The sum of calls of operators with `x`."""
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    total = graph.call_function(torch.ops.aten.neg.default, (x,))
    for operator, args, kwargs in calls:
        made = graph.call_function(operator, tuple(x if arg == "x" else arg for arg in args), kwargs)
        total = graph.call_function(torch.ops.aten.add.Tensor, (total, made))
    graph.output(total)
    return torch.fx.GraphModule(torch.nn.Module(), graph)


def names(module: Any) -> list[str]:
    return [node.name for node in module.graph.nodes if node.op == "call_function" and "add" not in node.name]


def test_equal_calls_become_one(torch: Any, cse: Any) -> None:
    aten = torch.ops.aten
    module = a_module(
        torch,
        (aten.neg.default, ("x",), {}),
        (aten.sum.dim_IntList, ("x", [0]), {"keepdim": True}),
        (aten.sum.dim_IntList, ("x", [0]), {"keepdim": True}),
        (aten.sum.dim_IntList, ("x", [0]), {"keepdim": False}),
        (aten.abs.default, ("x",), {}),
    )
    done = cse.CSEPass()(module)
    assert done.modified
    sums = ["sum_dim_int_list", "sum_dim_int_list_1", "sum_dim_int_list_2"]
    assert names(module) == ["neg_default", "neg_default_1", *sums, "abs_default"]
    assert names(done.graph_module) == ["neg_default", sums[0], sums[2], "abs_default"]
    x = torch.tensor([1.0, -3.0])
    assert done.graph_module(x).tolist() == module(x).tolist()
    again = cse.CSEPass()(done.graph_module)
    assert again == (done.graph_module, False)


def test_calls_that_draw_or_write_are_kept(torch: Any, cse: Any) -> None:
    aten = torch.ops.aten
    banned = cse.get_CSE_banned_ops()
    assert {aten.rand_like, aten.bernoulli, aten.native_dropout, aten.add_, aten.relu_} <= banned
    assert banned.isdisjoint([aten.add, aten.neg, aten.view])
    module = a_module(torch, *[(aten.rand_like.default, ("x",), {})] * 2, *[(aten.relu_.default, ("x",), {})] * 2)
    assert not cse.CSEPass(banned)(module).modified
    assert names(cse.CSEPass()(module).graph_module) == ["neg_default", "rand_like_default", "relu__default"]


def test_one_and_one_point_zero_are_not_the_same() -> None:
    aten = glasstorch.ops.aten
    module = a_module(glasstorch, (aten.mul.Scalar, ("x", 2), {}), (aten.mul.Scalar, ("x", 2.0), {}))
    passed = import_module("glasstorch.fx.passes.dialect.common.cse_pass").CSEPass()(module)
    assert passed == (module, False)
    assert module(glasstorch.tensor([3])).dtype is glasstorch.float32
