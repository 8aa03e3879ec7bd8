"""Is every access to device memory ordered after the accesses it depends on?

Mirrors: torch/cuda/_sanitizer.py (StreamSynchronizations, _TensorsAccessed, UnsynchronizedAccessError)
Differs: what a kernel reads and writes is inferred from its parameters (`const` or not), not from operator schemas;
    memory is followed when it is freed and reused; an unordered access raises an exception when it is queued.

# Note [Order between streams]
Each stream numbers its accesses. A clock states, for each stream, up to which number its accesses are known to be done.
Every stream has a clock (what comes before its next work), a recorded event keeps a copy of its stream's clock, and the
host has a clock (what it has waited for). Waiting for an event merges the event's clock into that of the stream or host
that waits. An access is ordered after another one if its stream's clock, or the host's, has reached the other's number.
No access needs to run for that, so a missing wait is found in every run, whether or not it does harm in this one.

A block of memory counts as written by its stream when it is handed out: earlier uses must be ordered before that, and
uses by other streams after it.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from glasstorch.core.errors import UnsynchronizedAccessError
from glasstorch.devices.simulator.python_line import Line
from glasstorch.devices.simulator.stream_queues import StreamQueue

Clock = dict[StreamQueue, int]
Use = tuple[int, bool, str]  # an address, whether it is written to, and by what: "kernel scale, argument 0"


class Access(NamedTuple):
    """One use of a block of memory by one item of queued work."""

    stream: StreamQueue
    position: int  # among the accesses of its stream
    writes: bool
    what: str
    line: Line


class Block:
    """An allocated block of memory: its last write, and the streams that have read it since."""

    __slots__ = ("address", "before", "line", "nbytes", "reads", "stream", "write")

    def __init__(self, address: int, nbytes: int, stream: StreamQueue | None, line: Line) -> None:
        self.address = address
        self.nbytes = nbytes
        self.stream = stream  # None: of no stream in particular, as malloc gives it
        self.line = line  # where it was handed out
        self.write: Access | None = None
        self.reads: dict[StreamQueue, Access] = {}
        self.before: list[Former] = []  # uses by former owners that are not known to be done


class Former(NamedTuple):
    """A use, by another stream than its own, of memory that has been freed since."""

    address: int
    nbytes: int
    access: Access
    freed: Line


class StreamOrder:
    """Follows the accesses of all streams: Note [Order between streams]. The owner holds a lock around each call."""

    def __init__(self) -> None:
        self.blocks: dict[int, Block] = {}
        self.former: list[Former] = []
        self._starts: list[int] = []  # the addresses of `blocks`, sorted
        self._clocks: dict[StreamQueue, Clock] = {}
        self._host: Clock = {}

    # Memory -----------------------------------------------------------------------------------------------------

    def allocated(self, address: int, nbytes: int, stream: StreamQueue | None, line: Line) -> None:
        """A block of memory is handed out, to be used in the order of a stream."""
        block = Block(address, nbytes, stream, line)
        if stream is not None:
            block.write = self._next(stream, True, "the memory was handed out", line)
            self._inherit(block, stream)
        self.blocks[address] = block
        insort(self._starts, address)

    def freed(self, address: int, line: Line) -> None:
        """A block of memory is freed; its stream may reuse it immediately."""
        block = self.blocks.pop(address)
        del self._starts[bisect_right(self._starts, address) - 1]
        own = block.stream
        accesses = [*block.reads.values(), *([block.write] if block.write is not None else [])]
        for access in accesses:
            if own is not None and access.stream is not own and not self._is_ordered(access, own):
                self.former.append(Former(address, block.nbytes, access, line))

    def find(self, address: int) -> Block | None:
        """The block of memory that contains an address."""
        index = bisect_right(self._starts, address) - 1
        if index < 0:
            return None
        block = self.blocks[self._starts[index]]
        return block if address < block.address + block.nbytes else None

    def _inherit(self, block: Block, stream: StreamQueue) -> None:
        """Record the former uses of a new block's memory that may not be done."""
        if self.former:
            self.former = [use for use in self.former if not self._is_ordered(use.access, stream)]
            block.before = [use for use in self.former if _overlap(use, block.address, block.nbytes)]

    # Order ------------------------------------------------------------------------------------------------------

    def recorded(self, stream: StreamQueue) -> Clock:
        """The clock of an event that is recorded now."""
        return self._clocks.get(stream, {}).copy()

    def waits(self, stream: StreamQueue, clock: Mapping[StreamQueue, int]) -> None:
        """The stream's next work comes after the accesses in the clock."""
        _merge(self._clocks.setdefault(stream, {}), clock)

    def host_waited(self, clock: Mapping[StreamQueue, int]) -> None:
        """The host has waited for the accesses in the clock; all work queued from now on comes after them."""
        _merge(self._host, clock)

    def host_waited_for(self, stream: StreamQueue) -> None:
        """The host has waited for a stream."""
        _merge(self._host, self._clocks.get(stream, {}))

    def stream_gone(self, stream: StreamQueue) -> None:
        """A stream was destroyed, after all its work was done."""
        self.host_waited_for(stream)
        self._clocks.pop(stream, None)

    def access(self, stream: StreamQueue, uses: Sequence[Use], line: Line) -> None:
        """Record what one item of work uses, if each use is ordered after those that it must follow.

        Otherwise UnsynchronizedAccessError is raised and nothing is recorded: the work is not queued.
        """
        noted = []
        for address, writes, what in uses:
            block = self.blocks.get(address) or self.find(address)
            if block is not None:
                now = self._next(stream, writes, what, line)
                self._check(block, now)
                noted.append((block, now))
        for block, now in noted:
            if now.writes:
                block.write = now
                block.reads.clear()
            else:
                block.reads[stream] = now

    def _check(self, block: Block, now: Access) -> None:
        """Refuse an access that is not ordered after all those that it must follow."""
        stream, write = now.stream, block.write
        if block.before:
            self._check_former(block, now)
        if write is not None and write.stream is not stream and not self._is_ordered(write, stream):
            raise UnsynchronizedAccessError(_unordered(block, write, now))
        if now.writes:
            for read in block.reads.values():
                if read.stream is not stream and not self._is_ordered(read, stream):
                    raise UnsynchronizedAccessError(_unordered(block, read, now))

    def _next(self, stream: StreamQueue, writes: bool, what: str, line: Line) -> Access:
        clock = self._clocks.get(stream)
        if clock is None:
            clock = self._clocks[stream] = {}
        position = clock[stream] = clock.get(stream, 0) + 1
        return Access(stream, position, writes, what, line)

    def _is_ordered(self, access: Access, stream: StreamQueue) -> bool:
        """Whether all work queued on a stream from now on comes after the access."""
        other, position = access.stream, access.position
        return position <= max(self._host.get(other, 0), self._clocks.get(stream, {}).get(other, 0))

    def _check_former(self, block: Block, now: Access) -> None:
        block.before = [use for use in block.before if not self._is_ordered(use.access, now.stream)]
        for use in block.before:
            if use.access.stream is not now.stream and (use.access.writes or now.writes):
                raise UnsynchronizedAccessError(_used_after_free(use, now))


