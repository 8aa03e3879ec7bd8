"""How does a program seed the random numbers, and save and restore their state?

Mirrors: torch/random.py
Differs: the random streams of CUDA devices are in `glasstorch.cuda.random`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.device import device, private_use
from glasstorch.core.private_use import registered, with_index
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
    "thread_safe_generator",
]


def seed() -> int:
    """Seed the generators of all devices with a number from the operating system, and return it."""
    seed = default_generator.seed()
    seed_devices(seed)
    return seed


def thread_safe_generator() -> Generator | None:
    """The generator of a loader's worker that is a thread; None elsewhere: workers are processes here."""
    return None


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
    own = private_use.name
    kind = device(device_type or (own if private_use.is_accelerator else "cuda")).type
    if kind == own:
        with _fork_own(devices, _caller, _devices_kw):
            yield
        return
    if devices is None:
        count = runtime.device_count() if kind == "cuda" else 0
        if count > 1:
            _warn_of_many("cuda", count, _caller, _devices_kw)
        devices = range(count)
    forked = [default_generator, *(_generator(kind, one) for one in devices)]
    states = [generator.stream.state_bytes() for generator in forked]
    try:
        yield
    finally:
        for generator, state in zip(forked, states, strict=True):
            generator.stream.load_state_bytes(state)


@contextmanager
def _fork_own(devices: Iterable[Any] | None, caller: str, keyword: str) -> Iterator[None]:
    """Restore the CPU's state and those of a program's own devices, which their module gets and sets."""
    name, module = private_use.name, registered.module
    if module is None:
        raise RuntimeError(f"Device '{name}' does not have a corresponding module registered as 'torch.{name}'.")
    if devices is None and module.device_count() > 1:
        _warn_of_many(name, module.device_count(), caller, keyword)
    on = list(range(module.device_count()) if devices is None else devices)
    state, states = get_rng_state(), [module.get_rng_state(one) for one in on]
    try:
        yield
    finally:
        set_rng_state(state)
        for one, kept in zip(on, states, strict=True):
            module.set_rng_state(kept, one)


def _warn_of_many(kind: str, count: int, caller: str, keyword: str) -> None:
    name = kind.upper()
    warn_once(
        f"{name} reports that you have {count} available devices, and you have used {caller} without explicitly "
        f"specifying which devices are being used. Every {name} device is forked, which can be slow if there are "
        f"many; name them with the '{keyword}' keyword argument of {caller}."
    )


def _generator(kind: str, one: Any) -> Generator:
    """The default generator of a device, given as an index of the type `kind` or as a device."""
    on = device(one) if isinstance(one, str | device) else device(kind, one)
    return default_generator_of(with_index(on))


__getattr__ = _refuse_unknown_names(__name__)
