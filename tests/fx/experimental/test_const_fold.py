"""Is what depends on parameters alone computed once?"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from tests.fx.test_against_torch import same

# PyTorch warns of attributes that it fetches before the module has them.
pytestmark = [pytest.mark.filterwarnings(f"ignore:{text}") for text in ("Attempted to insert", "Failed to fetch")]

Require = Callable[[str], Any]


def folding(t: Any) -> Any:
    return import_module(f"{t.__name__}.fx.experimental.const_fold")


def a_program(t: Any, forward: Callable[..., Any]) -> Any:
    """A module with parameters, a buffer and layers, and with this function as its forward."""
    root = t.nn.Module()
    root.scale = t.nn.Parameter(t.full((2,), 3.0))
    root.register_buffer("shift", t.ones(2))
    root.inner = t.nn.Module()
    root.inner.weight = t.nn.Parameter(t.tensor([[1.0, 2.0], [3.0, 4.0]]))
    root.layers = t.nn.Sequential(t.nn.Linear(2, 2), t.nn.ReLU())
    t.nn.init.ones_(root.layers[0].weight)
    t.nn.init.zeros_(root.layers[0].bias)
    cls = type("Program", (type(root),), {"forward": forward})
    root.__class__ = cls
    return root


PROGRAMS: dict[str, Callable[[Any], Callable[..., Any]]] = {
    "one result": lambda t: lambda self, x: x + self.scale * self.shift,
    "several results": lambda t: lambda self, x: (x + self.scale * self.shift, x @ self.inner.weight.t(), x.neg()),
    "a result that is returned": lambda t: lambda self, x: (x, self.scale + self.shift),
    "all of it": lambda t: lambda self: self.scale + self.shift,
    "a layer": lambda t: lambda self, x: self.layers(self.shift) + self.layers(x),
    "nothing": lambda t: lambda self, x: x + self.scale,
    "a random part": lambda t: lambda self, x: x + t.rand_like(self.scale) * 0,
}


@pytest.mark.parametrize("make", PROGRAMS.values(), ids=PROGRAMS)
def test_programs_are_folded_as_pytorch_folds_them(require: Require, make: Callable[[Any], Any]) -> None:
    def run(t: Any) -> object:
        module = a_program(t, make(t))
        folded = folding(t).split_const_subgraphs(module)
        once = None if folded.const_subgraph_module is None else folded.const_subgraph_module.code
        args = [t.tensor([1.0, 2.0])] * ("x" in folded.code.partition("\n    ")[0])
        results = [str(module(*args)), str(folded(*args)), str(folded(*args))]
        return folded.code, once, folded.fx_const_folded_attrs_name, results

    same(require, run)


def test_the_constant_part_is_computed_once(torch: Any) -> None:
    module = a_program(torch, lambda self, x: x + self.scale * self.shift)
    folded = folding(torch).split_const_subgraphs(module)
    folded.run_folding()
    assert folded._FX_CONST_FOLDED_ATTRS.tolist() == [3, 3]
    with pytest.raises(AssertionError, match="Folding has already been run"):
        folded.run_folding()
    with torch.no_grad():
        module.scale.zero_()
    assert folded(torch.zeros(2)).tolist() == [3, 3]


def test_nodes_can_be_kept_out(torch: Any) -> None:
    module = torch.fx.symbolic_trace(a_program(torch, lambda self, x: x + (self.scale * self.shift).neg()))
    folded = folding(torch).split_const_subgraphs(module, skip_folding_node_fn=lambda node: node.target == "neg")
    assert [node.name for node in folded.const_subgraph_module.graph.nodes if node.op[:4] == "call"] == ["mul"]
    assert [node.name for node in folded.graph.nodes if node.op[:4] == "call"] == ["neg", "add"]
    assert folded(torch.zeros(2)).tolist() == [-3, -3]


def test_a_number_becomes_a_parameter(torch: Any) -> None:
    folded = folding(torch).split_const_subgraphs(a_program(torch, lambda self, x: x * self.inner.weight.size(0)))
    assert folded(torch.tensor([1.0, 2.0])).tolist() == [2, 4]
    assert folded._FX_CONST_FOLDED_ATTRS.tolist() == [2.0]


def test_a_module_in_whose_graph_numbers_are_drawn_is_not_folded(torch: Any) -> None:
    inner = torch.fx.symbolic_trace(lambda x: torch.rand_like(x))
    graph = torch.fx.Graph()
    value = graph.call_module("inner", (graph.get_attr("scale"),))
    graph.output(value)
    root = torch.nn.Module()
    root.inner, root.scale = inner, torch.nn.Parameter(torch.ones(2))
    folded = folding(torch).split_const_subgraphs(torch.fx.GraphModule(root, graph))
    assert folded.const_subgraph_module is None


def test_a_call_is_replaced_by_what_it_calls(torch: Any) -> None:
    inner = torch.fx.symbolic_trace(lambda x, y: (x + y, x * y))
    graph = torch.fx.Graph()
    x, y = graph.placeholder("x"), graph.placeholder("y")
    call = torch.fx.Proxy(graph.call_module("inner", (x,), {"y": y}))
    graph.output((call[1].node, call.node))
    root = torch.nn.Module()
    root.inner = inner
    module = torch.fx.GraphModule(root, graph)
    became = folding(torch)._inline_module(module, "inner")
    module.recompile()
    assert [node.name for node in module.graph.nodes] == ["x", "y", "add", "mul", "output"]
    assert became[inner.graph.output_node().args[0][0]].name == "add"
    assert str(module(torch.tensor(3), torch.tensor(4))) == "(tensor(12), (tensor(7), tensor(12)))"
    with pytest.raises(AssertionError, match="Could not find call_module node for inner"):
        folding(torch)._inline_module(module, "inner")


def test_a_name_that_is_taken_gets_a_number(torch: Any) -> None:
    module = torch.nn.Module()
    name = folding(torch).get_unique_attr_name_in_module
    for wanted, given in (("a b", "a_b"), ("a b", "a_b_1"), ("a_b_1", "a_b_2"), ("3", "_3")):
        assert name(module, wanted) == given
        setattr(module, given, 1)
