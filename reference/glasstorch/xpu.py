"""Which questions does a program put to Intel's GPU before it goes on without?

Mirrors: torch/xpu/__init__.py
Differs: this library has no such device, so a question whether there is one is answered, and anything else refused.
"""

from __future__ import annotations

from typing import Any, NoReturn

from glasstorch.core.errors import DeviceError
from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = [
    "current_device",
    "current_stream",
    "device_count",
    "empty_cache",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "memory_allocated",
    "reset_peak_memory_stats",
    "set_device",
    "synchronize",
]


def is_available() -> bool:
    """Whether there is a device "xpu": no."""
    return False


def is_initialized() -> bool:
    """Whether the device is in use: no."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the device computes in bfloat16: there is none."""
    return False


def device_count() -> int:
    """How many devices there are: none."""
    return 0


def _refused(asked: str) -> NoReturn:
    raise DeviceError(f"torch.xpu.{asked}: there is no XPU device; torch.xpu.is_available() is False")


def manual_seed(seed: int) -> None:
    """Seed the device's generator once there is a device; there is none."""


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all devices, of which there are none."""


def empty_cache() -> None:
    """Return cached memory; there is none."""


def memory_allocated(device: Any = None) -> int:
    """The bytes that tensors on the device occupy: none."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """The most bytes that tensors on the device have occupied: none."""
    return 0


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let the peaks begin again; there are none."""


def current_device() -> int:
    """Refused: there is no device."""
    _refused("current_device")


def set_device(device: Any) -> None:
    """Refused: there is no device."""
    _refused("set_device")


def synchronize(device: Any = None) -> None:
    """Refused: there is no device to wait for."""
    _refused("synchronize")


def current_stream(device: Any = None) -> Any:
    """Refused: there is no device."""
    _refused("current_stream")


def get_device_name(device: Any = None) -> str:
    """Refused: there is no device."""
    _refused("get_device_name")


def get_device_properties(device: Any = None) -> Any:
    """Refused: there is no device."""
    _refused("get_device_properties")


__getattr__ = refuse_unknown_names(__name__)
