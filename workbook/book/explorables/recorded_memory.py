"""What does the library's caching allocator do with a sequence of requests, step by step?

The allocator is the library's, over simulated memory: nothing here chooses, splits or merges a block. After each step
its segments and blocks are read; inside of a request, when the driver refuses and when it is asked again. No kernel is
compiled: the work on the streams consists of copies and fills, which the simulated driver queues as it queues kernels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypedDict

from glasstorch.core.errors import AcceleratorError, OutOfMemoryError, UnsynchronizedAccessError
from glasstorch.devices.allocator import Allocation, DeviceCachingAllocator
from glasstorch.devices.blocks import MIB, Block
from glasstorch.devices.codes import Code
from glasstorch.devices.driver import Copy
from glasstorch.devices.driver_sim import SimDriver
from glasstorch.devices.snapshot import segment_info
from workbook.book.figures.memory_map import size_of

DEFAULT, SIDE = "default", "side"


class BlockState(TypedDict):
    """A block of a segment. Sizes are in bytes, positions count from the start of the segment."""

    at: int
    size: int
    asked: int  # before rounding
    state: str  # as memory_snapshot calls it
    name: str  # of the tensor that has it, or had it while the block waits; "" if it is free


class SegmentState(TypedDict):
    """A segment and its blocks, by address."""

    number: int  # segments are numbered as the driver gives them
    pool: str  # "small" or "large"
    stream: str
    size: int
    blocks: list[BlockState]


class Step(TypedDict):
    """A step of a program, and the memory after it."""

    kind: str  # "alloc", "free", "stream", "inner" (inside of a request), "fail"
    code: str
    told: str
    block: list[int] | None  # the segment and position of the block that the step is about
    segments: list[SegmentState]
    queued: dict[str, list[str]]  # for each stream the work that has not run
    allocated: int
    active: int  # with the blocks that wait
    reserved: int
    largest: int  # the largest free block
    asked: int  # how often the driver has been asked for memory so far


class WatchedDriver(SimDriver):
    """The simulated driver, which reports what it is asked for."""

    recorder: Recorder | None = None

    def malloc(self, nbytes: int) -> int:
        recorder = self.recorder
        assert recorder is not None
        recorder.before_malloc(nbytes)
        try:
            address = super().malloc(nbytes)
        except AcceleratorError as error:
            if error.code == Code.MEMORY_ALLOCATION:
                recorder.refused(nbytes)
            raise
        recorder.numbers[address] = len(recorder.numbers) + len(recorder.gone)
        recorder.fresh = nbytes
        return address

    def free(self, address: int) -> None:
        super().free(address)
        assert self.recorder is not None
        self.recorder.gone.append(self.recorder.numbers.pop(address))


@dataclass(slots=True)
class Recorder:
    """A program on a device with some memory, and its steps so far. Sizes that are passed are in MiB."""

    memory: int
    driver: WatchedDriver = field(init=False)
    allocator: DeviceCachingAllocator = field(init=False)
    streams: dict[str, int] = field(init=False)
    held: dict[str, Allocation] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)  # by address: who has the block, or had it last
    numbers: dict[int, int] = field(default_factory=dict)  # of the segments, by address
    gone: list[int] = field(default_factory=list)  # segments that were given back
    work: dict[str, list[tuple[str, Any]]] = field(default_factory=lambda: {DEFAULT: [], SIDE: []})
    steps: list[Step] = field(default_factory=list)
    asked: int = 0
    fresh: int = 0  # the size of the segment that the current request has made
    was_refused: bool = False
    code: str = ""

    def __post_init__(self) -> None:
        self.driver = WatchedDriver(memory=self.memory * MIB)
        self.driver.recorder = self
        self.allocator = DeviceCachingAllocator(self.driver, 0)
        self.streams = {DEFAULT: 0, SIDE: self.driver.stream_create()}

    # What a program does ---------------------------------------------------------------------------------------

    def empty(self, name: str, mib: float, stream: str = DEFAULT) -> bool:
        """Ask for memory; returns whether there was enough."""
        self.code = f"{name} = empty({mib:g})" + (f"  # on {stream}" if stream != DEFAULT else "")
        self.fresh, self.was_refused, before = 0, False, self.free_blocks()
        try:
            held = self.allocator.allocate(int(mib * MIB), self.streams[stream])
        except OutOfMemoryError:
            free = self.reserved() - self.active()
            self.note("fail", f"OutOfMemoryError: {size_of(free)} are kept and free, and no block has {mib:g} MiB")
            return False
        self.held[name], self.names[held.address] = held, name
        assert held.block is not None
        size = held.block.size
        told = f"{name} gets {size_of(size)}"
        if self.fresh:
            told += f" from a new segment of {size_of(self.fresh)}"
        else:
            found = before[held.address]
            told += f" from a free block of {size_of(found)}, and the driver is not asked"
        if (found := self.fresh or before[held.address]) > size:
            told += f"; {size_of(found - size)} are cut off and stay free"
        elif size != held.nbytes:
            told += f"; {size_of(size - held.nbytes)} more than was asked for: the rest is not worth a block"
        self.note("alloc", told, held.block)
        return True

    def delete(self, name: str) -> None:
        """Let go of a tensor."""
        self.code = f"del {name}"
        block = self.held[name].block
        assert block is not None
        sizes = [near.size for near in (block.previous, block.next) if near is not None and near.is_free()]
        del self.held[name]
        if block.is_free():
            told = f"the block of {name} is free, and stays with the allocator"
            if sizes:
                told += f"; joined with its free neighbour{'s' * (len(sizes) > 1)} it has {size_of(block.size)}"
        else:
            told = f"{name} is gone, and its block waits for an event on the stream side"
        self.note("free", told, block)

    def empty_cache(self) -> None:
        """Give back what can be given back."""
        self.code = "empty_cache()"
        before = len(self.gone)
        self.allocator.empty_cache()
        back = len(self.gone) - before
        told = "a segment goes" if back == 1 else f"{back or 'no'} segments go"
        self.note("free", f"{told} back to the driver: those in which no part is in use")

    def write(self, name: str) -> bool:
        """Queue a kernel on the default stream that writes a tensor; returns whether the checker of streams lets it."""
        self.code = f"{name}.zero_()"
        held = self.held[name]
        try:
            self.driver.memset_async(held.address, 0, held.nbytes, 0)
        except UnsynchronizedAccessError:
            self.note(
                "fail",
                f"a write to {name} is queued while side has still to read the same memory: the simulator's checker of "
                "streams refuses it; a GPU would let side read the wrong numbers",
                held.block,
            )
            return False
        self.queue(DEFAULT, f"write {name}")
        self.note("stream", f"the default stream is given a kernel that writes {name}; it has not run yet", held.block)
        return True

    def read_on_side(self, name: str, target: str) -> None:
        """Queue a kernel on the side stream that reads a tensor, and writes another one of that stream."""
        self.code = f"{target} = {name}.sum()  # on side"
        source, into = self.held[name], self.held[target]
        self.driver.memcpy_async(into.address, source.address, into.nbytes, Copy.DEVICE_TO_DEVICE, self.streams[SIDE])
        self.queue(SIDE, f"read {name}")
        self.note("stream", f"side is given a kernel that reads {name}; it has not run yet", source.block)

    def wait_stream(self, waits: str, other: str) -> None:
        """Let a stream wait for the work of another one."""
        self.code = f"{waits}.wait_stream({other})"
        event = self.driver.event_create(timing=False)
        self.driver.event_record(event, self.streams[other])
        self.driver.stream_wait_event(self.streams[waits], event)
        self.driver.event_destroy(event)
        self.queue(waits, f"wait for {other}")
        self.note("stream", f"what {waits} is given from now on runs after what {other} has been given so far")

    def record_stream(self, name: str) -> None:
        """Tell the allocator that the side stream uses a tensor."""
        self.code = f"{name}.record_stream(side)"
        self.held[name].record_stream(self.streams[SIDE])
        self.note("stream", f"the allocator notes with the block of {name} that side uses it", self.held[name].block)

    def synchronize(self, stream: str) -> None:
        """Wait on the host until a stream has done its work."""
        self.code = f"{stream}.synchronize()"
        self.driver.stream_synchronize(self.streams[stream])
        self.note("stream", f"{stream} has done all it was given; a block that waits is taken back at the next request")

    # What is noted ---------------------------------------------------------------------------------------------

    def queue(self, stream: str, what: str) -> None:
        """Remember the piece of work that was queued last."""
        self.work[stream].append((what, self.driver._queue(self.streams[stream]).work[-1]))

    def before_malloc(self, nbytes: int) -> None:
        """The driver is about to be asked."""
        self.asked += 1
        if self.was_refused:
            back = "all segments without a tensor have gone back to the driver"
            self.note("inner", f"{back}, which has {size_of(self.driver.memory_info()[0])} now, and is asked again")

    def refused(self, nbytes: int) -> None:
        """The driver has refused."""
        free = self.driver.memory_info()[0]
        self.note("inner", f"the driver refuses a segment of {size_of(nbytes)}: it has {size_of(free)} left")
        self.was_refused = True

    def note(self, kind: str, told: str, block: Block | None = None) -> None:
        """Add a step, with the memory as it is."""
        segments = self.segments()
        free = [each["size"] for segment in segments for each in segment["blocks"] if each["state"] == "inactive"]
        where = None
        if block is not None:
            first = block
            while first.previous is not None:
                first = first.previous
            where = [self.numbers[first.address], block.address - first.address]
        queued = {
            stream: [what for what, item in work if any(item is each for each in self.waiting(stream))]
            for stream, work in self.work.items()
        }
        step = Step(
            kind=kind,
            code=self.code,
            told=told,
            block=where,
            segments=segments,
            queued=queued,
            allocated=self.allocator.statistics.current("allocated_bytes"),
            active=self.active(),
            reserved=self.reserved(),
            largest=max(free, default=0),
            asked=self.asked,
        )
        self.steps.append(step)

    def waiting(self, stream: str) -> list[Any]:
        """The work on a stream that has not run."""
        return list(self.driver._queue(self.streams[stream]).work)

    def active(self) -> int:
        """The bytes in use or waiting."""
        return self.allocator.statistics.current("active_bytes")

    def reserved(self) -> int:
        """The bytes of all segments."""
        return self.allocator.statistics.current("reserved_bytes")

    def blocks(self) -> list[Block]:
        """All blocks; also inside of a request, where the allocator is at work and gives no snapshot."""
        return [*self.allocator.active.values(), *self.allocator.small.free, *self.allocator.large.free]

    def free_blocks(self) -> dict[int, int]:
        """The sizes of the free blocks, by address; what waits counts as well, as a request may find it free."""
        return {block.address: block.size for block in self.blocks() if not block.allocated}

    def segments(self) -> list[SegmentState]:
        """The segments, in the order of their numbers."""
        streams = {handle: name for name, handle in self.streams.items()}
        found = []
        for first in self.blocks():
            if first.previous is not None:
                continue
            told = segment_info(0, list(first.segment()))
            blocks = [
                BlockState(
                    at=block["address"] - told["address"],
                    size=block["size"],
                    asked=block["requested_size"],
                    state=block["state"],
                    name="" if block["state"] == "inactive" else self.names.get(block["address"], ""),
                )
                for block in told["blocks"]
            ]
            found.append(
                SegmentState(
                    number=self.numbers[told["address"]],
                    pool=told["segment_type"],
                    stream=streams[told["stream"]],
                    size=told["total_size"],
                    blocks=blocks,
                )
            )
        return sorted(found, key=lambda segment: segment["number"])
