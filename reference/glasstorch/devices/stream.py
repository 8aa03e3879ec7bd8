"""How does a program order work on a device with streams and events?

Mirrors: torch/cuda/streams.py, torch/cuda/__init__.py (device, StreamContext), c10/cuda/CUDAStream.cpp,
    aten/src/ATen/cuda/CUDAEvent.h
Differs: the streams of a pool are created one at a time, on first use; an event cannot be shared between processes.

As in PyTorch, a stream of the pool does not wait for the default stream unless it is told to.
"""

from __future__ import annotations

from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, NoReturn, TypeVar
from weakref import WeakKeyDictionary

from glasstorch.core import device as devices
from glasstorch.core.errors import AcceleratorError, ArgumentError, ArgumentTypeError, ArgumentValueError
from glasstorch.devices import runtime
from glasstorch.devices.codes import Code, cuda_error
from glasstorch.devices.driver import Driver

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

T = TypeVar("T")

OnDevice = devices.device | str | int | None


class device:
    """`with device("cuda:1"):` makes that device current inside the block; None or a negative index changes nothing."""

    __slots__ = ("idx", "prev_idx")

    def __init__(self, device: OnDevice) -> None:
        negative = isinstance(device, int) and device < 0
        self.idx = -1 if device is None or negative else runtime.device_index(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = runtime.current_device()
        if self.idx >= 0:
            runtime.set_device(self.idx)

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.idx >= 0:
            runtime.set_device(self.prev_idx)


class device_of(device):
    """`with device_of(tensor):` makes the tensor's device the current one; a CPU or meta tensor changes nothing."""

    __slots__ = ()

    def __init__(self, obj: Tensor) -> None:
        super().__init__(obj.device if obj.device.type == "cuda" else None)


on_device = device  # for functions below that have a parameter named `device`


# Streams --------------------------------------------------------------------------------------------------------

STREAMS_PER_POOL = 32
LOWEST_PRIORITY, HIGHEST_PRIORITY = 0, -3  # the range on current GPUs; a lower number is a higher priority


class _Pool:
    """The streams of one priority of a device: created on first use, handed out round-robin, never destroyed."""

    __slots__ = ("given", "handles")

    def __init__(self) -> None:
        self.handles: list[int] = []
        self.given = 0

    def take(self, priority: int) -> int:
        if len(self.handles) < STREAMS_PER_POOL:
            self.handles.append(runtime.driver().stream_create(priority))
        self.given += 1
        return self.handles[(self.given - 1) % STREAMS_PER_POOL]


_pools: WeakKeyDictionary[Driver, dict[tuple[int, int], _Pool]] = WeakKeyDictionary()
_lock = Lock()


class Stream:
    """A queue of work on one device, which runs in the order of queueing, concurrently with other streams.

    `priority` is a hint, from 0 (lowest) to -3; other numbers are clamped.
    """

    __slots__ = ("_driver", "cuda_stream", "device", "priority")

    cuda_stream: int
    device: devices.device
    priority: int

    def __init__(self, device: OnDevice = None, priority: int = 0) -> None:
        if not isinstance(priority, int):
            raise ArgumentTypeError(f"Stream(): argument 'priority' must be int, not {type(priority).__name__}")
        index = _index(device)
        clamped = max(HIGHEST_PRIORITY, min(priority, LOWEST_PRIORITY))
        with on_device(index), _lock:
            pools = _pools.setdefault(runtime.driver(), {})
            handle = pools.setdefault((index, clamped), _Pool()).take(clamped)
        self._fill(handle, index, clamped)

    def _fill(self, handle: int, index: int, priority: int) -> None:
        self._driver = runtime.driver()
        self.cuda_stream = handle
        self.device = devices.device("cuda", index)
        self.priority = priority

    @classmethod
    def _of(cls, handle: int, index: int) -> Stream:
        """A Stream object for an existing stream."""
        stream = cls.__new__(cls)
        stream._fill(handle, index, 0)
        return stream

    def _checked(self) -> int:
        """The driver's handle; AcceleratorError 400 if another driver has become active since."""
        if self._driver is not runtime.driver():
            raise cuda_error(Code.INVALID_RESOURCE_HANDLE, f"{self} belongs to a driver that is no longer active")
        return self.cuda_stream

    @property
    def device_index(self) -> int:
        """The index of the stream's device."""
        assert self.device.index is not None
        return self.device.index

    @property
    def stream_id(self) -> int:
        """The number that identifies the stream on its device; 0 is the default stream."""
        return self.cuda_stream

    def query(self) -> bool:
        """Whether all queued work is done."""
        with on_device(self.device_index):
            return runtime.driver().stream_query(self._checked())

    def synchronize(self) -> None:
        """Wait until all queued work is done; an error in a kernel is raised here at the latest."""
        with on_device(self.device_index):
            runtime.driver().stream_synchronize(self._checked())

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event (by default a new one) after all work queued so far, and return it."""
        event = Event() if event is None else _require(event, Event, "record_event")
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Make all work queued here from now on wait for the event; the calling thread does not wait."""
        _require(event, Event, "wait_event").wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Make all work queued here from now on wait for the work that is on the other stream now."""
        _require(stream, Stream, "wait_stream")
        self.wait_event(stream.record_event())

    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError("cannot pickle 'Stream' object: it stands for a stream of a device of this process")

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Stream)
            and (self.cuda_stream, self.device) == (other.cuda_stream, other.device)
            and self._driver is other._driver
        )

    def __hash__(self) -> int:
        return hash((self.cuda_stream, self.device))

    def __repr__(self) -> str:
        return f"<glasstorch.cuda.Stream device={self.device} cuda_stream={self.cuda_stream:#x}>"


def current_stream(device: OnDevice = None) -> Stream:
    """The stream on which the calling thread queues work for a device (by default the current one)."""
    index = _index(device)
    return Stream._of(runtime.current_stream(index), index)


def default_stream(device: OnDevice = None) -> Stream:
    """The default stream of a device, which exists from the start."""
    return Stream._of(0, _index(device))


def set_stream(stream: Stream | None) -> None:
    """Queue work on the stream from now on, and make its device the current one; None changes nothing."""
    if stream is not None:
        handle = _require(stream, Stream, "set_stream")._checked()
        runtime.set_device(stream.device_index)
        runtime.set_current_stream(handle, stream.device_index)


class StreamContext:
    """`with stream(s):` makes `s` and its device the current ones inside the block; None changes nothing."""

    __slots__ = ("_before", "_there_before", "stream")

    def __init__(self, stream: Stream | None) -> None:
        self.stream = None if stream is None else _require(stream, Stream, "stream")

    def __enter__(self) -> None:
        if self.stream is not None:
            self._before = current_stream()
            self._there_before = current_stream(self.stream.device)
            set_stream(self.stream)

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self.stream is not None and runtime.driver() is self._before._driver:
            set_stream(self._there_before)
            set_stream(self._before)


def stream(stream: Stream | None) -> StreamContext:
    """A context manager inside which work is queued on the stream."""
    return StreamContext(stream)


# Events ---------------------------------------------------------------------------------------------------------


class Event:
    """A point in a stream's work. Other streams and the host can wait for it; two of them measure the time between.

    The driver's event is created at the first recording, on the device of that stream.
    """

    __slots__ = ("_driver", "_handle", "device", "enable_timing")

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        self._driver: Driver | None = None
        if interprocess:
            raise ArgumentError("Event: interprocess=True is not supported; an event belongs to one process")
        self.enable_timing = enable_timing
        self._handle = 0
        self.device: devices.device | None = None

    @property
    def cuda_event(self) -> int:
        """The driver's handle of the event; 0 until it is recorded."""
        return self._handle

    def record(self, stream: Stream | None = None) -> None:
        """Record the event after all work queued so far on the stream (by default the current one)."""
        stream = current_stream() if stream is None else _require(stream, Stream, "Event.record")
        handle = stream._checked()
        if self._driver is not None and self.device != stream.device:
            raise ArgumentError(f"Event device {self.device} does not match recording stream's device {stream.device}.")
        with on_device(stream.device_index):
            if self._driver is None:
                self._handle = stream._driver.event_create(self.enable_timing)
                self._driver, self.device = stream._driver, stream.device
            self._checked().event_record(self._handle, handle)

    def _checked(self) -> Driver:
        assert self._driver is not None
        if self._driver is not runtime.driver():
            raise cuda_error(Code.INVALID_RESOURCE_HANDLE, f"{self} belongs to a driver that is no longer active")
        return self._driver

    def wait(self, stream: Stream | None = None) -> None:
        """Make all work queued on the stream (by default the current one) from now on wait for the event."""
        if self._driver is not None:
            stream = current_stream() if stream is None else _require(stream, Stream, "Event.wait")
            with on_device(stream.device_index):
                self._checked().stream_wait_event(stream._checked(), self._handle)

    def query(self) -> bool:
        """Whether the work before the event is done; True if the event was never recorded."""
        return self._driver is None or self._checked().event_query(self._handle)

    def synchronize(self) -> None:
        """Wait until the work before the event is done."""
        if self._driver is not None:
            self._checked().event_synchronize(self._handle)

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this event to another; both need `enable_timing`, and both must have completed.

        The simulator reports its own times, not those of a GPU: see Note [Simulated time].
        """
        _require(end_event, Event, "elapsed_time")
        if not (self.enable_timing and end_event.enable_timing):
            raise ArgumentValueError("Both events must be created with argument 'enable_timing=True'.")
        if self._driver is None or end_event._driver is None:
            raise ArgumentValueError("Both events must be recorded before calculating elapsed time.")
        if not (self.query() and end_event.query()):
            raise ArgumentValueError("Both events must be completed before calculating elapsed time.")
        return self._checked().event_elapsed(self._handle, end_event._handle)

    def __reduce__(self) -> NoReturn:
        raise ArgumentTypeError("cannot pickle 'Event' object: it stands for an event of a device of this process")

    def __del__(self) -> None:
        if self._driver is not None:
            try:
                self._driver.event_destroy(self._handle)
            except AcceleratorError:
                return  # the device has failed, and its events are gone with it

    def __repr__(self) -> str:
        if self._handle:
            return f"<glasstorch.cuda.Event {self._handle:#x}>"
        return "<glasstorch.cuda.Event uninitialized>"


def synchronize(device: OnDevice = None) -> None:
    """Wait until all work on a device (by default the current one) is done; errors in kernels are raised here."""
    with on_device(_index(device)):
        runtime.driver().synchronize()


def _require(given: T, kind: type[T], function: str) -> T:
    """The argument, if it has the expected type; ArgumentTypeError otherwise."""
    if not isinstance(given, kind):
        raise ArgumentTypeError(f"{function}: expected {kind.__name__}, got {given!r}")
    return given


def _index(device: OnDevice) -> int:
    """The index of a device; the current one for None and for a negative number."""
    return runtime.device_index(None if isinstance(device, int) and device < 0 else device)
