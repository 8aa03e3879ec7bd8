"""Which questions does a program put to Apple's GPU before it goes on without?

Mirrors: torch/mps/__init__.py
Differs: this library has no such device, so a question whether there is one is answered, and anything else refused.
"""

from __future__ import annotations

from typing import Any, NoReturn

from glasstorch.core.errors import DeviceError
from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = [
    "current_allocated_memory",
    "device_count",
    "driver_allocated_memory",
    "empty_cache",
    "get_rng_state",
    "is_available",
    "manual_seed",
    "recommended_max_memory",
    "seed",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "synchronize",
]


def is_available() -> bool:
    """Whether there is a device "mps": no."""
    return False


def device_count() -> int:
    """How many devices there are: none."""
    return 0


def _refused(asked: str) -> NoReturn:
    raise DeviceError(f"torch.mps.{asked}: there is no MPS device; torch.mps.is_available() is False")


def manual_seed(seed: int) -> None:
    """Seed the device's generator, of which there is none: nothing is done, as PyTorch does without the device."""


def seed() -> None:
    """Refused: there is no generator."""
    _refused("seed")


def get_rng_state(device: Any = "mps") -> Any:
    """Refused: there is no generator."""
    _refused("get_rng_state")


def set_rng_state(new_state: Any, device: Any = "mps") -> None:
    """Refused: there is no generator."""
    _refused("set_rng_state")


def synchronize() -> None:
    """Refused: there is no device to wait for."""
    _refused("synchronize")


def empty_cache() -> None:
    """Refused: there is no memory."""
    _refused("empty_cache")


def set_per_process_memory_fraction(fraction: float) -> None:
    """Refused: there is no memory."""
    _refused("set_per_process_memory_fraction")


def current_allocated_memory() -> int:
    """Refused: there is no memory."""
    _refused("current_allocated_memory")


def driver_allocated_memory() -> int:
    """Refused: there is no memory."""
    _refused("driver_allocated_memory")


def recommended_max_memory() -> int:
    """Refused: there is no memory."""
    _refused("recommended_max_memory")


__getattr__ = refuse_unknown_names(__name__)
