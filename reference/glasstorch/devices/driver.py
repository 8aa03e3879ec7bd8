"""What is the interface of a CUDA driver?

Two drivers implement this protocol: `driver_cupy` (a GPU) and `driver_sim` (CUDA C++ run on the CPU). The caching
allocator, streams, events and kernels are written once, on top of it.

Mirrors: the CUDA runtime and driver APIs as c10/cuda/CUDAFunctions.h and aten/src/ATen/cuda/CUDABlas.h use them
Differs: memory, streams and events are plain integers. A call that fails raises AcceleratorError with CUDA's code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

import numpy as np

Dim = tuple[int, int, int]  # x, y, z
# A kernel's argument: an address is a Python int, a number or a structure is a NumPy scalar of exactly its type.
Argument = int | np.generic


class Copy(IntEnum):
    """The direction of a copy, numbered as cudaMemcpyKind."""

    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    DEVICE_TO_DEVICE = 3


@dataclass(frozen=True, slots=True)
class Properties:
    """The properties of a device and its launch limits, named as in cudaDeviceProp. Sizes are in bytes."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int
    warp_size: int = 32
    max_threads_per_block: int = 1024
    max_threads_per_multi_processor: int = 2048
    max_block_dim: Dim = (1024, 1024, 64)
    max_grid_dim: Dim = (2**31 - 1, 65535, 65535)
    shared_memory_per_block: int = 48 * 1024
    shared_memory_per_block_optin: int = 227 * 1024
    regs_per_multiprocessor: int = 65536


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a kernel: a pointer to elements, or a value of `size` bytes.

    `kind` is NumPy's letter of the element or value (f, i, u, b), V for a structure or an unknown pointee.
    """

    pointer: bool
    constant: bool  # a pointer that the kernel does not write through
    kind: str
    size: int

    def __str__(self) -> str:
        element = {"f": "float", "i": "int", "u": "uint", "b": "bool"}.get(self.kind, "struct")
        name = f"{element}{self.size * 8}" if self.kind != "V" else f"{self.size} bytes"
        return f"{'const ' * self.constant}{name}*" if self.pointer else name


class Kernel(Protocol):
    """A compiled `__global__` function."""

    @property
    def name(self) -> str: ...
    @property
    def signature(self) -> tuple[Parameter, ...] | None:
        """The parameters; None if the driver does not know them."""

    def launch(
        self, grid: Dim, block: Dim, arguments: Sequence[Argument], shared_memory: int = 0, stream: int = 0
    ) -> None:
        """Queue the kernel on a stream of the current device; `shared_memory` is the dynamic part, in bytes."""


class Module(Protocol):
    """Compiled CUDA C++."""

    def kernel(self, name: str) -> Kernel:
        """The kernel with a name in `extern "C"`, or for one of the name expressions given to `load`."""


class Driver(Protocol):
    """Access to CUDA devices. Calls apply to the current device of the calling thread unless they take a device."""

    name: str  # "cupy" or "simulator"
    simulated: bool

    # Devices
    def device_count(self) -> int: ...
    def properties(self, device: int) -> Properties: ...
    def current_device(self) -> int: ...
    def set_device(self, device: int) -> None: ...
    def synchronize(self) -> None:
        """Wait until all streams of the device are done; an earlier launch's error is raised here at the latest."""

    # Memory
    def malloc(self, nbytes: int) -> int:
        """The address of fresh, uninitialised device memory, a multiple of 256."""

    def free(self, address: int) -> None:
        """Wait for the device, and free memory from `malloc`."""

    def memory_info(self) -> tuple[int, int]:
        """Free and total bytes."""

    def host_alloc(self, nbytes: int) -> int:
        """The address of pinned host memory, to and from which copies are asynchronous."""

    def host_free(self, address: int) -> None: ...
    def memcpy_async(self, target: int, source: int, nbytes: int, kind: Copy, stream: int) -> None:
        """Copy in stream order. Pageable host memory has been read, or written, when the call returns."""

    def memset_async(self, target: int, value: int, nbytes: int, stream: int) -> None:
        """Set bytes in stream order."""

    def block_allocated(self, address: int, nbytes: int, stream: int) -> None:
        """Called by the caching allocator for every block that it hands out; the checks depend on it."""

    def block_freed(self, address: int) -> None:
        """Called by the caching allocator when a block is freed."""

    # Streams and events. Stream 0 is the default stream; no stream waits for another unless an event says so.
    def stream_create(self, priority: int = 0) -> int: ...
    def stream_destroy(self, stream: int) -> None: ...
    def stream_query(self, stream: int) -> bool:
        """Whether all queued work is done."""

    def stream_synchronize(self, stream: int) -> None: ...
    def stream_wait_event(self, stream: int, event: int) -> None: ...
    def event_create(self, timing: bool) -> int: ...
    def event_destroy(self, event: int) -> None: ...
    def event_record(self, event: int, stream: int) -> None: ...
    def event_query(self, event: int) -> bool: ...
    def event_synchronize(self, event: int) -> None: ...
    def event_elapsed(self, start: int, end: int) -> float:
        """Milliseconds between two recorded events with timing."""

    # Code
    def load(self, source: str, file: str, expressions: Sequence[str] = (), options: Sequence[str] = ()) -> Module:
        """Compile CUDA C++ (cached). `file` is its name in messages; `expressions` instantiate templates."""

    # Libraries
    def has_blas(self) -> bool:
        """Whether `gemm` is available: cuBLAS on a GPU; the simulator has none."""

    def gemm(self, *arguments: Any, stream: int) -> None:
        """cublasGemmStridedBatchedEx, in its order of arguments."""
