"""How does a computer without a GPU act as several CUDA devices?

Mirrors: the CUDA runtime and driver APIs; torch/cuda/_sanitizer.py for the order of streams
Differs: kernels are compiled by g++ and run on the CPU (`sim`), later than queued and in an unfriendly order
    (`stream_queues`). Every name that it shows says "simulated".

What a card does and this one does too: a failed kernel shows at a later call, and after it the device answers every
call with the same error; a copy from pageable memory has read it when the call returns; one from pinned memory has not.
"""

from __future__ import annotations

import ctypes
import os
import threading
from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core.errors import AcceleratorError, ArgumentValueError, DeviceError
from glasstorch.kernels.cuda.codes import Code, cuda_error
from glasstorch.kernels.cuda.driver import Argument, Copy, Dim, Properties
from glasstorch.kernels.cuda.guarded_memory import GuardedMemory
from glasstorch.kernels.cuda.stream_queues import ORDERS, Mark, Scheduler, StreamQueue

if TYPE_CHECKING:
    from glasstorch.kernels.cuda.sim.module import SimKernel, SimModule

GRANULE = 512  # bytes; an allocation takes a multiple of it from the device's memory


class LoadedKernel:
    """A kernel of a simulated device."""

    __slots__ = ("_driver", "_kernel", "name", "signature")

    def __init__(self, driver: SimDriver, kernel: SimKernel, name: str) -> None:
        self._driver = driver
        self._kernel = kernel
        self.name = name
        self.signature = kernel.signature

    def launch(
        self, grid: Dim, block: Dim, arguments: Sequence[Argument], shared_memory: int = 0, stream: int = 0
    ) -> None:
        """Queue the kernel on a stream of the current device; `shared_memory` is the dynamic part, in bytes."""
        self._driver.launch(self._kernel, self.name, grid, block, arguments, shared_memory, stream)


class LoadedModule:
    """Compiled CUDA C++ of a simulated device."""

    __slots__ = ("_driver", "_module")

    def __init__(self, driver: SimDriver, module: SimModule) -> None:
        self._driver = driver
        self._module = module

    def kernel(self, name: str) -> LoadedKernel:
        """The kernel of a name."""
        return LoadedKernel(self._driver, self._module.kernel(name), name)


class _Event:
    __slots__ = ("device", "mark", "timing")

    def __init__(self, device: int, timing: bool) -> None:
        self.device = device
        self.timing = timing
        self.mark: Mark | None = None


class _Thread(threading.local):
    device = 0


