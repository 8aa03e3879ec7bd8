"""How does a program use CUDA devices?

Reading order: `streams`, `memory`, `random`, `_queries`, `_utils` (user-written kernels), `nvtx`, `amp/`.

Mirrors: torch/cuda/__init__.py
Differs: `use_simulator` runs CUDA code on the CPU, and only on request.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import Any as _Any

from glasstorch.core.errors import AcceleratorError as AcceleratorError
from glasstorch.core.errors import OutOfMemoryError as OutOfMemoryError
from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.cuda import amp as amp
from glasstorch.cuda import memory as memory
from glasstorch.cuda import random as random
from glasstorch.cuda import streams as streams
from glasstorch.cuda._queries import device_memory_used as device_memory_used
from glasstorch.cuda._queries import get_allocator_backend as get_allocator_backend
from glasstorch.cuda._queries import get_arch_list as get_arch_list
from glasstorch.cuda._queries import get_gencode_flags as get_gencode_flags
from glasstorch.cuda._queries import get_sync_debug_mode as get_sync_debug_mode
from glasstorch.cuda._queries import host_memory_stats as host_memory_stats
from glasstorch.cuda._queries import ipc_collect as ipc_collect
from glasstorch.cuda._queries import is_bf16_supported as is_bf16_supported
from glasstorch.cuda._queries import is_current_stream_capturing as is_current_stream_capturing
from glasstorch.cuda._queries import is_tf32_supported as is_tf32_supported
from glasstorch.cuda._queries import max_memory_cached as max_memory_cached
from glasstorch.cuda._queries import memory_cached as memory_cached
from glasstorch.cuda._queries import memory_usage as memory_usage
from glasstorch.cuda._queries import reset_max_memory_allocated as reset_max_memory_allocated
from glasstorch.cuda._queries import reset_max_memory_cached as reset_max_memory_cached
from glasstorch.cuda._queries import set_sync_debug_mode as set_sync_debug_mode
from glasstorch.cuda._utils import _compile_kernel as _compile_kernel
from glasstorch.cuda._utils import _CudaKernel as _CudaKernel
from glasstorch.cuda.memory import empty_cache as empty_cache
from glasstorch.cuda.memory import get_per_process_memory_fraction as get_per_process_memory_fraction
from glasstorch.cuda.memory import max_memory_allocated as max_memory_allocated
from glasstorch.cuda.memory import max_memory_reserved as max_memory_reserved
from glasstorch.cuda.memory import mem_get_info as mem_get_info
from glasstorch.cuda.memory import memory_allocated as memory_allocated
from glasstorch.cuda.memory import memory_reserved as memory_reserved
from glasstorch.cuda.memory import memory_snapshot as memory_snapshot
from glasstorch.cuda.memory import memory_stats as memory_stats
from glasstorch.cuda.memory import memory_stats_as_nested_dict as memory_stats_as_nested_dict
from glasstorch.cuda.memory import memory_summary as memory_summary
from glasstorch.cuda.memory import reset_accumulated_memory_stats as reset_accumulated_memory_stats
from glasstorch.cuda.memory import reset_peak_memory_stats as reset_peak_memory_stats
from glasstorch.cuda.memory import set_per_process_memory_fraction as set_per_process_memory_fraction
from glasstorch.cuda.random import default_generators as default_generators
from glasstorch.cuda.random import get_rng_state as get_rng_state
from glasstorch.cuda.random import get_rng_state_all as get_rng_state_all
from glasstorch.cuda.random import initial_seed as initial_seed
from glasstorch.cuda.random import manual_seed as manual_seed
from glasstorch.cuda.random import manual_seed_all as manual_seed_all
from glasstorch.cuda.random import seed as seed
from glasstorch.cuda.random import seed_all as seed_all
from glasstorch.cuda.random import set_rng_state as set_rng_state
from glasstorch.cuda.random import set_rng_state_all as set_rng_state_all
from glasstorch.devices import runtime as _runtime
from glasstorch.devices.driver import Properties
from glasstorch.devices.runtime import current_device as current_device
from glasstorch.devices.runtime import device_count as device_count
from glasstorch.devices.runtime import is_available as is_available
from glasstorch.devices.runtime import is_initialized as is_initialized
from glasstorch.devices.runtime import lazy_init as init
from glasstorch.devices.runtime import use_simulator as use_simulator
from glasstorch.devices.stream import Event as Event
from glasstorch.devices.stream import OnDevice
from glasstorch.devices.stream import Stream as Stream
from glasstorch.devices.stream import StreamContext as StreamContext
from glasstorch.devices.stream import current_stream as current_stream
from glasstorch.devices.stream import default_stream as default_stream
from glasstorch.devices.stream import device as device
from glasstorch.devices.stream import device_of as device_of
from glasstorch.devices.stream import set_stream as set_stream
from glasstorch.devices.stream import stream as stream
from glasstorch.devices.stream import synchronize as synchronize
from glasstorch.python_forms.cuda_tensor_types import BFloat16Tensor as BFloat16Tensor
from glasstorch.python_forms.cuda_tensor_types import BoolTensor as BoolTensor
from glasstorch.python_forms.cuda_tensor_types import ByteTensor as ByteTensor
from glasstorch.python_forms.cuda_tensor_types import CharTensor as CharTensor
from glasstorch.python_forms.cuda_tensor_types import DoubleTensor as DoubleTensor
from glasstorch.python_forms.cuda_tensor_types import FloatTensor as FloatTensor
from glasstorch.python_forms.cuda_tensor_types import HalfTensor as HalfTensor
from glasstorch.python_forms.cuda_tensor_types import IntTensor as IntTensor
from glasstorch.python_forms.cuda_tensor_types import LongTensor as LongTensor
from glasstorch.python_forms.cuda_tensor_types import ShortTensor as ShortTensor

_lazy_init = init  # its name before `init` was public

_refuse = _refuse_unknown_names(__name__)


def __getattr__(name: str) -> _Any:
    return _import_module(f"glasstorch.cuda.{name}") if name == "nvtx" else _refuse(name)


__all__ = [
    "AcceleratorError",
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "Event",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "OutOfMemoryError",
    "ShortTensor",
    "Stream",
    "StreamContext",
    "can_device_access_peer",
    "current_device",
    "current_stream",
    "default_generators",
    "default_stream",
    "device",
    "device_count",
    "device_memory_used",
    "device_of",
    "empty_cache",
    "get_allocator_backend",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_gencode_flags",
    "get_per_process_memory_fraction",
    "get_rng_state",
    "get_rng_state_all",
    "get_sync_debug_mode",
    "host_memory_stats",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_tf32_supported",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "memory_usage",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_per_process_memory_fraction",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "set_sync_debug_mode",
    "stream",
    "synchronize",
    "use_simulator",
]


def set_device(device: OnDevice) -> None:
    """Make a device the current one of the calling thread; a negative index changes nothing."""
    if not (isinstance(device, int) and device < 0):
        _runtime.set_device(_runtime.device_index(device))


def get_device_properties(device: OnDevice = None) -> Properties:
    """A device's name, memory, compute capability and launch limits."""
    return _runtime.driver().properties(_runtime.device_index(device))


def get_device_name(device: OnDevice = None) -> str:
    """The name of a device; a simulated one is named as such."""
    return get_device_properties(device).name


def get_device_capability(device: OnDevice = None) -> tuple[int, int]:
    """The compute capability of a device: (major, minor)."""
    properties = get_device_properties(device)
    return properties.major, properties.minor


def can_device_access_peer(device: OnDevice, peer_device: OnDevice) -> bool:
    """Whether kernels of one device can access the memory of another: true of any two different devices."""
    return _runtime.device_index(device) != _runtime.device_index(peer_device)
