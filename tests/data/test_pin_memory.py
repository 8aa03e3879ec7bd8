"""Are batches pinned where a device is, and is it said where none is?"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

import glasstorch
from glasstorch.data import iterators
from glasstorch.utils.data import DataLoader
from glasstorch.utils.data._utils.pin_memory import pin_memory
from tests.data.loaders import QUIET, data_of, numbered

pytestmark = QUIET


class Pair(NamedTuple):
    x: Any
    y: Any


class Own:
    """Pins itself."""

    pinned = False

    def pin_memory(self) -> Own:
        self.pinned = True
        return self


@pytest.mark.parametrize("workers", [0, 1])
def test_without_a_device_a_warning_says_so(torch: Any, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iterators.runtime, "is_available", lambda: False)
    loader = data_of(torch).DataLoader(numbered(torch, 4), 2, pin_memory=True, num_workers=workers)
    if torch is not glasstorch and torch.cuda.is_available():
        pytest.skip("this torch has a device")
    with pytest.warns(UserWarning, match="'pin_memory' argument is set as true but no accelerator is found"):
        batches = list(loader)
    assert len(batches) == 2


def test_the_old_option_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iterators.runtime, "is_available", lambda: True)
    loader = DataLoader([1], pin_memory=True, pin_memory_device="cuda")
    with pytest.warns(UserWarning, match="pin_memory_device is deprecated.*ignore pin_memory_device='cuda'"):
        iter(loader)


@pytest.fixture
def simulated(require: Any) -> Any:
    """A simulated device."""
    require("g++")
    from glasstorch.devices import runtime

    before = runtime._driver
    yield glasstorch.cuda.use_simulator()
    runtime.use_driver(before)


@pytest.mark.parametrize("workers", [0, 1])
def test_batches_are_pinned_for_a_device(simulated: Any, workers: int) -> None:
    x, y = next(iter(DataLoader(numbered(glasstorch, 6), 3, pin_memory=True, num_workers=workers)))
    assert (x.is_pinned(), y.is_pinned(), y.tolist()) == (True, True, [0, 1, 2])


def test_tensors_are_pinned_at_any_depth(simulated: Any) -> None:
    own = Own()
    found = pin_memory({"a": [glasstorch.ones(2), "text"], "b": Pair(glasstorch.ones(1), (own, 3))})
    assert found["a"][0].is_pinned()
    assert found["b"].x.is_pinned()
    assert (found["a"][1], type(found["b"]), found["b"].y) == ("text", Pair, (own, 3))
    assert own.pinned
