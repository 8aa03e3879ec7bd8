"""Does a part of a graph become a module, and are equal graphs found equal?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tests.fx.programs import a_network


@pytest.fixture
def common(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.passes.utils.common")


def test_a_part_has_what_it_uses_at_the_same_paths(torch: Any, common: Any) -> None:
    module = torch.fx.symbolic_trace(a_network(torch))
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.output((graph.call_module("layers.0", (x,)), graph.get_attr("scale"), graph.get_attr("layers.0.bias")))
    part, paths = common.lift_subgraph_as_module(module, graph, comp_name="part", class_name="Part")
    assert paths == {name: f"part.{name}" for name in ("layers.0", "scale", "layers.0.bias")}
    assert type(part).__name__ == "Part"
    assert part.get_submodule("layers.0") is module.get_submodule("layers.0")
    assert part(torch.ones(1, 2))[1] is module.scale
    assert import_module(f"{torch.__name__}.fx.passes.utils").HolderModule is common.HolderModule


def test_graphs_are_compared_by_their_nodes(torch: Any, common: Any) -> None:
    def graph(function: Any) -> Any:
        return torch.fx.symbolic_trace(function).graph

    one = graph(lambda x, y: torch.relu(x + y))
    assert common.compare_graphs(one, graph(lambda a, b: torch.relu(a + b)))
    assert not common.compare_graphs(one, graph(lambda a, b: torch.relu(a - b)))
    assert not common.compare_graphs(one, graph(lambda a, b: torch.relu(a + b).neg()))
