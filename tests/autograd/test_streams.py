"""Does a node run on its operator's streams, and does each stream wait for what it needs?

The simulator reports two accesses from two streams that no event orders.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import pytest

import glasstorch
from glasstorch.autograd import streams
from glasstorch.core.errors import UnsynchronizedAccessError
from glasstorch.devices import runtime


@pytest.fixture(autouse=True, params=["forward", "reverse", "random"])
def _devices(request: pytest.FixtureRequest) -> Iterator[None]:
    """Two simulated devices, which run streams in some order."""
    try:
        glasstorch.cuda.use_simulator(devices=2, order=request.param, seed=5)
        yield
    finally:
        runtime.use_driver(None)


def here(device: int = 0) -> Any:
    return glasstorch.cuda.current_stream(device)


def test_a_node_runs_on_the_stream_that_was_current_when_it_was_made() -> None:
    seen: list[Any] = []
    side = glasstorch.cuda.Stream()
    a = glasstorch.ones(3, device="cuda", requires_grad=True)
    b = a * 2
    side.wait_stream(here())
    with glasstorch.cuda.stream(side):
        c = b * 3
    here().wait_stream(side)
    d = c * 4
    for tensor in (b, c, d):
        tensor.register_hook(lambda grad: seen.append(here()))
    d.sum().backward()
    default = glasstorch.cuda.default_stream()
    assert seen == [default, side, default]
    assert here() == default
    assert a.grad.tolist() == [24.0] * 3


def test_streams_that_were_current_on_devices_of_before_are_not_noted() -> None:
    glasstorch.cuda.set_stream(glasstorch.cuda.Stream())
    glasstorch.cuda.use_simulator()
    a = glasstorch.ones(3, device="cuda", requires_grad=True)
    (a * 2).sum().backward()
    assert a.grad.tolist() == [2.0] * 3


def branches(device: str = "cuda") -> tuple[Any, Any]:
    """A leaf, and a number from it that was computed on three streams."""
    first, second = glasstorch.cuda.Stream(), glasstorch.cuda.Stream()
    a = glasstorch.arange(4.0, device=device).requires_grad_()
    parts = []
    for number, side in enumerate((first, second)):
        side.wait_stream(here())
        with glasstorch.cuda.stream(side):
            parts.append((a * a * (number + 1)).exp().log())
        here().wait_stream(side)
    return a, (parts[0] + parts[1] + a).sum()


@pytest.mark.parametrize("caller_has_a_side_stream", [False, True])
def test_streams_wait_for_those_that_make_their_gradients_and_the_caller_for_all(
    caller_has_a_side_stream: bool,
) -> None:
    a, root = branches()
    calling = glasstorch.cuda.Stream() if caller_has_a_side_stream else here()
    calling.wait_stream(here())
    with glasstorch.cuda.stream(calling):
        (found,) = glasstorch.autograd.grad(root, a, retain_graph=True)
        doubled = found * 2  # queued by the caller, at once
        root.backward()
        assert (a.grad * 2).tolist() == doubled.tolist() == [12.0 * x + 2 for x in range(4)]


def test_a_gradient_that_goes_to_another_device_is_waited_for() -> None:
    side = glasstorch.cuda.Stream(0)
    a = glasstorch.ones(3, device="cuda:0", requires_grad=True)
    side.wait_stream(here())
    with glasstorch.cuda.stream(side):
        b = a * 2
    here().wait_stream(side)
    (b.to("cuda:1") * 3).cpu().sum().backward()
    assert a.grad.tolist() == [6.0] * 3


def test_no_memory_is_reused_that_a_side_stream_has_still_to_read() -> None:
    side = glasstorch.cuda.Stream()
    a = glasstorch.ones(1000, device="cuda", requires_grad=True)
    early = a * 3  # its node runs last, and takes memory of the size that the side stream's node has just read
    side.wait_stream(here())
    with glasstorch.cuda.stream(side):
        late = a.exp()
    here().wait_stream(side)
    (early + late * 2).sum().backward()
    assert a.grad[:1].tolist() == pytest.approx([3 + 2 * math.e])


def test_a_stream_that_does_not_wait_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    _, root = branches()
    monkeypatch.setattr(streams, "wait", lambda one, other: None)
    with pytest.raises(UnsynchronizedAccessError):
        root.backward()
