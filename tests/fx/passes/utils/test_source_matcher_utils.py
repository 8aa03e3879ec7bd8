"""Are the nodes found that came of one call?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def sources(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.passes.utils.source_matcher_utils")


def a_graph(torch: Any) -> Any:
    """Two linear layers and a relu, as they are when each layer has become a transpose and a product."""
    graph = torch.fx.Graph()
    value = graph.placeholder("x")
    for number in range(2):
        weight = graph.get_attr(f"weight{number}")
        turned = graph.call_function(torch.t, (weight,))
        value = graph.call_function(torch.matmul, (value, turned))
        for node in (weight, turned, value):
            node.meta["source_fn_stack"] = [("outer", "outer"), (f"linear_{number}", torch.nn.Linear)]
    value = graph.call_function(torch.relu, (value,))
    value.meta["torch_fn"] = ("relu_1", "function.relu")
    value = graph.call_function(torch.neg, (value,))
    value.meta["nn_module_stack"] = {"a": ("outer", torch.nn.Module), "b": ("outer.norm", torch.nn.BatchNorm2d)}
    graph.output(value)
    return graph


def names(nodes: list[Any]) -> list[str]:
    return sorted(node.name for node in nodes)


def test_nodes_are_grouped_by_the_call_they_came_of(torch: Any, sources: Any) -> None:
    found = sources.get_source_partitions(a_graph(torch), [torch.nn.Linear, "relu", torch.nn.BatchNorm2d])
    first, second = found[torch.nn.Linear]
    assert [node.name for node in first.nodes] == ["weight0", "t", "matmul"]
    assert names(first.input_nodes) == ["x"]
    assert names(second.input_nodes) == ["matmul"]
    assert names(second.output_nodes) == ["matmul_1"]
    assert names(second.params) == ["weight1"]
    assert second.source is torch.nn.Linear
    assert names(found["relu"][0].nodes) == ["relu"]
    assert names(found[torch.nn.BatchNorm2d][0].nodes) == ["neg"]
    assert sources.check_subgraphs_connected(first, second)
    assert not sources.check_subgraphs_connected(second, first)


def test_groups_can_be_left_out(torch: Any, sources: Any) -> None:
    found = sources.get_source_partitions(a_graph(torch), [torch.nn.Linear], lambda node: node.name != "matmul_1")
    assert [names(part.nodes) for part in found[torch.nn.Linear]] == [["matmul", "t", "weight0"]]
    assert sources.get_source_partitions(a_graph(torch), [torch.nn.Conv2d]) == {}
