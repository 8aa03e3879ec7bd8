"""Are nodes measured, and their targets exchanged?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def changing(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.passes.graph_manipulation")


def test_the_bytes_of_results_and_parameters_are_noted(torch: Any, changing: Any) -> None:
    layers = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU())
    module = torch.fx.symbolic_trace(layers)
    first = next(iter(module.graph.nodes))
    with pytest.raises(RuntimeError, match="Check that shape propagation has run"):
        changing.get_size_of_node(module, first)
    changing.get_size_of_all_nodes(module, [torch.ones(2, 3)])
    sizes = [tuple(node.size_bytes) for node in module.graph.nodes if node.op != "output"]
    assert sizes == [(24, 24), (32, 96), (32, 32)]
    assert not hasattr(module.graph.output_node(), "size_bytes")
    assert tuple(changing.get_tensor_meta(first).shape) == (2, 3)


def test_a_target_is_exchanged_wherever_it_stands(torch: Any, changing: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x: torch.relu(x).neg() + torch.relu(x * 2))
    changing.replace_target_nodes_with(module, "call_function", torch.relu, "call_method", "abs")
    assert [node.name for node in module.graph.nodes] == ["x", "relu", "neg", "mul", "relu_1", "add", "output"]
    assert module(torch.tensor(-3)).item() == 3
