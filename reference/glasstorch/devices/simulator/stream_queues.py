"""In which order does the simulator run the work queued on its streams?

Mirrors: nothing in PyTorch; the order that CUDA leaves unspecified (CUDA C++ Programming Guide, asynchronous execution)
Differs: a GPU runs work as soon as it can. Here work waits until the program synchronizes, and then runs in the order
    that is worst for a program that lacks an event.

The work of one stream runs in order, and a stream waits for the events that it was told to wait for. The rest is free:

- "forward": only the work that the synchronization needs; the work of other streams runs as late as possible.
- "reverse": the work of all other streams first, beginning with the stream created last.
- "random": the next stream is drawn at random.

# Note [Simulated time]
Each stream has a clock. Work begins when it is queued, or when the previous work on its stream and the events that it
waits for are done, whichever is latest, and lasts as long as it ran on this computer. Streams overlap in this time as
on a GPU with enough multiprocessors for both; the durations are those of the simulation and say nothing about a GPU.
"""

from __future__ import annotations

import random
import time
from collections import deque
from collections.abc import Callable

ORDERS = ("forward", "reverse", "random")
PENDING = 1024  # items of work that may wait on one stream, as on a GPU; then the oldest run before more are queued


class Mark:
    """A point in a stream's work, at which an event was recorded. `time`, in milliseconds, is set once it is done.

    `clock` states what is known to be done when the mark is reached: see Note [Order between streams].
    """

    __slots__ = ("clock", "done", "stream", "time")

    def __init__(self, stream: StreamQueue, clock: dict[StreamQueue, int]) -> None:
        self.stream = stream
        self.clock = clock
        self.done = False
        self.time = 0.0


class Work:
    """One item of work in stream order: call `run`, or wait for a mark, or reach one."""

    __slots__ = ("awaits", "queued_at", "reaches", "run")

    def __init__(self, run: Callable[[], None] | None, awaits: Mark | None, reaches: Mark | None, at: float) -> None:
        self.run = run
        self.awaits = awaits
        self.reaches = reaches
        self.queued_at = at


RESERVED = 2  # 1 and 2 name default streams to CUDA (cudaStreamLegacy, cudaStreamPerThread) and so to DLPack


class StreamQueue:
    """The work queued on one stream of a device. `handle` is the driver's handle of the stream, 0 for a default one.

    Messages number streams from 1; handles begin after those that CUDA reserves.
    """

    __slots__ = ("clock", "device", "handle", "work")

    def __init__(self, handle: int, device: int) -> None:
        self.handle = handle
        self.device = device
        self.work: deque[Work] = deque()
        self.clock = 0.0

    def __str__(self) -> str:
        name = f"stream {self.handle - RESERVED}" if self.handle else "the default stream"
        return f"{name} of cuda:{self.device}"

    def ready(self) -> bool:
        """Whether the first item of work could run now."""
        if not self.work:
            return False
        awaits = self.work[0].awaits
        return awaits is None or awaits.done


def milliseconds() -> float:
    """The time since a fixed moment of this process."""
    return time.perf_counter() * 1e3


class Scheduler:
    """Runs the queued work. The owner holds a lock during each call. `now` is its clock, in milliseconds."""

    def __init__(self, order: str, seed: int, now: Callable[[], float] = milliseconds) -> None:
        self.order = order
        self.random = random.Random(seed)
        self.streams: list[StreamQueue] = []
        self.running = False
        self.now = now

    def add(
        self,
        stream: StreamQueue,
        run: Callable[[], None] | None = None,
        awaits: Mark | None = None,
        reaches: Mark | None = None,
    ) -> None:
        """Queue an item of work."""
        stream.work.append(Work(run, awaits, reaches, self.now()))
        while len(stream.work) > PENDING and not self.running:
            self._step(stream)

    def finish(self, stream: StreamQueue) -> None:
        """Run until the stream's queue is empty."""
        while stream.work:
            self._step(stream)

    def reach(self, mark: Mark) -> None:
        """Run until the mark is done."""
        while not mark.done:
            self._step(mark.stream)

    def progress(self, stream: StreamQueue) -> None:
        """Run one item of work, so that a program that polls makes progress."""
        if stream.work and not self.running:
            self._step(stream)

    def drop(self, device: int) -> None:
        """Drop all work queued on a device; streams that wait for its marks continue."""
        for stream in self.streams:
            if stream.device == device:
                for work in stream.work:
                    if work.reaches is not None:
                        work.reaches.done = True
                stream.work.clear()

    def _step(self, wanted: StreamQueue) -> None:
        """Run the first item of work of one stream; `wanted` is the stream being waited for."""
        self.running = True  # from here on nothing else may run, even if a garbage collection inside asks for it
        try:
            stream = self._next(wanted)
            work = stream.work.popleft()
            start = max(stream.clock, work.queued_at, 0.0 if work.awaits is None else work.awaits.time)
            began = self.now()
            if work.run is not None:
                work.run()
            stream.clock = start + (self.now() - began)
        finally:
            self.running = False
        if work.reaches is not None:
            work.reaches.done = True
            work.reaches.time = stream.clock

    def _next(self, wanted: StreamQueue) -> StreamQueue:
        """The stream whose work runs next."""
        if self.order != "forward":
            others = [stream for stream in self.streams if stream.ready() and stream is not wanted]
            if self.order == "reverse" and others:
                return others[-1]
            if self.order == "random" and (ready := others + [wanted] * wanted.ready()):
                return self.random.choice(ready)
        # Follow the marks that streams wait for, from the wanted one: a mark is always older than the wait for it.
        while (awaits := wanted.work[0].awaits) is not None and not awaits.done:
            wanted = awaits.stream
        return wanted
