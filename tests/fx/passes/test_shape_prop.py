"""Is each node's result noted?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def shapes(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.passes.shape_prop")


def test_sizes_dtypes_and_formats_are_noted(torch: Any, shapes: Any) -> None:
    module = torch.fx.symbolic_trace(lambda x: (x.relu().t(), {"a": torch.max(x.double(), 1)}, x.size(0)))
    shapes.ShapeProp(module).propagate(torch.ones(2, 3, requires_grad=True))
    noted = {node.name: node.meta.get("tensor_meta") for node in module.graph.nodes}
    relu, t, double = noted["relu"], noted["t"], noted["double"]
    assert (tuple(relu.shape), relu.dtype, relu.requires_grad, relu.stride) == ((2, 3), torch.float32, True, (3, 1))
    assert relu.memory_format is torch.contiguous_format
    assert (t.stride, t.memory_format) == ((1, 3), None)
    assert double.dtype is torch.float64
    assert [tuple(part.shape) for part in noted["max_1"]] == [(2,), (2,)]
    assert noted["size"] is None
    assert {node.name: node.meta["type"] for node in module.graph.nodes}["size"] is int


def test_images_with_channels_last_are_recognized(torch: Any, shapes: Any) -> None:
    image = torch.ones(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    module = torch.fx.symbolic_trace(lambda x: x.relu())
    shapes.ShapeProp(module).propagate(image)
    noted = [node.meta["tensor_meta"].memory_format for node in module.graph.nodes]
    assert noted == [torch.channels_last] * 3


def test_a_node_that_fails_is_named(torch: Any, shapes: Any, capsys: pytest.CaptureFixture[str]) -> None:
    module = torch.fx.symbolic_trace(lambda x: x.relu() @ x)
    with pytest.raises(RuntimeError, match="ShapeProp error for: node=%matmul"):
        shapes.ShapeProp(module).propagate(torch.ones(2, 3))
    capsys.readouterr()


def test_fake_tensors_compute_nothing(torch: Any, shapes: Any) -> None:
    fake = import_module(f"{torch.__name__}._subclasses.fake_tensor").FakeTensorMode(allow_non_fake_inputs=True)
    module = torch.fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()))
    result = shapes.ShapeProp(module, fake).propagate(torch.ones(2, 3))
    assert type(result).__name__ == "FakeTensor"
    assert [tuple(node.meta["tensor_meta"].shape) for node in module.graph.nodes] == [(2, 3), (2, 4), (2, 4), (2, 4)]
