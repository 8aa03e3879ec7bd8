"""Is what each node gives noted as a fake tensor?"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest


@pytest.fixture
def prop(torch: Any) -> Any:
    return import_module(f"{torch.__name__}.fx.passes.fake_tensor_prop").FakeTensorProp


def mode_of(torch: Any) -> Any:
    return import_module(f"{torch.__name__}._subclasses.fake_tensor").FakeTensorMode


def test_results_are_noted_and_nothing_is_computed(torch: Any, prop: Any) -> None:
    class Program(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 2)
            self.scale = torch.nn.Parameter(torch.ones(2))

        def forward(self, x: Any) -> Any:
            y = self.linear(x) * self.scale
            return y.view(-1), y.shape[0], y.dim()

    module = torch.fx.symbolic_trace(Program())
    mode = mode_of(torch)(allow_non_fake_inputs=True)  # parameters stay as they are
    result = prop(module, mode).propagate(torch.ones(4, 3))
    notes = {node.name: node.meta.get("val") for node in module.graph.nodes}
    kind = import_module(f"{torch.__name__}._subclasses.fake_tensor").FakeTensor
    shapes = {name: tuple(value.shape) for name, value in notes.items() if isinstance(value, kind)}
    assert shapes == {"x": (4, 3), "linear": (4, 2), "scale": (2,), "mul": (4, 2), "view": (8,)}
    assert (notes["dim"], notes["getitem"]) == (2, 4)
    assert isinstance(result[0], kind)
    assert result[1:] == (4, 2)
    with pytest.raises(AssertionError, match="Please convert all Tensors to FakeTensors first"):
        prop(module).propagate(torch.ones(4, 3))


def test_a_note_is_of_the_moment(torch: Any, prop: Any) -> None:
    fake = mode_of(torch)()
    module = torch.fx.symbolic_trace(lambda x: x.unsqueeze_(0))
    given = fake.from_tensor(torch.ones(2))
    prop(module, fake).propagate_dont_convert_inputs(given)
    shapes = [tuple(node.meta["val"].shape) for node in list(module.graph.nodes)[:2]]
    assert shapes == [(2,), (1, 2)]
    assert tuple(given.shape) == (1, 2)
