"""How does a program set and keep the stream of random numbers?

Mirrors: torch/random.py
Differs: there is one stream, the CPU's: numbers for other devices are drawn there and copied. So `fork_rng` has
    nothing to keep for a device, and `seed` and `manual_seed` set all there is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core import hooks
from glasstorch.core.device import device
from glasstorch.core.generator import default_generator, manual_seed

__all__ = [
    "default_generator",
    "manual_seed",
    "seed",
    "initial_seed",
    "get_rng_state",
    "set_rng_state",
    "fork_rng",
]


def seed() -> int:
    """Start the stream of a seed that the operating system picks, and return that seed."""
    return default_generator.seed()


def initial_seed() -> int:
    """The seed that the stream began with."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """Where the stream stands: 5056 bytes that `set_rng_state`, PyTorch's too, goes on from."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Go on from a state that `get_rng_state` gave."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Whatever is drawn inside the `with` block is drawn again after it.

    `devices` of type `device_type` are checked to be there; they draw from the CPU's stream. For the type "meta",
    which draws nothing, the stream is not forked.
    """
    if device_type == "meta" or not enabled:
        yield
        return
    for index in devices or ():
        _check_device(device_type or "cuda", index)
    state = default_generator.stream.state_bytes()
    try:
        yield
    finally:
        default_generator.stream.load_state_bytes(state)


def _check_device(device_type: str, index: Any) -> None:
    """Refuse a device that is not there."""
    on = device(index) if isinstance(index, str | device) else device(device_type, index)
    if on.type == "cuda":
        hooks.cuda_hooks.indexed(on)
