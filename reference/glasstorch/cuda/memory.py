"""What can a program find out about the memory of CUDA devices?

Mirrors: torch/cuda/memory.py
Differs: no memory history and its plots, no memory pools, no custom allocators; `oversize_*` is not counted.

A device is an index, a string such as "cuda:1", a `glasstorch.device`, or None for the current one.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from glasstorch.core.device import device
from glasstorch.core.errors import ArgumentTypeError, ArgumentValueError
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.devices import runtime
from glasstorch.devices.allocator import DeviceCachingAllocator, caching_allocator
from glasstorch.devices.snapshot import SegmentInfo, snapshot
from glasstorch.devices.statistics import summary

__all__ = [
    "empty_cache",
    "get_per_process_memory_fraction",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
]

Device = device | str | int | None


def _allocator(on: Device) -> DeviceCachingAllocator:
    return caching_allocator().devices[runtime.device_index(on)]


def empty_cache() -> None:
    """Return the cached memory that no tensor uses to the driver, on all devices."""
    if runtime.is_initialized():
        for allocator in caching_allocator().devices:
            allocator.empty_cache()


def memory_stats_as_nested_dict(device: Device = None) -> dict[str, Any]:
    """The statistics of a device's allocator; empty if CUDA has not been used."""
    return _allocator(device).counts() if runtime.is_initialized() else {}


def memory_stats(device: Device = None) -> dict[str, int]:
    """The statistics of a device's allocator under flat names, such as `allocated_bytes.all.peak`."""
    return OrderedDict(sorted(_flat(memory_stats_as_nested_dict(device))))


def _flat(counts: dict[str, Any], prefix: str = "") -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    for name, value in counts.items():
        found += _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else [(prefix + name, value)]
    return found


def memory_allocated(device: Device = None) -> int:
    """The number of bytes in blocks that are in use by tensors."""
    return memory_stats(device).get("allocated_bytes.all.current", 0)


def max_memory_allocated(device: Device = None) -> int:
    """The peak of `memory_allocated`, since the start or `reset_peak_memory_stats`."""
    return memory_stats(device).get("allocated_bytes.all.peak", 0)


def memory_reserved(device: Device = None) -> int:
    """The number of bytes that the allocator has from the driver, in use or cached."""
    return memory_stats(device).get("reserved_bytes.all.current", 0)


def max_memory_reserved(device: Device = None) -> int:
    """The peak of `memory_reserved`, since the start or `reset_peak_memory_stats`."""
    return memory_stats(device).get("reserved_bytes.all.peak", 0)


def reset_peak_memory_stats(device: Device = None) -> None:
    """Reset every peak to the current value."""
    _allocator(device).statistics.reset_peak()


def reset_accumulated_memory_stats(device: Device = None) -> None:
    """Reset the accumulated statistics to 0: all that was allocated and freed, and the counts of events."""
    _allocator(device).statistics.reset_accumulated()


def memory_summary(device: Device = None, abbreviated: bool = False) -> str:
    """The statistics as a table; `abbreviated` leaves out the two pools."""
    allocator = _allocator(device)
    name = allocator.driver.properties(allocator.device).name
    title = f"glasstorch CUDA memory summary, device ID {allocator.device}: {name}"
    return summary(allocator.statistics, title, abbreviated)


def memory_snapshot() -> list[SegmentInfo]:
    """The segments of all devices, each with its blocks."""
    return snapshot(caching_allocator())


def mem_get_info(device: Device = None) -> tuple[int, int]:
    """The free and total bytes of a device, according to its driver."""
    return _allocator(device).memory_info()


def set_per_process_memory_fraction(fraction: float, device: Device = None) -> None:
    """Limit the allocator to a fraction of a device's memory, from 0.0 to 1.0."""
    allocator = _allocator(device)
    if not isinstance(fraction, float):
        raise ArgumentTypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ArgumentValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    allocator.set_fraction(fraction)


def get_per_process_memory_fraction(device: Device = None) -> float:
    """The fraction of a device's memory that the allocator may reserve; 1.0 unless it is set."""
    return _allocator(device).fraction


__getattr__ = _refuse_unknown_names(__name__)
