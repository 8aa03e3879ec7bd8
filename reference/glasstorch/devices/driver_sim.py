"""How does a computer without a GPU act as several CUDA devices?

Its parts are in `simulator/`: how a kernel is compiled and runs, guarded memory, when queued work runs and whether it
is ordered. The reading order of them is in that folder's `__init__`.

Mirrors: the CUDA runtime and driver APIs
Differs: kernels are compiled by g++ and run on the CPU, later than queued and in an unfriendly order. Every name that
    it shows says "simulated". Accesses from two streams that nothing orders are refused.

As on a card, a failed kernel is reported by a later call, and afterwards the device answers every call with the same
error; a copy from pageable memory has read it when the call returns; one from pinned memory has not.

# Note [A piece that is freed]
Python may collect garbage in the middle of any call here, and dying objects free their memory. So `block_freed` only
records the piece, and `free` is deferred while a piece of work is running. `_settle` does the rest at the next call.
"""

from __future__ import annotations

import ctypes
import operator
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from glasstorch.core.errors import AcceleratorError, ArgumentTypeError, ArgumentValueError, DeviceError
from glasstorch.devices.arguments import Packed, pack
from glasstorch.devices.codes import Code, cuda_error
from glasstorch.devices.driver import Argument, Copy, Dim, Parameter, Properties
from glasstorch.devices.simulator.errors import SimFault
from glasstorch.devices.simulator.launch_counts import LaunchCounts
from glasstorch.devices.simulator.memory import SimMemory, Table
from glasstorch.devices.simulator.module import SimKernel, SimModule
from glasstorch.devices.simulator.python_line import Line, calling_line
from glasstorch.devices.simulator.stream_order import StreamOrder
from glasstorch.devices.simulator.stream_queues import ORDERS, RESERVED, Mark, Scheduler, StreamQueue

NAME = "simulated CUDA device (CPU)"
STAYS = "The device answers every call with this error until glasstorch.cuda.use_simulator() makes fresh ones."


class Leak(NamedTuple):
    """Device memory that is still allocated, and the line that allocated it."""

    address: int
    nbytes: int
    device: int
    line: Line

    def __str__(self) -> str:
        return f"{self.nbytes} bytes on cuda:{self.device}, allocated at {self.line}"


class LoadedModule:
    """Compiled CUDA C++ of the simulated devices; compiled once more when check mode or counts are first asked for."""

    def __init__(
        self, driver: SimDriver, source: str, file: str, expressions: Sequence[str], options: Sequence[str]
    ) -> None:
        self.driver = driver
        self._text = source, file, tuple(expressions), tuple(options)
        self._compiled: dict[bool, SimModule] = {}
        self.compiled(driver.check)

    def compiled(self, check: bool) -> SimModule:
        """The module with or without checks."""
        if check not in self._compiled:
            self._compiled[check] = SimModule(*self._text, check)
        return self._compiled[check]

    def kernel(self, name: str) -> LoadedKernel:
        """The kernel of a name."""
        return LoadedKernel(self, name)


class LoadedKernel:
    """A kernel of the simulated devices."""

    __slots__ = ("_compiled", "_module", "name", "signature", "uses")

    def __init__(self, module: LoadedModule, name: str) -> None:
        self._module = module
        self._compiled: dict[bool, SimKernel] = {}
        self.name = name
        self.signature: tuple[Parameter, ...] = self.compiled(module.driver.check).signature
        # Of each parameter: whether the kernel writes through it, and what to call that; "" where it is no pointer.
        self.uses = [
            (not parameter.constant, f"kernel {name}, argument {place}" if parameter.pointer else "")
            for place, parameter in enumerate(self.signature)
        ]

    def compiled(self, check: bool) -> SimKernel:
        """The kernel with or without checks."""
        found = self._compiled.get(check)
        if found is None:
            try:
                found = self._compiled[check] = self._module.compiled(check).kernel(self.name)
            except SimFault as fault:
                raise cuda_error(fault.code, fault.what) from None
        return found

    def launch(
        self, grid: Dim, block: Dim, arguments: Sequence[Argument], shared_memory: int = 0, stream: int = 0
    ) -> None:
        """Queue the kernel on a stream of the current device; `shared_memory` is the dynamic part, in bytes."""
        self._module.driver.launch(self, grid, block, arguments, shared_memory, stream)


class _Event:
    __slots__ = ("device", "mark", "timing")

    def __init__(self, device: int, timing: bool) -> None:
        self.device = device
        self.timing = timing
        self.mark: Mark | None = None


class _Thread(threading.local):
    device = 0


