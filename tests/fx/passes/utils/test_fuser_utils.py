"""Can nodes of a graph become one?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def fusing(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.passes.utils.fuser_utils")


def a_module(torch: Any) -> Any:
    def function(x: Any, y: Any) -> Any:
        a = x + 1
        b = a.relu()
        c = b * y
        d = a - c
        return d.neg(), b

    return torch.fx.symbolic_trace(function)


def named(module: Any, *names: str) -> list[Any]:
    return [node for node in module.graph.nodes if node.name in names]


def test_what_comes_back_cannot_be_fused(torch: Any, fusing: Any) -> None:
    module = a_module(torch)
    assert fusing.validate_partition(named(module, "add", "relu", "mul"))
    assert fusing.validate_partition(named(module, "add", "relu", "mul", "sub"))
    assert not fusing.validate_partition(named(module, "add", "mul"))
    assert not fusing.validate_partition(named(module, "add", "sub"))


def test_nodes_are_sorted_by_their_inputs(torch: Any, fusing: Any) -> None:
    module = a_module(torch)
    nodes = named(module, "add", "relu", "mul", "sub")
    assert [node.name for node in fusing.topo_sort(list(reversed(nodes)))] == ["add", "relu", "mul", "sub"]


def test_a_group_becomes_a_submodule(torch: Any, fusing: Any) -> None:
    module = a_module(torch)
    x, y = torch.arange(3.0) - 1, torch.full((3,), 2.0)
    before = module(x, y)
    fusing.fuse_by_partitions(module, [dict.fromkeys(named(module, "relu", "mul", "sub"))])
    module.recompile()
    assert [node.op for node in module.graph.nodes].count("call_module") == 1
    assert [node.name for node in module.fused_0.graph.nodes] == ["add", "relu", "y", "mul", "sub", "output"]
    assert [part.tolist() for part in module(x, y)] == [part.tolist() for part in before]


def test_one_result_is_no_tuple_unless_that_is_asked_for(torch: Any, fusing: Any) -> None:
    for always, kind in ((False, "Node"), (True, "tuple")):
        module = torch.fx.symbolic_trace(lambda x: (x + 1).relu())
        fusing.fuse_by_partitions(module, [dict.fromkeys(named(module, "add", "relu"))], "part_", always)
        module.recompile()
        returned = module.part_0.graph.output_node().args[0]
        assert type(returned).__name__ == kind
        assert module(torch.ones(1)).item() == 2


def test_nodes_of_another_module_are_refused(torch: Any, fusing: Any) -> None:
    module, other = a_module(torch), a_module(torch)
    with pytest.raises(AssertionError, match="doesn't belong to passed in graph module"):
        fusing.fuse_as_graphmodule(module, named(other, "add"), "part")
    with pytest.raises(AssertionError, match="Invalid partition, found dependency cycles"):
        fusing.fuse_as_graphmodule(module, named(module, "add", "mul"), "part")
