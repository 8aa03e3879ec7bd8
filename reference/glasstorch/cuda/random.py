"""How does a program set and keep the streams of random numbers of CUDA devices?

Mirrors: torch/cuda/random.py
Differs: where there is no device, a seed is remembered for those that may come, and a state is refused.

A device is an index, a string such as "cuda:1", a `glasstorch.device`, or None for the current one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import overload

from glasstorch._tensor import Tensor
from glasstorch.core.device import device
from glasstorch.core.random.generator import Generator, default_generator_of, seed_devices
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
    """The generators that tensors on CUDA devices draw from where none is given, by the index of the device."""

    @overload
    def __getitem__(self, index: int) -> Generator: ...

    @overload
    def __getitem__(self, index: slice) -> list[Generator]: ...

    def __getitem__(self, index: int | slice) -> Generator | list[Generator]:
        places = range(len(self))[index]
        return _generator(places) if isinstance(places, int) else [_generator(place) for place in places]

    def __len__(self) -> int:
        return runtime.device_count()


default_generators = DefaultGenerators()


def get_rng_state(device: Device = "cuda") -> Tensor:
    """Where a device's stream stands: 16 bytes, the seed and the offset, that `set_rng_state` goes on from."""
    return _generator(device).get_state()


def get_rng_state_all() -> list[Tensor]:
    """Where the streams of all devices stand."""
    return [generator.get_state() for generator in default_generators]


def set_rng_state(new_state: Tensor, device: Device = "cuda") -> None:
    """Go on from a state that `get_rng_state` gave."""
    _generator(device).set_state(new_state)


def set_rng_state_all(new_states: Iterable[Tensor]) -> None:
    """Go on from the states that `get_rng_state_all` gave."""
    for index, state in enumerate(new_states):
        set_rng_state(state, index)


def manual_seed(seed: int) -> None:
    """Start the stream of a seed on the current device."""
    if runtime.is_available():
        _generator(None).manual_seed(int(seed))
    else:
        manual_seed_all(seed)


def manual_seed_all(seed: int) -> None:
    """Start the stream of a seed on all devices."""
    seed_devices(int(seed))


def seed() -> None:
    """Start the stream of a seed on the current device that the operating system picks."""
    if runtime.is_available():
        _generator(None).seed()


def seed_all() -> None:
    """Start the stream of one seed on all devices that the operating system picks."""
    manual_seed_all(Generator().seed())


def initial_seed() -> int:
    """The seed that the current device's stream began with."""
    return _generator(None).initial_seed()


def _generator(of: Device) -> Generator:
    return default_generator_of(device("cuda", runtime.device_index(of)))
