"""Do calls that mean the same come to look the same?"""

from __future__ import annotations

import operator
from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def normalize(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.experimental.normalize")


def a_module(torch: Any) -> Any:
    """Calls of a layer, of functions of both kinds and of operators, with classes noted."""

    class Program(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(2, 3)

        def forward(self, x: Any) -> Any:
            y = torch.nn.functional.relu(self.linear(x))
            return torch.add(y, 2.0, alpha=3), torch.sub(y, y), torch.cat([y, y], 1)

    module = torch.fx.symbolic_trace(Program())
    import_module(f"{torch.__name__}.fx.passes.shape_prop").ShapeProp(module).propagate(torch.ones(4, 2))
    return module


def test_arguments_get_their_names(torch: Any, normalize: Any) -> None:
    module = a_module(torch)
    made = normalize.NormalizeArgs(module).transform()
    nodes = {node.name: node for node in made.graph.nodes}
    assert [len(node.args) for node in made.graph.nodes] == [0, 0, 0, 0, 0, 0, 1]
    assert list(nodes["linear"].kwargs) == ["input"]
    assert nodes["relu"].kwargs["inplace"] is False
    assert list(nodes["cat"].kwargs) == ["tensors", "dim"]
    assert nodes["sub"].kwargs["alpha"] == 1
    assert "tensor_meta" in nodes["sub"].meta
    x = torch.randn(4, 2)
    for one, other in zip(made(x), module(x), strict=True):
        assert torch.equal(one, other)


def test_arguments_by_position_may_stay(torch: Any, normalize: Any) -> None:
    made = normalize.NormalizeArgs(a_module(torch), normalize_to_only_use_kwargs=False).transform()
    nodes = {node.name: node for node in made.graph.nodes}
    assert len(nodes["sub"].args) == 2
    assert nodes["sub"].kwargs == {"alpha": 1}


def test_functions_become_operators(torch: Any, normalize: Any) -> None:
    pairs = {
        torch.add: operator.add, torch.mul: operator.mul, torch.sub: operator.sub, torch.div: operator.truediv,
        torch.floor_divide: operator.floordiv, torch.remainder: operator.mod, torch.eq: operator.eq,
        torch.ne: operator.ne, torch.lt: operator.lt, torch.le: operator.le, torch.gt: operator.gt,
        torch.ge: operator.ge,
    }  # fmt: skip
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.output([graph.call_function(function, (x, 3)) for function in (*pairs, torch.matmul)])
    module = torch.fx.GraphModule(torch.nn.Module(), graph)
    transformer = normalize.NormalizeOperators(module)
    assert transformer.binary_magic_method_remap == pairs
    made = transformer.transform()
    assert [node.target for node in made.graph.nodes][1:-1] == [*pairs.values(), torch.matmul]


def test_a_call_with_more_arguments_stays(torch: Any, normalize: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x: torch.add(x, other=3))
    made = normalize.NormalizeOperators(module).transform()
    assert made(torch.tensor(4)).item() == 7
    assert made.graph.find_nodes(op="call_function", target=torch.add)
