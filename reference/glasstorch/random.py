"""How does a program seed the random numbers, and save and restore their state?

Mirrors: torch/random.py
Differs: the random streams of CUDA devices are in `glasstorch.cuda.random`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core import hooks
from glasstorch.core.device import device
from glasstorch.core.random.generator import (
    Generator,
    default_generator,
    default_generator_of,
    manual_seed,
    seed_devices,
)
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.core.warn_once import warn_once
from glasstorch.devices import runtime

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
    """Seed the generators of all devices with a number from the operating system, and return it."""
    seed = default_generator.seed()
    seed_devices(seed)
    return seed


def initial_seed() -> int:
    """The seed of the CPU's default generator."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the CPU's default generator: 5056 bytes in PyTorch's format, for `set_rng_state`."""
    return default_generator.get_state()


def set_rng_state(new_state: Tensor) -> None:
    """Restore a state from `get_rng_state`."""
    default_generator.set_state(new_state)


@contextmanager
def fork_rng(
    devices: Iterable[Any] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Iterator[None]:
    """Restore the generators' states, on the CPU and on the devices, at the end of the `with` block.

    `devices` are those of the type `device_type` to include, by default all of them. On "meta" nothing is drawn, so
    nothing is forked.
    """
    if device_type == "meta" or not enabled:
        yield
        return
    kind = device(device_type or "cuda").type
    if devices is None:
        count = runtime.device_count() if kind == "cuda" else 0
        if count > 1:
            warn_once(
                f"CUDA reports that you have {count} available devices, and you have used {_caller} without explicitly "
                f"specifying which devices are being used. Every CUDA device is forked, which can be slow if there "
                f"are many; name them with the '{_devices_kw}' keyword argument of {_caller}."
            )
        devices = range(count)
    forked = [default_generator, *(_generator(kind, one) for one in devices)]
    states = [generator.stream.state_bytes() for generator in forked]
    try:
        yield
    finally:
        for generator, state in zip(forked, states, strict=True):
            generator.stream.load_state_bytes(state)


def _generator(kind: str, one: Any) -> Generator:
    """The default generator of a device, given as an index of the type `kind` or as a device."""
    on = device(one) if isinstance(one, str | device) else device(kind, one)
    return default_generator_of(hooks.cuda_hooks.indexed(on) if on.type == "cuda" else on)


__getattr__ = _refuse_unknown_names(__name__)
