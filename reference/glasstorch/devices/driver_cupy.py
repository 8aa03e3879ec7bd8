"""How is a real CUDA device reached?

It is reached through CuPy's thin bindings to the CUDA runtime and driver; no CuPy array is created. This is the only
file of the library that imports CuPy, and it is imported only when a GPU is used.

Mirrors: c10/cuda/CUDAFunctions.cpp, CUDAStream.cpp, torch/cuda/_utils.py (_CudaModule, _CudaKernel)
Differs: NVRTC compiles our `.cu` files at the first launch; PyTorch ships compiled kernels. A launch compares the
    number of arguments and their sizes with the compiled kernel's parameters.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from cupy_backends.cuda.api import driver, runtime

from glasstorch.devices import cublas, nvrtc
from glasstorch.devices.codes import Code, cuda_error
from glasstorch.devices.cubin import Slot, parameters
from glasstorch.devices.driver import Argument, Copy, Dim, Parameter, Properties
from glasstorch.devices.kernel_params import KernelParams

P = ParamSpec("P")
R = TypeVar("R")

SUCCESS = 0
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
STATIC_SHARED = 1  # CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES
ASK_FROM = 48 * 1024  # more shared memory than this must be requested for each kernel


def call(function: Callable[P, R], *arguments: P.args, **named: P.kwargs) -> R:
    """The result of a function of CuPy; its error is raised as ours, with the same code."""
    try:
        return function(*arguments, **named)
    except (runtime.CUDARuntimeError, driver.CUDADriverError) as error:
        raise cuda_error(error.status) from None


def done(status: int) -> bool:
    """Whether a query's status is success; any status other than success and "not ready" is an error."""
    if status not in (SUCCESS, Code.NOT_READY):
        raise cuda_error(status)
    return status == SUCCESS


class _Contexts(threading.local):
    """The devices on which the calling thread has a context, which the driver API needs."""

    def __init__(self) -> None:
        self.of_devices: set[int] = set()


_contexts = _Contexts()


def device_in_context() -> int:
    """The current device, for which the calling thread is given a context."""
    device: int = call(runtime.getDevice)
    if device not in _contexts.of_devices:
        call(runtime.setDevice, device)
        call(runtime.memGetInfo)  # the runtime creates the context at the first call that needs one
        _contexts.of_devices.add(device)
    return device


class CupyKernel:
    """A kernel of a module, on each device on which it was launched."""

    signature: tuple[Parameter, ...] | None = None  # a cubin has the sizes of the parameters, but not their types

    def __init__(self, module: CupyModule, name: str) -> None:
        self.name = name
        self._module = module
        self._functions: dict[int, _Function] = {}

    def launch(
        self, grid: Dim, block: Dim, arguments: Sequence[Argument], shared_memory: int = 0, stream: int = 0
    ) -> None:
        """Queue the kernel on a stream of the current device; `shared_memory` is the dynamic part, in bytes."""
        device = device_in_context()
        function = self._functions.get(device)
        if function is None:
            function = self._functions[device] = self._module.function(self.name, device)
        packed = KernelParams(self.name, function.slots, arguments)
        try:
            function.allow(shared_memory)
            driver.launchKernel(function.handle, *grid, *block, shared_memory, stream, packed.address, 0)
        except driver.CUDADriverError as error:
            # The driver reports a launch that is too large as "invalid value"; the runtime's message is clearer.
            code = Code.INVALID_CONFIGURATION if error.status == Code.INVALID_VALUE else error.status
            asked = f"grid {grid}, block {block}, {shared_memory} bytes of dynamic shared memory"
            raise cuda_error(code, f"at the launch of {self.name} with {asked}") from None


class _Function:
    """A kernel on one device."""

    def __init__(self, handle: int, slots: tuple[Slot, ...]) -> None:
        self.handle = handle
        self.slots = slots
        self._static: int = call(driver.funcGetAttribute, STATIC_SHARED, handle)
        self._allowed = ASK_FROM - self._static

    def allow(self, shared_memory: int) -> None:
        """Request this amount of dynamic shared memory, if it exceeds what every kernel may use."""
        if shared_memory > self._allowed:
            driver.funcSetAttribute(self.handle, MAX_DYNAMIC_SHARED, shared_memory)
            self._allowed = shared_memory


