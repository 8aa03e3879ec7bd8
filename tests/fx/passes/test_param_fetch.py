"""Are the attributes of layers noted?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def fetching(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.passes.param_fetch")


def test_attributes_of_layers_are_noted_in_their_nodes(torch: Any, fetching: Any) -> None:
    inner = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(2, 3)))
    layers = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2), torch.nn.MaxPool2d(2), inner)
    module = torch.fx.symbolic_trace(layers)
    module.add_submodule("3", inner)
    graph = torch.fx.Graph()
    value = graph.placeholder("x")
    for name in ("0", "1", "2", "3"):
        value = graph.call_module(name, (value,))
    graph.output(value)
    module = torch.fx.GraphModule(module, graph)
    fetching.lift_lowering_attrs_to_nodes(module)
    found = {node.target: list(node.attrs_for_lowering) for node in module.graph.nodes if node.target in ("0", "1")}
    assert found["0"][:4] == ["name", "weight", "bias", "kernel_size"]
    assert found["1"] == ["name", "weight", "bias", "running_mean", "running_var", "eps"]
    call = next(node for node in module.get_submodule("3").graph.nodes if node.op == "call_module")
    assert call.attrs_for_lowering["weight"] is inner.get_submodule("0").weight
    assert call.attrs_for_lowering["name"].endswith(".nn.modules.linear.Linear")


def test_an_unknown_layer_or_version_is_refused(torch: Any, fetching: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RuntimeError, match="is not in the module_fetch_book yet"):
        fetching.extract_attrs_for_lowering(torch.nn.Tanh())
    monkeypatch.setattr(torch.nn.ReLU, "_version", 7)
    with pytest.raises(RuntimeError, match=r"Fetcher version 1 try to fetch .* version 7"):
        fetching.extract_attrs_for_lowering(torch.nn.ReLU())
    assert fetching.default_matching("weight", 3) == "weight"
