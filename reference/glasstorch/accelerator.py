"""How does a program use whichever accelerator there is, without naming it?

Here that is CUDA, where a GPU is found or a simulated one was asked for, and nothing elsewhere.

Mirrors: torch/accelerator/__init__.py, torch/accelerator/memory.py
Differs: CUDA is the only kind; `get_device_capability` lists the dtypes that kernels compute in.
"""

from __future__ import annotations

import warnings as _warnings
from collections import OrderedDict
from types import TracebackType
from typing import Any

from glasstorch import cuda as _cuda
from glasstorch.core.device import device as _Device
from glasstorch.core.dtype import DTYPES as _DTYPES
from glasstorch.core.dtype import STORED_ONLY as _STORED_ONLY
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "device_index",
    "empty_cache",
    "empty_host_cache",
    "get_device_capability",
    "get_memory_info",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]

_On = _Device | str | int | None


def is_available() -> bool:
    """Whether there is an accelerator."""
    return _cuda.is_available()


def device_count() -> int:
    """How many accelerators there are."""
    return _cuda.device_count()


def current_accelerator(check_available: bool = False) -> _Device | None:
    """The accelerator's kind as a device without an index; None where there is none."""
    return _Device("cuda") if is_available() else None


def _require() -> None:
    if not is_available():
        raise RuntimeError("Cannot access accelerator device when none is available.")


def _index(device: _On, optional: bool = True) -> int:
    """The index of a device, by default the current one; a device of another kind is refused."""
    _require()
    if device is None and optional:
        return _cuda.current_device()
    if isinstance(device, int):
        return device
    on = _Device(device)  # type: ignore[arg-type]
    if on.type != "cuda":
        raise ValueError(f"{on.type} doesn't match the current accelerator cuda.")
    return _cuda.current_device() if on.index is None else on.index


def current_device_index() -> int:
    """The index of the current device."""
    return _index(None)


def set_device_index(device: _On, /) -> None:
    """Make a device the current one."""
    _cuda.set_device(_index(device, optional=False))


def current_device_idx() -> int:
    """Deprecated: `current_device_index`."""
    _warnings.warn("Use `current_device_index` instead.", FutureWarning, stacklevel=2)
    return current_device_index()


def set_device_idx(device: _On, /) -> None:
    """Deprecated: `set_device_index`."""
    _warnings.warn("Use `set_device_index` instead.", FutureWarning, stacklevel=2)
    set_device_index(device)


class device_index:
    """`with device_index(1):` makes that device current inside the block; None or a negative index changes nothing."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device
        self.prev_idx = -1

    def __enter__(self) -> None:
        if self.idx is not None and self.idx >= 0:
            self.prev_idx = _index(None)
            set_device_index(self.idx)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.prev_idx >= 0:
            set_device_index(self.prev_idx)
            self.prev_idx = -1


def get_device_capability(device: _On = None, /) -> dict[str, Any]:
    """What a device can do: its `supported_dtypes`."""
    _index(device)
    return {"supported_dtypes": set(_DTYPES) - _STORED_ONLY}


def current_stream(device: _On = None, /) -> _cuda.Stream:
    """The stream that work on a device is queued on."""
    return _cuda.current_stream(_index(device))


def set_stream(stream: _cuda.Stream) -> None:
    """Queue work on this stream from now on, and make its device the current one."""
    _require()
    _cuda.set_device(stream.device)
    _cuda.set_stream(stream)


def synchronize(device: _On = None, /) -> None:
    """Wait until a device has done all work that was queued."""
    _cuda.synchronize(_index(device))


def empty_cache() -> None:
    """Return cached memory that no tensor uses."""
    _require()
    _cuda.empty_cache()


def empty_host_cache() -> None:
    """Return cached pinned memory; none is cached here."""
    _require()


def memory_stats(device_index: _On = None, /) -> OrderedDict[str, Any]:
    """The statistics of a device's allocator under flat names, such as `allocated_bytes.all.peak`."""
    return OrderedDict(_cuda.memory_stats(_index(device_index)))


def memory_allocated(device_index: _On = None, /) -> int:
    """The bytes that tensors on a device occupy."""
    return _cuda.memory_allocated(_index(device_index))


def max_memory_allocated(device_index: _On = None, /) -> int:
    """The most bytes that tensors on a device have occupied."""
    return _cuda.max_memory_allocated(_index(device_index))


def memory_reserved(device_index: _On = None, /) -> int:
    """The bytes that a device's allocator holds."""
    return _cuda.memory_reserved(_index(device_index))


def max_memory_reserved(device_index: _On = None, /) -> int:
    """The most bytes that a device's allocator has held."""
    return _cuda.max_memory_reserved(_index(device_index))


def reset_accumulated_memory_stats(device_index: _On = None, /) -> None:
    """Count allocations from zero again."""
    _cuda.reset_accumulated_memory_stats(_index(device_index))


def reset_peak_memory_stats(device_index: _On = None, /) -> None:
    """Let the peaks begin again with what is allocated now."""
    _cuda.reset_peak_memory_stats(_index(device_index))


def get_memory_info(device_index: _On = None, /) -> tuple[int, int]:
    """The free and the total memory of a device in bytes."""
    return _cuda.mem_get_info(_index(device_index))


__getattr__ = _refuse_unknown_names(__name__)
