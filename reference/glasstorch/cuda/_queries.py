"""What else does a program ask about CUDA, mostly before it goes on without?

Mirrors: torch/cuda/__init__.py, torch/cuda/memory.py
Differs: kernels are compiled on the device's own computer, so none come with the library; there is one allocator. What
    NVIDIA's management library answers (`utilization` and its like) is not here.
"""

from __future__ import annotations

import gc
import warnings
from typing import Any, Final

from glasstorch.core.errors import ArgumentTypeError, ArgumentValueError
from glasstorch.cuda import memory
from glasstorch.devices import runtime
from glasstorch.devices.stream import OnDevice

SYNC_DEBUG_MODES: Final = ("default", "warn", "error")  # by number


class _SyncDebugMode:
    mode = 0


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether kernels compute in bfloat16: wherever there is a device, which rounds the results of float32."""
    return including_emulation and runtime.is_available()


def is_tf32_supported() -> bool:
    """Whether products of float32 may be computed in TF32: no, they never are."""
    return False


def get_arch_list() -> list[str]:
    """The architectures that kernels were compiled for when the library was built: none were."""
    return []


def get_gencode_flags() -> str:
    """The compiler's options for those architectures."""
    return ""


def is_current_stream_capturing() -> bool:
    """Whether the current stream records a graph: no, there are no CUDA graphs."""
    return False


def get_sync_debug_mode() -> int:
    """What was set: 0, 1 or 2, as `set_sync_debug_mode` counts."""
    runtime.lazy_init()
    return _SyncDebugMode.mode


def set_sync_debug_mode(debug_mode: int | str) -> None:
    """Set what waiting for a device does besides: "default" or 0, "warn" or 1, "error" or 2; it has no effect."""
    runtime.lazy_init()
    if not isinstance(debug_mode, int | str):
        raise ArgumentTypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    modes = (*SYNC_DEBUG_MODES, *range(len(SYNC_DEBUG_MODES)))
    if debug_mode not in modes:
        raise ArgumentValueError(
            f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}"
        )
    _SyncDebugMode.mode = modes.index(debug_mode) % len(SYNC_DEBUG_MODES)


def ipc_collect() -> None:
    """Free memory that other processes no longer use: memory of devices is not shared with them, so it is collected."""
    runtime.lazy_init()
    gc.collect()


def get_allocator_backend() -> str:
    """The allocator of device memory: "native"."""
    return "native"


def memory_usage(device: OnDevice = None) -> int:
    """The part of a device's memory that is in use, by any process, in percent."""
    free, total = memory.mem_get_info(device)
    return round(100 * (total - free) / total)


def device_memory_used(device: OnDevice = None) -> int:
    """The bytes of a device's memory that are in use, by any process."""
    free, total = memory.mem_get_info(device)
    return total - free


def host_memory_stats() -> dict[str, Any]:
    """The statistics of the allocator of pinned memory; empty, because it keeps none."""
    return {}


def memory_cached(device: OnDevice = None) -> int:
    """Deprecated: `memory_reserved`."""
    _deprecated("memory_cached", "memory_reserved")
    return memory.memory_reserved(device)


def max_memory_cached(device: OnDevice = None) -> int:
    """Deprecated: `max_memory_reserved`."""
    _deprecated("max_memory_cached", "max_memory_reserved")
    return memory.max_memory_reserved(device)


def reset_max_memory_allocated(device: OnDevice = None) -> None:
    """Deprecated: `reset_peak_memory_stats`."""
    _deprecated("reset_max_memory_allocated", "reset_peak_memory_stats")
    memory.reset_peak_memory_stats(device)


def reset_max_memory_cached(device: OnDevice = None) -> None:
    """Deprecated: `reset_peak_memory_stats`."""
    _deprecated("reset_max_memory_cached", "reset_peak_memory_stats")
    memory.reset_peak_memory_stats(device)


def _deprecated(old: str, new: str) -> None:
    warnings.warn(f"torch.cuda.{old} is deprecated; call torch.cuda.{new}", FutureWarning, stacklevel=3)
