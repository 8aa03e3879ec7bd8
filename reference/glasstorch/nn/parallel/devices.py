"""Which device does an index, a device or nothing mean?

Mirrors: torch/_utils.py (_get_device_index, _get_available_device_type)
"""

from __future__ import annotations

from typing import Any

from glasstorch.core.device import device as Device
from glasstorch.devices import runtime


def available_device_type() -> str | None:
    """The type of the devices that a module can be spread over; None where there is no device."""
    return "cuda" if runtime.is_available() else None


def index_of(device: Any, optional: bool = False, allow_cpu: bool = False) -> Any:
    """The index of a device; -1 for the CPU, if that is allowed; the current device for None, if that is."""
    if isinstance(device, str):
        device = Device(device)
    index = device if isinstance(device, int) else None
    if isinstance(device, Device):
        if device.type == "cpu" and not allow_cpu:
            raise ValueError(f"Expected a non cpu device, but got: {device}")
        index = -1 if device.type == "cpu" else device.index
    if index is not None:
        return index
    if not optional:
        raise ValueError(f"Expected a torch.device with a specified index or an integer, but got:{device}")
    return runtime.current_device() if runtime.is_available() else None


def device_at(index: Any) -> Device:
    """The device of an index; the CPU for -1."""
    return Device("cpu") if index == -1 else Device("cuda", index)
