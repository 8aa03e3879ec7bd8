"""How does a program set and keep the stream of random numbers?

Mirrors: torch/random.py
Differs: the CPU's stream only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from glasstorch._tensor import Tensor
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
def fork_rng(devices: Iterable[Any] | None = None, enabled: bool = True) -> Iterator[None]:
    """Whatever is drawn inside the `with` block is drawn again after it."""
    state = default_generator.state_bytes() if enabled else None
    try:
        yield
    finally:
        if state is not None:
            default_generator.load_state_bytes(state)