class CupyModule:
    """CUDA C++, compiled for the architecture of each device that uses it."""

    def __init__(self, source: str, file: str, expressions: Sequence[str], options: Sequence[str]) -> None:
        self._source = (source, file)
        self._expressions = tuple(expressions)
        self._options = tuple(options)
        self._compiled: dict[str, nvrtc.Compiled] = {}
        self._modules: dict[int, int] = {}  # device -> handle
        self._lock = threading.Lock()

    def kernel(self, name: str) -> CupyKernel:
        """The kernel with a name in `extern "C"`, or for one of the name expressions given to `load`.

        AcceleratorError 500 (named symbol not found) where there is none.
        """
        usage = self.compiled(architecture(device_in_context())).usage
        if name not in usage:
            details = f"{self._source[1]} has no kernel {name!r}; it has {', '.join(sorted(usage))}"
            raise cuda_error(Code.SYMBOL_NOT_FOUND, details)
        return CupyKernel(self, name)

    def compiled(self, architecture: str) -> nvrtc.Compiled:
        """The code for an architecture such as "sm_90"; compiled once."""
        with self._lock:
            found = self._compiled.get(architecture)
            if found is None:
                found = nvrtc.compiled(*self._source, architecture, self._expressions, self._options)
                self._compiled[architecture] = found
            return found

    def function(self, name: str, device: int) -> _Function:
        """The kernel on a device, which is the current one."""
        compiled = self.compiled(architecture(device))
        symbol = compiled.symbols.get(name, name)
        with self._lock:
            if device not in self._modules:
                self._modules[device] = call(driver.moduleLoadData, compiled.cubin)
            handle = call(driver.moduleGetFunction, self._modules[device], symbol)
        return _Function(handle, parameters(compiled.cubin, symbol))


def architecture(device: int) -> str:
    """The architecture of a device as compilers name it: "sm_90"."""
    found = call(runtime.getDeviceProperties, device)
    return f"sm_{found['major']}{found['minor']}"


