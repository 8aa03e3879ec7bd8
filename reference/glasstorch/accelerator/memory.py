"""How much memory does the accelerator have, and how much of it is in use?

Mirrors: torch/accelerator/memory.py
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from glasstorch.accelerator._device import On, index_of, module, require
from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = [
    "empty_cache",
    "empty_host_cache",
    "get_memory_info",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
]


def empty_cache() -> None:
    """Return cached memory that no tensor uses."""
    require()
    module().empty_cache()


def empty_host_cache() -> None:
    """Return cached pinned memory; none is cached here."""
    require()


def memory_stats(device_index: On = None, /) -> OrderedDict[str, Any]:
    """The statistics of a device's allocator under flat names, such as `allocated_bytes.all.peak`."""
    return OrderedDict(module().memory_stats(index_of(device_index)))


def memory_allocated(device_index: On = None, /) -> int:
    """The bytes that tensors on a device occupy."""
    return int(module().memory_allocated(index_of(device_index)))


def max_memory_allocated(device_index: On = None, /) -> int:
    """The most bytes that tensors on a device have occupied."""
    return int(module().max_memory_allocated(index_of(device_index)))


def memory_reserved(device_index: On = None, /) -> int:
    """The bytes that a device's allocator holds."""
    return int(module().memory_reserved(index_of(device_index)))


def max_memory_reserved(device_index: On = None, /) -> int:
    """The most bytes that a device's allocator has held."""
    return int(module().max_memory_reserved(index_of(device_index)))


def reset_accumulated_memory_stats(device_index: On = None, /) -> None:
    """Count allocations from zero again."""
    module().reset_accumulated_memory_stats(index_of(device_index))


def reset_peak_memory_stats(device_index: On = None, /) -> None:
    """Let the peaks begin again with what is allocated now."""
    module().reset_peak_memory_stats(index_of(device_index))


def get_memory_info(device_index: On = None, /) -> tuple[int, int]:
    """The free and the total memory of a device in bytes."""
    free, total = module().mem_get_info(index_of(device_index))
    return free, total


__getattr__ = refuse_unknown_names(__name__)