def _whole(name: str, value: int) -> int:
    """An integer option of the simulator; ArgumentTypeError unless it is an int."""
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"use_simulator: {name}={value!r}; expected an int") from None


class SimDriver:
    """Simulated devices with `memory` bytes each; see `runtime.use_simulator` for the arguments.

    `order`, `seed`, `check` and `check_streams` may be set between launches, after a synchronisation. Memory that was
    allocated before `check` was set is checked for its bounds only.
    """

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
        devices, memory = _whole("devices", devices), _whole("memory", memory)
        if devices < 1 or memory < 1:
            raise ArgumentValueError(f"use_simulator: devices={devices}, memory={memory}; both must be at least 1")
        if order not in ORDERS:
            raise ArgumentValueError(f"use_simulator: order={order!r}; expected one of {', '.join(ORDERS)}")
        self.devices = devices
        self.on = True  # until another driver is put on
        self.seed = seed
        self.check_streams = check_streams
        self.blocking = os.environ.get("CUDA_LAUNCH_BLOCKING") == "1"
        self._check = check
        self._lock = threading.RLock()  # reentrant: a collection inside a call may free memory
        self._thread = _Thread()
        self._scheduler = Scheduler(order, self.seed)
        self._memory = SimMemory(devices, memory, check)
        self._order = StreamOrder()
        self._failed: list[AcceleratorError | None] = [None] * devices
        self._defaults = [StreamQueue(0, device) for device in range(devices)]
        self._scheduler.streams.extend(self._defaults)
        self._streams: dict[int, StreamQueue] = {}
        self._events: dict[int, _Event] = {}
        self._handles = RESERVED
        self._launches = 0
        self._divided: set[int] = set()  # segments that are handed out in pieces
        self._table: Table | None = None  # of what kernels may touch now; None: to be made again
        self._freed: deque[tuple[int, Line]] = deque()  # see Note [A piece that is freed]
        self._to_release: deque[int] = deque()
        self._counts: list[LaunchCounts] = []  # one for each `counting` that is open

    @property
    def order(self) -> str:
        """The order of the threads of a block and of the streams of a device."""
        return self._scheduler.order

    @order.setter
    def order(self, order: str) -> None:
        if order not in ORDERS:
            raise ArgumentValueError(f"order={order!r}; expected one of {', '.join(ORDERS)}")
        self._scheduler.order = order

    @property
    def seed(self) -> int:
        """What decides the random order of threads."""
        return self._seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._seed = _whole("seed", seed)

    @property
    def check(self) -> bool:
        """Whether kernels are run with checks."""
        return self._check

    @check.setter
    def check(self, check: bool) -> None:
        if check and not self._check:
            self._memory.assume_written()  # the writes of unchecked kernels were not tracked
        self._check = self._memory.track = check

    # Devices ----------------------------------------------------------------------------------------------------

    def device_count(self) -> int:
        """How many devices there are."""
        return self.devices

    def properties(self, device: int) -> Properties:
        """What a device is: the limits of compute capability 9.0, on a small card."""
        return Properties(NAME, major=9, minor=0, total_memory=self._memory.total, multi_processor_count=8)

    def current_device(self) -> int:
        """The device of the calling thread."""
        return self._thread.device

    def set_device(self, device: int) -> None:
        """Make a device that of the calling thread."""
        if not 0 <= device < self.devices:
            raise cuda_error(Code.INVALID_DEVICE, f"device {device} was asked for, of {self.devices}")
        self._thread.device = device

    def synchronize(self) -> None:
        """Run all that is queued on the current device."""
        with self._lock:
            self._finish_device(self._thread.device)
            self._raise_failure(self._thread.device)

    # Memory -----------------------------------------------------------------------------------------------------

    def malloc(self, nbytes: int) -> int:
        """Fresh memory of the current device, filled with NaN; 0 for no bytes."""
        with self._lock:
            self._raise_failure(self._thread.device)
            if nbytes < 0:
                raise cuda_error(Code.INVALID_VALUE, f"malloc of {nbytes} bytes")
            if not nbytes:
                return 0
            self._settle()
            address = self._memory.allocate(nbytes, self._thread.device)
            self._order.allocated(address, nbytes, None, calling_line())
            self._table = None
            return address

    def free(self, address: int) -> None:
        """Return what `malloc` gave, once all that is queued on its device is done; 0 is nothing to return."""
        if not address:
            return
        with self._lock:
            if address not in self._memory.device_of or address in self._to_release:
                raise cuda_error(Code.INVALID_VALUE, f"free of {address:#x}, which is not memory of malloc")
            self._to_release.append(address)
            self._settle()

    def memory_info(self) -> tuple[int, int]:
        """Free and total bytes of the current device."""
        return self._memory.total - self._memory.used[self._thread.device], self._memory.total

    def host_alloc(self, nbytes: int) -> int:
        """Pinned host memory."""
        with self._lock:
            self._table = None
            return self._memory.allocate_pinned(nbytes)

    def host_free(self, address: int) -> None:
        """Return pinned memory, once all that is queued is done."""
        with self._lock:
            if address not in self._memory.pinned.memory or address in self._to_release:
                raise cuda_error(Code.INVALID_VALUE, f"host_free of {address:#x}, which host_alloc did not give")
            self._to_release.append(address)
            self._settle()

    def memcpy_async(self, target: int, source: int, nbytes: int, kind: Copy, stream: int) -> None:
        """Copy in stream order."""
        if not nbytes:
            return
        with self._lock:
            queue = self._queue(stream)
            what = kind.name.lower().replace("_", " ")
            line = calling_line()
            if kind != Copy.HOST_TO_DEVICE:
                self._touch(queue, source, nbytes, False, f"copy {what}, source", line)
            if kind != Copy.DEVICE_TO_HOST:
                self._touch(queue, target, nbytes, True, f"copy {what}, target", line)
            pinned = self._memory.pinned
            staged: int | bytes = source
            if kind == Copy.HOST_TO_DEVICE and pinned.find(source, nbytes) is None:
                staged = ctypes.string_at(source, nbytes)
            self._scheduler.add(queue, lambda: self._memory.copy(target, staged, nbytes))
            if self.blocking or (kind == Copy.DEVICE_TO_HOST and pinned.find(target, nbytes) is None):
                self._finish(queue)

    def memset_async(self, target: int, value: int, nbytes: int, stream: int) -> None:
        """Set bytes in stream order."""
        if not nbytes:
            return
        with self._lock:
            queue = self._queue(stream)
            self._touch(queue, target, nbytes, True, "memset", calling_line())
            self._scheduler.add(queue, lambda: self._memory.fill(target, value, nbytes))

    def block_allocated(self, address: int, nbytes: int, stream: int) -> None:
        """Called for every block that is handed out, for a stream; it is filled with NaN again."""
        with self._lock:
            self._settle()
            segment = self._memory.on_device("block_allocated", address, nbytes)
            if segment.address not in self._divided:
                self._divided.add(segment.address)
                self._order.freed(segment.address, calling_line())
            device = self._memory.device_of[segment.address]
            queue = self._streams[stream] if stream else self._defaults[device]
            self._order.allocated(address, nbytes, queue, calling_line())
            self._table = None
            if self._failed[device] is None:
                self._scheduler.add(queue, lambda: self._memory.poison(address, nbytes))

    def block_freed(self, address: int) -> None:
        """Called when a block is freed. May come at any time, and never raises."""
        self._freed.append((address, calling_line()))

    def leaks(self) -> list[Leak]:
        """The device memory that is still allocated, in the order of allocation."""
        with self._lock:
            self._settle()
            device_of, segments = self._memory.device_of, self._memory.segments
            leaks = []
            for block in self._order.blocks.values():
                segment = segments.find(block.address)
                assert segment is not None, "a block lies within a segment"
                leaks.append(Leak(block.address, block.nbytes, device_of[segment.address], block.line))
            return leaks

    # Streams and events -----------------------------------------------------------------------------------------

    def stream_create(self, priority: int = 0) -> int:
        """A new stream of the current device; priorities change nothing here."""
        with self._lock:
            self._raise_failure(self._thread.device)
            self._handles += 1
            queue = StreamQueue(self._handles, self._thread.device)
            self._streams[self._handles] = queue
            self._scheduler.streams.append(queue)
            return self._handles

    def stream_destroy(self, stream: int) -> None:
        """Run what is queued on a stream, and forget it."""
        with self._lock:
            if not stream:
                raise cuda_error(Code.INVALID_RESOURCE_HANDLE, "the default stream cannot be destroyed")
            queue = self._queue(stream)
            self._scheduler.finish(queue)
            self._order.stream_gone(queue)
            del self._streams[stream]
            self._scheduler.streams.remove(queue)

    def stream_query(self, stream: int) -> bool:
        """Whether all that was queued is done; asking runs one piece of it."""
        with self._lock:
            queue = self._queue(stream)
            self._scheduler.progress(queue)
            self._raise_failure(queue.device)
            if queue.work:
                return False
            self._order.host_waited_for(queue)
            return True

    def stream_synchronize(self, stream: int) -> None:
        """Run what is queued on a stream."""
        with self._lock:
            self._finish(self._queue(stream))

    def stream_wait_event(self, stream: int, event: int) -> None:
        """Work queued from now on waits for the event's last recording so far; for nothing if it has none."""
        with self._lock:
            queue = self._queue(stream)
            mark = self._event(event).mark
            if mark is not None:
                self._scheduler.add(queue, awaits=mark)
                self._order.waits(queue, mark.clock)

    def event_create(self, timing: bool) -> int:
        """A new event of the current device."""
        with self._lock:
            self._raise_failure(self._thread.device)
            self._handles += 1
            self._events[self._handles] = _Event(self._thread.device, timing)
            return self._handles

    def event_destroy(self, event: int) -> None:
        """Forget an event; who waits for it already, still does."""
        self._event(event)
        del self._events[event]

    def event_record(self, event: int, stream: int) -> None:
        """The event now stands for all that has been queued on the stream."""
        with self._lock:
            queue, found = self._queue(stream), self._event(event)
            if queue.device != found.device:
                raise cuda_error(
                    Code.INVALID_RESOURCE_HANDLE,
                    f"event {event} is of cuda:{found.device}, stream {stream} of cuda:{queue.device}",
                )
            found.mark = Mark(queue, self._order.recorded(queue))
            self._scheduler.add(queue, reaches=found.mark)

    def event_query(self, event: int) -> bool:
        """Whether what the event stands for is done; asking runs one piece of it."""
        with self._lock:
            mark = self._event(event).mark
            if mark is None:
                return True
            if not mark.done:
                self._scheduler.progress(mark.stream)
            self._raise_failure(mark.stream.device)
            if mark.done:
                self._order.host_waited(mark.clock)
            return mark.done

    def event_synchronize(self, event: int) -> None:
        """Run what the event stands for."""
        with self._lock:
            mark = self._event(event).mark
            if mark is not None:
                self._scheduler.reach(mark)
                self._raise_failure(mark.stream.device)
                self._order.host_waited(mark.clock)

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
        return LoadedModule(self, source, file, expressions, options)

    def launch(
        self,
        kernel: LoadedKernel,
        grid: Dim,
        block: Dim,
        arguments: Sequence[Argument],
        shared_memory: int,
        stream: int,
    ) -> None:
        """Queue a kernel on a stream of the current device."""
        if not self.on:
            raise cuda_error(
                Code.INVALID_RESOURCE_HANDLE,
                f"kernel {kernel.name} was compiled for devices that are switched off since use_simulator() was called "
                "again; compile it again",
            )
        packed = pack(kernel.name, kernel.signature, arguments)
        with self._lock:
            queue = self._queue(stream)
            if queue.device != self._thread.device:
                raise cuda_error(
                    Code.INVALID_RESOURCE_HANDLE,
                    f"{kernel.name}: {queue} is not of the current device, cuda:{self._thread.device}",
                )
            compiled = kernel.compiled(self._check or bool(self._counts))
            try:
                compiled.check_launch(grid, block, shared_memory)
            except SimFault as fault:
                raise cuda_error(fault.code, f"{kernel.name}: {fault.what}") from None
            line = calling_line()
            self._check_arguments(queue, kernel, arguments, line)
            run = self._run(queue, compiled, grid, block, packed, shared_memory, line)
            self._scheduler.add(queue, run)
            if self.blocking:
                self._finish(queue)

    @contextmanager
    def counting(self) -> Iterator[LaunchCounts]:
        """What each launch inside loads, stores and waits for; complete when the block is left, which synchronises.

        Kernels run in their checked form inside, which is slow.
        """
        counts = LaunchCounts()
        self._synchronize_all()
        self._counts.append(counts)
        try:
            yield counts
            self._synchronize_all()
        finally:
            self._counts.remove(counts)

    # Libraries --------------------------------------------------------------------------------------------------

    def has_blas(self) -> bool:
        """There is none."""
        return False

    def gemm(self, *arguments: Any, stream: int) -> None:
        """There is none: kernels of our own multiply matrices here."""
        raise DeviceError("the simulated device has no cuBLAS; matrices are multiplied by matmul.cu")

    # Inside -----------------------------------------------------------------------------------------------------

    def _run(
        self,
        queue: StreamQueue,
        kernel: SimKernel,
        grid: Dim,
        block: Dim,
        packed: Packed,
        shared_memory: int,
        line: Line,
    ) -> Callable[[], None]:
        """What runs a launch when its turn comes."""
        self._launches += 1
        seed, order, counts = self.seed + self._launches, self.order, tuple(self._counts)
        table = self._accessible() if self._check else None

        def run() -> None:
            try:
                counted = kernel.run(grid, block, packed, shared_memory, order, seed, table)
            except SimFault as fault:
                self._fail(queue.device, cuda_error(fault.code, f"{kernel.name}: {fault}\nlaunched at {line}"))
                return
            for launches in counts:
                assert counted is not None, "the checked form counts"
                launches.append((kernel.name, counted))

        return run

    def _check_arguments(
        self, queue: StreamQueue, kernel: LoadedKernel, arguments: Sequence[Argument], line: Line
    ) -> None:
        """Note what a kernel reads and writes, as its parameters say; refuse addresses of no memory here."""
        if self._freed:
            self._settle()
        uses = [
            (int(argument), writes, what)
            for argument, (writes, what) in zip(arguments, kernel.uses, strict=True)
            if what and argument
        ]
        for address, _, what in uses:
            if address not in self._order.blocks and not self._is_ours(address):
                raise cuda_error(
                    Code.INVALID_RESOURCE_HANDLE,
                    f"{what}: {address:#x} lies in no memory of these devices; was its tensor made before "
                    "use_simulator() was called again?",
                )
        if self.check_streams:
            self._order.access(queue, uses, line)

    def _is_ours(self, address: int) -> bool:
        """Whether an address lies in device or pinned memory, or at its end, as that of a tensor of no elements may."""
        return any(regions.find(address, 0) is not None for regions in (self._memory.segments, self._memory.pinned))

    def _touch(self, queue: StreamQueue, address: int, nbytes: int, writes: bool, what: str, line: Line) -> None:
        """Refuse a range that is no device memory, and note the access."""
        self._settle()
        self._memory.on_device(what, address, nbytes)
        if self.check_streams:
            self._order.access(queue, [(address, writes, what)], line)

    def _accessible(self) -> Table:
        """The table of what kernels that are launched now may touch."""
        self._settle()
        if self._table is None:
            self._table = self._memory.table((block.address, block.nbytes) for block in self._order.blocks.values())
        return self._table

    def _queue(self, stream: int) -> StreamQueue:
        """The queue of a stream, if its device still works."""
        queue = self._streams.get(stream) if stream else self._defaults[self._thread.device]
        if queue is None:
            raise cuda_error(Code.INVALID_RESOURCE_HANDLE, f"there is no stream {stream}")
        self._raise_failure(queue.device)
        return queue

    def _event(self, event: int) -> _Event:
        found = self._events.get(event)
        if found is None:
            raise cuda_error(Code.INVALID_RESOURCE_HANDLE, f"there is no event {event}")
        return found

    def _raise_failure(self, device: int) -> None:
        """Raise what made a kernel of the device fail; it stays so."""
        error = self._failed[device]
        if error is not None:
            raise AcceleratorError(error.args[0], error.code, error.code_name)

    def _fail(self, device: int, error: AcceleratorError) -> None:
        self._failed[device] = AcceleratorError(f"{error.args[0]}\n{STAYS}", error.code, error.code_name)
        self._scheduler.drop(device)

    def _finish(self, queue: StreamQueue) -> None:
        """Run what is queued on a stream; raise what fails."""
        self._scheduler.finish(queue)
        self._raise_failure(queue.device)
        self._order.host_waited_for(queue)

    def _finish_device(self, device: int) -> None:
        for stream in self._scheduler.streams:
            if stream.device == device:
                self._scheduler.finish(stream)
                self._order.host_waited_for(stream)

    def _synchronize_all(self) -> None:
        with self._lock:
            for device in range(self.devices):
                self._finish_device(device)
                self._raise_failure(device)

    def _settle(self) -> None:
        """Do the deferred frees: see Note [A piece that is freed]."""
        while self._freed:
            address, line = self._freed.popleft()
            self._order.freed(address, line)
            self._table = None
        while self._to_release and not self._scheduler.running:
            self._release(self._to_release.popleft())

    def _release(self, address: int) -> None:
        """Return memory of a device, or pinned memory, once nothing uses it."""
        device = self._memory.device_of.get(address)
        for used in range(self.devices) if device is None else (device,):
            self._finish_device(used)
        self._table = None
        if device is None:
            self._memory.pinned.remove(address)
            return
        if address in self._divided:
            self._divided.remove(address)
        else:
            self._order.freed(address, calling_line())
        self._memory.release(address)
