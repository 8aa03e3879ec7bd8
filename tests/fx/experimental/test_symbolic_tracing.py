"""Is a program traced for all sizes traced as PyTorch traces it, and right for other sizes?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core.pytree import tree_leaves
from glasstorch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode
from tests.fx.experimental import symbolic
from tests.fx.experimental.symbolic_programs import RUN, SAME, Program

Require = Callable[[str], Any]
EACH = [pytest.param(program, id=program.text) for program in (*SAME, *RUN)]


def traced(torch: Any, program: Program) -> Any:
    make_fx = symbolic.module(torch, "fx.experimental.proxy_tensor").make_fx
    return make_fx(program.function(torch), tracing_mode="symbolic")(*program.arguments(torch))


def told(torch: Any, program: Program) -> tuple[str, list[tuple[str, str]], str]:
    module = traced(torch, program)
    values = [(node.name, str(node.meta["val"])) for node in module.graph.nodes if "val" in node.meta]
    return module.code.replace("glasstorch", "torch"), values, module.shape_env.format_guards()


@pytest.mark.parametrize("program", [pytest.param(program, id=program.text) for program in SAME])
def test_a_program_is_traced_as_pytorch_traces_it(require: Require, program: Program) -> None:
    assert told(glasstorch, program) == told(require("torch"), program)


def equal(result: Any, expected: Any) -> bool:
    if not isinstance(expected, glasstorch.Tensor):
        return bool(result == expected)
    return result.shape == expected.shape and glasstorch.allclose(result, expected, atol=1e-6)


@pytest.mark.parametrize("program", EACH)
def test_a_graph_is_right_for_the_sizes_that_its_guards_allow(program: Program) -> None:
    module = traced(glasstorch, program)
    inputs = [node.meta.get("val") for node in module.graph.nodes if node.op == "placeholder"]
    for more in (0, 2, 3):
        arguments = [*program.arguments(glasstorch, more)]
        if not module.shape_env.evaluate_guards_for_args(inputs, arguments, ignore_static=False):
            assert more, "the guards hold for the sizes of the example"
            continue
        try:
            expected = program.function(glasstorch)(*program.arguments(glasstorch, more))
        except RuntimeError:
            with pytest.raises(RuntimeError):
                module(*arguments)
            continue
        results = module(*arguments)
        assert all(equal(r, e) for r, e in zip(tree_leaves(results), tree_leaves(expected), strict=True)), more


def test_a_number_that_depends_on_elements_can_be_a_size() -> None:
    make_fx = symbolic.module(glasstorch, "fx.experimental.proxy_tensor").make_fx
    module = make_fx(lambda x: glasstorch.zeros(x.item()) + 1, tracing_mode="symbolic")(glasstorch.tensor(3))
    assert module(glasstorch.tensor(5)).tolist() == [1] * 5
    with pytest.raises(GuardOnDataDependentSymNode, match=r"Could not guard on data-dependent expression u0 > 3"):
        make_fx(lambda x: x if x.item() > 3 else -x, tracing_mode="symbolic")(glasstorch.tensor(3))


def test_what_is_not_recorded_is_refused_by_name() -> None:
    make_fx = symbolic.module(glasstorch, "fx.experimental.proxy_tensor").make_fx
    seen: list[Any] = []
    make_fx(lambda x: seen.append(x.shape[0] * 2) or x, tracing_mode="symbolic")(glasstorch.ones(3, 4))
    with pytest.raises(RuntimeError, match="is not tracked with proxy"):
        make_fx(lambda x: x.new_zeros(seen[0]), tracing_mode="symbolic")(glasstorch.ones(3, 4))
