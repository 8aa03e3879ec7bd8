"""How does a program seed the random numbers of CUDA devices, and save and restore their state?

Mirrors: torch/cuda/random.py
Differs: without a device, a seed is stored for devices that become available later, and a state is refused.

A device is an index, a string such as "cuda:1", a `glasstorch.device`, or None for the current one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload

from glasstorch._tensor import Tensor
from glasstorch.core.device import device, device_from
from glasstorch.core.random.generator import Generator, default_generator_of, seed_devices
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.devices import runtime

__all__ = [
    "get_rng_state",
    "get_rng_state_all",
    "initial_seed",
    "manual_seed",
    "manual_seed_all",
    "seed",
    "seed_all",
    "set_rng_state",
    "set_rng_state_all",
]

Device = device | str | int | None


class DefaultGenerators(Sequence[Generator]):
    """The default generators of CUDA devices, by the device's index."""

    @overload
    def __getitem__(self, index: int) -> Generator: ...

    @overload
    def __getitem__(self, index: slice) -> list[Generator]: ...

    def __getitem__(self, index: int | slice) -> Generator | list[Generator]:
        indices = range(len(self))[index]
        return _generator(indices) if isinstance(indices, int) else [_generator(place) for place in indices]

    def __len__(self) -> int:
        return runtime.device_count()


default_generators = DefaultGenerators()


def get_rng_state(device: Device = "cuda") -> Tensor:
    """The state of a device's default generator: 16 bytes, the seed and the offset, for `set_rng_state`."""
    return _generator(device).get_state()


def get_rng_state_all() -> list[Tensor]:
    """The states of the default generators of all devices."""
    return [generator.get_state() for generator in default_generators]


def set_rng_state(new_state: Tensor, device: Device = "cuda") -> None:
    """Restore a state from `get_rng_state`."""
    _generator(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Restore the states from `get_rng_state_all`."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed: int) -> None:
    """Seed the generator of the current device."""
    if runtime.is_available():
        _generator(None).manual_seed(int(seed))
    else:
        manual_seed_all(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all devices."""
    seed_devices(int(seed))


def seed() -> None:
    """Seed the generator of the current device with a number from the operating system."""
    if runtime.is_available():
        _generator(None).seed()


def seed_all() -> None:
    """Seed the generators of all devices with one number from the operating system."""
    manual_seed_all(Generator().seed())


def initial_seed() -> int:
    """The seed of the current device's default generator."""
    return _generator(None).initial_seed()


def _generator(of: Device) -> Generator:
    return default_generator_of(device_from("cuda", runtime.device_index(of)))


__getattr__ = _refuse_unknown_names(__name__)