def _merge(clock: Clock, other: Mapping[StreamQueue, int]) -> None:
    for stream, position in other.items():
        if clock.get(stream, 0) < position:
            clock[stream] = position


def _overlap(use: Former, address: int, nbytes: int) -> bool:
    return use.address < address + nbytes and address < use.address + use.nbytes


# Messages -------------------------------------------------------------------------------------------------------


def _use(access: Access) -> str:
    return f"{'write' if access.writes else 'read'} on {access.stream}: {access.what}\n    {access.line}"


def _unordered(block: Block, first: Access, second: Access) -> str:
    return (
        f"{second.stream} and {first.stream} use the same memory, and no event says which comes first\n"
        f"  {_use(first)}\n"
        f"  {_use(second)}\n"
        f"  memory: {block.nbytes} bytes, handed out at\n"
        f"    {block.line}\n"
        f"Before the second use, let its stream wait for the first: stream.wait_stream(other), or event.record(other) "
        f"and stream.wait_event(event)"
    )


def _used_after_free(use: Former, second: Access) -> str:
    first = use.access
    return (
        f"memory was freed and is used again, and {first.stream} may still be at work on it\n"
        f"  {_use(first)}\n"
        f"  freed:\n"
        f"    {use.freed}\n"
        f"  {_use(second)}\n"
        f"Before the tensor is freed, say that the other stream uses it: tensor.record_stream(stream)"
    )