class SimDriver:
    """Simulated devices with `memory` bytes each; see `runtime.use_simulator` for the arguments."""

    name = "simulator"
    simulated = True

    def __init__(
        self,
        devices: int = 1,
        memory: int = 1 << 30,
        check: bool = False,
        order: str = "forward",
        seed: int = 0,
        check_streams: bool = True,
    ) -> None:
        if devices < 1 or memory < 1:
            raise ArgumentValueError(f"use_simulator: devices={devices}, memory={memory}; both must be at least 1")
        if order not in ORDERS:
            raise ArgumentValueError(f"use_simulator: order={order!r}; expected one of {', '.join(ORDERS)}")
        self.devices = devices
        self.memory = memory
        self.check = check
        self.order = order
        self.seed = seed
        self.blocking = os.environ.get("CUDA_LAUNCH_BLOCKING") == "1"
        self._launches = 0
        self._lock = threading.RLock()  # reentrant: a collection inside a call may free memory
        self._thread = _Thread()
        self._scheduler = Scheduler(order, seed)
        self._used = [0] * devices
        self._failed: list[AcceleratorError | None] = [None] * devices
        self._segments: dict[int, tuple[GuardedMemory, int]] = {}  # of an address: the memory and its device
        self._starts: list[int] = []  # the same addresses, sorted
        self._pinned: dict[int, GuardedMemory] = {}
        self._pinned_starts: list[int] = []
        self._defaults = [StreamQueue(0, device) for device in range(devices)]
        self._scheduler.streams.extend(self._defaults)
        self._streams: dict[int, StreamQueue] = {}
        self._events: dict[int, _Event] = {}
        self._handles = 0
        self._free_later: list[int] = []

    # Devices ----------------------------------------------------------------------------------------------------

    def device_count(self) -> int:
        """How many devices there are."""
        return self.devices

    def properties(self, device: int) -> Properties:
        """What a device is."""
        return Properties(
            name="simulated CUDA device (CPU)", major=9, minor=0, total_memory=self.memory, multi_processor_count=8
        )

    def current_device(self) -> int:
        """The device of the calling thread."""
        return self._thread.device

    def set_device(self, device: int) -> None:
        """Make a device that of the calling thread."""
        if not 0 <= device < self.devices:
            raise cuda_error(Code.INVALID_DEVICE, f"device {device} of {self.devices}")
        self._thread.device = device

    def synchronize(self) -> None:
        """Run all that is queued on the current device."""
        with self._lock:
            self._finish_device(self._thread.device)
            self._check(self._thread.device)

    # Memory -----------------------------------------------------------------------------------------------------

    def malloc(self, nbytes: int) -> int:
        """Fresh device memory, filled with NaN."""
        with self._lock:
            device = self._thread.device
            self._check(device)
            if nbytes < 0:
                raise cuda_error(Code.INVALID_VALUE, f"malloc of {nbytes} bytes")
            if not nbytes:
                return 0
            taken = -(-nbytes // GRANULE) * GRANULE
            if self._used[device] + taken > self.memory:
                free = self.memory - self._used[device]
                raise cuda_error(
                    Code.MEMORY_ALLOCATION, f"malloc of {nbytes} bytes: {free} of {self.memory} bytes are free"
                )
            memory = GuardedMemory(nbytes, track=self.check)
            self._used[device] += taken
            self._segments[memory.address] = memory, device
            insort(self._starts, memory.address)
            return memory.address

    def free(self, address: int) -> None:
        """Return what `malloc` gave, once all that is queued on its device is done; 0 is nothing to return."""
        if not address:
            return
        with self._lock:
            if address not in self._segments:
                raise cuda_error(Code.INVALID_VALUE, f"free of {address:#x}, which malloc did not give")
            if self._scheduler.running:  # a collection inside a piece of work: nothing else can be run now
                self._free_later.append(address)
                return
            self._finish_device(self._segments[address][1])
            self._release(address)

    def memory_info(self) -> tuple[int, int]:
        """Free and total bytes of the current device."""
        return self.memory - self._used[self._thread.device], self.memory

    def host_alloc(self, nbytes: int) -> int:
        """Pinned host memory."""
        with self._lock:
            memory = GuardedMemory(max(nbytes, 1))
            self._pinned[memory.address] = memory
            insort(self._pinned_starts, memory.address)
            return memory.address

    def host_free(self, address: int) -> None:
        """Return pinned memory, once all that is queued is done."""
        with self._lock:
            if address not in self._pinned:
                raise cuda_error(Code.INVALID_VALUE, f"host_free of {address:#x}, which host_alloc did not give")
            for device in range(self.devices):
                self._finish_device(device)
            del self._pinned[address]
            self._pinned_starts.remove(address)

    def memcpy_async(self, target: int, source: int, nbytes: int, kind: Copy, stream: int) -> None:
        """Copy in stream order."""
        if not nbytes:
            return
        with self._lock:
            queue = self._queue(stream)
            if kind != Copy.DEVICE_TO_HOST:
                self._in_device_memory("target", target, nbytes)
            if kind != Copy.HOST_TO_DEVICE:
                self._in_device_memory("source", source, nbytes)
            staged: bytes | None = None
            if kind == Copy.HOST_TO_DEVICE and not self._is_pinned(source, nbytes):
                staged = ctypes.string_at(source, nbytes)

            def copy() -> None:
                ctypes.memmove(target, source if staged is None else staged, nbytes)

            self._add(queue, copy)
            if kind == Copy.DEVICE_TO_HOST and not self._is_pinned(target, nbytes):
                self._scheduler.finish(queue)
                self._check(queue.device)

    def memset_async(self, target: int, value: int, nbytes: int, stream: int) -> None:
        """Set bytes in stream order."""
        if not nbytes:
            return
        with self._lock:
            queue = self._queue(stream)
            self._in_device_memory("target", target, nbytes)
            self._add(queue, lambda: ctypes.memset(target, value, nbytes))

    def block_allocated(self, address: int, nbytes: int, stream: int) -> None:
        """Told of every piece of memory that is handed out."""

    def block_freed(self, address: int) -> None:
        """Told when a piece is not anybody's any more."""

    # Streams and events -----------------------------------------------------------------------------------------

    def stream_create(self, priority: int = 0) -> int:
        """A new stream of the current device; priorities change nothing here."""
        with self._lock:
            self._check(self._thread.device)
            self._handles += 1
            queue = StreamQueue(self._handles, self._thread.device)
            self._streams[self._handles] = queue
            self._scheduler.streams.append(queue)
            return self._handles

    def stream_destroy(self, stream: int) -> None:
        """Run what is queued on a stream, and forget it."""
        with self._lock:
            queue = self._queue(stream)
            if not stream:
                raise cuda_error(Code.INVALID_RESOURCE_HANDLE, "the default stream cannot be destroyed")
            self._scheduler.finish(queue)
            del self._streams[stream]
            self._scheduler.streams.remove(queue)

    def stream_query(self, stream: int) -> bool:
        """Whether all that was queued is done; asking runs one piece of it."""
        with self._lock:
            queue = self._queue(stream)
            if not queue.work:
                return True
            self._scheduler.progress(queue)
            self._check(queue.device)
            return False

    def stream_synchronize(self, stream: int) -> None:
        """Run what is queued on a stream."""
        with self._lock:
            queue = self._queue(stream)
            self._scheduler.finish(queue)
            self._check(queue.device)

    def stream_wait_event(self, stream: int, event: int) -> None:
        """Work queued from now on waits for the event's last recording so far; for nothing if it has none."""
        with self._lock:
            queue = self._queue(stream)
            mark = self._event(event).mark
            if mark is not None:
                self._add(queue, awaits=mark)

    def event_create(self, timing: bool) -> int:
        """A new event of the current device."""
        with self._lock:
            self._check(self._thread.device)
            self._handles += 1
            self._events[self._handles] = _Event(self._thread.device, timing)
            return self._handles

    def event_destroy(self, event: int) -> None:
        """Forget an event; who waits for it already, still does."""
        with self._lock:
            self._event(event)
            del self._events[event]

    def event_record(self, event: int, stream: int) -> None:
        """The event now stands for all that has been queued on the stream."""
        with self._lock:
            queue, found = self._queue(stream), self._event(event)
            if queue.device != found.device:
                raise cuda_error(
                    Code.INVALID_RESOURCE_HANDLE,
                    f"event {event} is of device {found.device}, stream {stream} of device {queue.device}",
                )
            found.mark = Mark(queue)
            self._add(queue, reaches=found.mark)

    def event_query(self, event: int) -> bool:
        """Whether what the event stands for is done; asking runs one piece of it."""
        with self._lock:
            mark = self._event(event).mark
            if mark is None or mark.done:
                return True
            self._scheduler.progress(mark.stream)
            self._check(mark.stream.device)
            return False

    def event_synchronize(self, event: int) -> None:
        """Run what the event stands for."""
        with self._lock:
            mark = self._event(event).mark
            if mark is not None:
                self._scheduler.reach(mark)
                self._check(mark.stream.device)

    def event_elapsed(self, start: int, end: int) -> float:
        """Milliseconds between two events; see Note [Simulated time]."""
        with self._lock:
            first, last = self._event(start), self._event(end)
            if not (first.timing and last.timing) or first.mark is None or last.mark is None:
                raise cuda_error(
                    Code.INVALID_RESOURCE_HANDLE, "both events must have been made with timing, and been recorded"
                )
            if not (first.mark.done and last.mark.done):
                raise cuda_error(Code.NOT_READY, "one of the events has not been reached: synchronize first")
            return last.mark.time - first.mark.time

    # Code -------------------------------------------------------------------------------------------------------

    def load(
        self, source: str, file: str, expressions: Sequence[str] = (), options: Sequence[str] = ()
    ) -> LoadedModule:
        """Compile CUDA C++ with g++ (cached)."""
        from glasstorch.kernels.cuda.sim.module import SimModule

        return LoadedModule(self, SimModule(source, file, expressions, options, self.check))

    def launch(
        self,
        kernel: SimKernel,
        name: str,
        grid: Dim,
        block: Dim,
        arguments: Sequence[Argument],
        shared_memory: int,
        stream: int,
    ) -> None:
        """Queue a kernel on a stream of the current device."""
        from glasstorch.kernels.cuda.arguments import pack
        from glasstorch.kernels.cuda.sim.errors import SimFault

        packed = pack(name, kernel.signature, arguments)
        with self._lock:
            queue = self._queue(stream)
            if queue.device != self._thread.device:
                raise cuda_error(
                    Code.INVALID_RESOURCE_HANDLE,
                    f"{name}: stream {stream} is of device {queue.device}, the current device is {self._thread.device}",
                )
            try:
                kernel.check_launch(grid, block, shared_memory)
            except SimFault as fault:
                raise cuda_error(fault.code, f"{name}: {fault.what}") from None
            self._launches += 1
            seed = self.seed + self._launches

            def run() -> None:
                try:
                    kernel.run(grid, block, packed, shared_memory, self.order, seed, None)
                except SimFault as fault:
                    self._fail(queue.device, cuda_error(fault.code, f"{name}: {fault}"))

            self._add(queue, run)
            if self.blocking:
                self._scheduler.finish(queue)
                self._check(queue.device)

    # Libraries --------------------------------------------------------------------------------------------------

    def has_blas(self) -> bool:
        """There is none."""
        return False

    def gemm(self, *arguments: Any, stream: int) -> None:
        """There is none: kernels of our own multiply matrices here."""
        raise DeviceError("the simulated device has no cuBLAS; matrices are multiplied by matmul.cu")

    # Inside -----------------------------------------------------------------------------------------------------

    def _queue(self, stream: int) -> StreamQueue:
        """The queue of a stream, if its device still works."""
        queue = self._streams.get(stream) if stream else self._defaults[self._thread.device]
        if queue is None:
            raise cuda_error(Code.INVALID_RESOURCE_HANDLE, f"there is no stream {stream}")
        self._check(queue.device)
        return queue

    def _event(self, event: int) -> _Event:
        found = self._events.get(event)
        if found is None:
            raise cuda_error(Code.INVALID_RESOURCE_HANDLE, f"there is no event {event}")
        return found

    def _add(
        self,
        queue: StreamQueue,
        run: Callable[[], object] | None = None,
        awaits: Mark | None = None,
        reaches: Mark | None = None,
    ) -> None:
        self._scheduler.add(queue, run, awaits, reaches)

    def _check(self, device: int) -> None:
        """Raise what made a kernel of the device fail before; it stays so."""
        error = self._failed[device]
        if error is not None:
            raise cuda_error(error.code, "\n".join(error.args[0].splitlines()[1:]))

    def _fail(self, device: int, error: AcceleratorError) -> None:
        self._failed[device] = error
        self._scheduler.drop(device)

    def _finish_device(self, device: int) -> None:
        for stream in self._scheduler.streams:
            if stream.device == device:
                self._scheduler.finish(stream)
        while self._free_later:
            self._release(self._free_later.pop())

    def _release(self, address: int) -> None:
        memory, device = self._segments.pop(address)
        self._starts.remove(address)
        self._used[device] -= -(-memory.nbytes // GRANULE) * GRANULE

    def _in_device_memory(self, what: str, address: int, nbytes: int) -> None:
        """Refuse a range that is not within one allocation."""
        place = bisect_right(self._starts, address) - 1
        if place >= 0:
            memory, _ = self._segments[self._starts[place]]
            if address + nbytes <= memory.address + memory.nbytes:
                return
        raise cuda_error(
            Code.INVALID_VALUE, f"the {what} {address:#x} of {nbytes} bytes is not within one allocation of a device"
        )

    def _is_pinned(self, address: int, nbytes: int) -> bool:
        place = bisect_right(self._pinned_starts, address) - 1
        if place < 0:
            return False
        memory = self._pinned[self._pinned_starts[place]]
        return address + nbytes <= memory.address + memory.nbytes