class CupyDriver:
    """The CUDA devices of this machine."""

    name = "cupy"
    simulated = False

    def __init__(self) -> None:
        try:
            self._count: int = runtime.getDeviceCount()
        except runtime.CUDARuntimeError as error:
            if error.status not in (Code.INSUFFICIENT_DRIVER, Code.NO_DEVICE):
                raise cuda_error(error.status) from None
            self._count = 0

    # Devices

    def device_count(self) -> int:
        """The number of GPUs; 0 also if there is no CUDA driver."""
        return self._count

    def properties(self, device: int) -> Properties:
        """The properties of a device; AcceleratorError 101 if it does not exist."""
        found = call(runtime.getDeviceProperties, device)
        return Properties(
            name=found["name"].decode(),
            major=found["major"],
            minor=found["minor"],
            total_memory=found["totalGlobalMem"],
            multi_processor_count=found["multiProcessorCount"],
            warp_size=found["warpSize"],
            max_threads_per_block=found["maxThreadsPerBlock"],
            max_threads_per_multi_processor=found["maxThreadsPerMultiProcessor"],
            max_block_dim=found["maxThreadsDim"],
            max_grid_dim=found["maxGridSize"],
            shared_memory_per_block=found["sharedMemPerBlock"],
            shared_memory_per_block_optin=found["sharedMemPerBlockOptin"],
            regs_per_multiprocessor=found["regsPerMultiprocessor"],
        )

    def current_device(self) -> int:
        """The device of the calling thread."""
        device: int = call(runtime.getDevice)
        return device

    def set_device(self, device: int) -> None:
        """Make a device the current one of the calling thread."""
        call(runtime.setDevice, device)

    def synchronize(self) -> None:
        """Wait until all streams of the device are done; an earlier launch's error is raised here at the latest."""
        call(runtime.deviceSynchronize)

    # Memory

    def malloc(self, nbytes: int) -> int:
        """The address of fresh, uninitialised device memory, a multiple of 256."""
        address: int = call(runtime.malloc, nbytes)
        return address

    def free(self, address: int) -> None:
        """Wait for the device, and free memory from `malloc`."""
        call(runtime.free, address)

    def memory_info(self) -> tuple[int, int]:
        """Free and total bytes."""
        free, total = call(runtime.memGetInfo)
        return free, total

    def host_alloc(self, nbytes: int) -> int:
        """The address of pinned host memory, the same for all devices."""
        address: int = call(runtime.hostAlloc, nbytes, runtime.hostAllocPortable)
        return address

    def host_free(self, address: int) -> None:
        """Free memory from `host_alloc`."""
        call(runtime.freeHost, address)

    def memcpy_async(self, target: int, source: int, nbytes: int, kind: Copy, stream: int) -> None:
        """Copy in stream order. Pageable host memory has been read, or written, when the call returns."""
        call(runtime.memcpyAsync, target, source, nbytes, kind, stream)

    def memset_async(self, target: int, value: int, nbytes: int, stream: int) -> None:
        """Set bytes in stream order."""
        call(runtime.memsetAsync, target, value, nbytes, stream)

    def block_allocated(self, address: int, nbytes: int, stream: int) -> None:
        """Do nothing: a GPU does not track who owns memory."""

    def block_freed(self, address: int) -> None:
        """Do nothing, as `block_allocated`."""

    # Streams and events

    def stream_create(self, priority: int = 0) -> int:
        """A stream that does not wait for the default stream; a lower number means a higher priority."""
        stream: int = call(runtime.streamCreateWithPriority, runtime.streamNonBlocking, priority)
        return stream

    def stream_destroy(self, stream: int) -> None:
        """Destroy the stream; work that is queued on it still runs."""
        call(runtime.streamDestroy, stream)

    def stream_query(self, stream: int) -> bool:
        """Whether all queued work is done."""
        return done(runtime.streamQuery(stream))

    def stream_synchronize(self, stream: int) -> None:
        """Wait until all queued work is done."""
        call(runtime.streamSynchronize, stream)

    def stream_wait_event(self, stream: int, event: int) -> None:
        """Make work queued from now on wait for the event's last recording so far."""
        call(runtime.streamWaitEvent, stream, event)

    def event_create(self, timing: bool) -> int:
        """A new event; only events with timing can measure time."""
        event: int = call(runtime.eventCreateWithFlags, 0 if timing else runtime.eventDisableTiming)
        return event

    def event_destroy(self, event: int) -> None:
        """Destroy the event."""
        call(runtime.eventDestroy, event)

    def event_record(self, event: int, stream: int) -> None:
        """Record the event after all work queued on the stream so far."""
        call(runtime.eventRecord, event, stream)

    def event_query(self, event: int) -> bool:
        """Whether the event's last recording has completed."""
        return done(runtime.eventQuery(event))

    def event_synchronize(self, event: int) -> None:
        """Wait until the event has completed."""
        call(runtime.eventSynchronize, event)

    def event_elapsed(self, start: int, end: int) -> float:
        """Milliseconds between two recorded events with timing."""
        milliseconds: float = call(runtime.eventElapsedTime, start, end)
        return milliseconds

    # Code

    def load(self, source: str, file: str, expressions: Sequence[str] = (), options: Sequence[str] = ()) -> CupyModule:
        """Compile CUDA C++ for the current device. `file` is its name in messages."""
        module = CupyModule(source, file, expressions, options)
        module.compiled(architecture(device_in_context()))
        return module

    # Libraries

    def has_blas(self) -> bool:
        """Whether cuBLAS is installed."""
        return cublas.library() is not None

    def gemm(self, *arguments: Any, stream: int) -> None:
        """cublasGemmStridedBatchedEx, in its order of arguments."""
        cublas.gemm(device_in_context(), stream, *arguments)
