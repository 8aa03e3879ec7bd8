"""How does a program use whichever accelerator there is, without naming it?

Here that is the device that the program has brought and named (utils/backend_registration.py), else CUDA, where a GPU
is found or a simulated one was asked for, and nothing elsewhere.

Reading order: `_device` (which device is meant), this file, `memory`.

Mirrors: torch/accelerator/__init__.py
Differs: there is no kind but these two. `memory` asks the device's module. `get_device_capability` lists the dtypes
    that CUDA's kernels compute in.
"""

from __future__ import annotations

import warnings as _warnings
from types import TracebackType
from typing import Any

from glasstorch import cuda as _cuda
from glasstorch.accelerator import memory as memory
from glasstorch.accelerator._device import On as _On
from glasstorch.accelerator._device import index_of, require
from glasstorch.accelerator._device import kind as _kind
from glasstorch.accelerator._device import module as _module
from glasstorch.accelerator._device import set_index as _set_index
from glasstorch.accelerator.memory import empty_cache as empty_cache
from glasstorch.accelerator.memory import empty_host_cache as empty_host_cache
from glasstorch.accelerator.memory import get_memory_info as get_memory_info
from glasstorch.accelerator.memory import max_memory_allocated as max_memory_allocated
from glasstorch.accelerator.memory import max_memory_reserved as max_memory_reserved
from glasstorch.accelerator.memory import memory_allocated as memory_allocated
from glasstorch.accelerator.memory import memory_reserved as memory_reserved
from glasstorch.accelerator.memory import memory_stats as memory_stats
from glasstorch.accelerator.memory import reset_accumulated_memory_stats as reset_accumulated_memory_stats
from glasstorch.accelerator.memory import reset_peak_memory_stats as reset_peak_memory_stats
from glasstorch.core import private_use as _private_use
from glasstorch.core.device import device as _Device
from glasstorch.core.device import device_from as _device_from
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


def is_available() -> bool:
    """Whether there is an accelerator."""
    return bool(_module().is_available())


def device_count() -> int:
    """How many accelerators there are."""
    return int(_module().device_count())


def current_accelerator(check_available: bool = False) -> _Device | None:
    """The accelerator's kind as a device without an index; None where there is none."""
    if _private_use.is_accelerator():
        return _device_from(_kind()) if not check_available or is_available() else None
    return _device_from("cuda") if is_available() else None


def current_device_index() -> int:
    """The index of the current device."""
    return index_of(None)


def set_device_index(device: _On, /) -> None:
    """Make a device the current one."""
    _set_index(index_of(device, optional=False))


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
            self.prev_idx = index_of(None)
            set_device_index(self.idx)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.prev_idx >= 0:
            set_device_index(self.prev_idx)
            self.prev_idx = -1


def get_device_capability(device: _On = None, /) -> dict[str, Any]:
    """What a device can do: its `supported_dtypes`."""
    index_of(device)
    return {"supported_dtypes": set(_DTYPES) - _STORED_ONLY}


def current_stream(device: _On = None, /) -> _cuda.Stream:
    """The stream that work on a device is queued on."""
    index = index_of(device)
    if _private_use.is_accelerator():
        return _private_use.current_guard().get_stream(_device_from(_kind(), index))  # type: ignore[no-any-return]
    return _cuda.current_stream(index)


def set_stream(stream: _cuda.Stream) -> None:
    """Queue work on this stream from now on, and make its device the current one."""
    require()
    if _private_use.is_accelerator():
        _private_use.current_guard().exchange_stream(stream)
        return
    _cuda.set_device(stream.device)
    _cuda.set_stream(stream)


def synchronize(device: _On = None, /) -> None:
    """Wait until a device has done all work that was queued."""
    index = index_of(device)
    if _private_use.is_accelerator():
        _private_use.current_guard().synchronize_device(index)
    else:
        _cuda.synchronize(index)


__getattr__ = _refuse_unknown_names(__name__)
