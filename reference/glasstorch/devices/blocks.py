"""Which free block serves a request, and when is the remainder split off?

A segment is one allocation from the driver. It is split into blocks, which know their neighbours, so that they can be
merged again. No function here calls a driver; sizes and addresses are in bytes.

Mirrors: c10/cuda/CUDACachingAllocator.cpp (Block, BlockPool, round_size, get_pool, get_allocation_size,
    get_free_block, should_split, try_merge_blocks), c10/core/AllocatorConfig.h (kMinBlockSize, large_segment_size ...)
Differs: max_split_size, expandable segments and private pools of graphs are left out. When a block is split, PyTorch
    creates a new object for the front part, this library for the remainder.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence

KIB, MIB = 1 << 10, 1 << 20

# In PyTorch: kMinBlockSize, kSmallSize, kSmallBuffer, large_segment_size, kMinLargeAlloc, kRoundLarge.
MIN_BLOCK_SIZE = 512  # every request is rounded up to a multiple of this, so every block is aligned to it
SMALL_SIZE = MIB  # the largest request that the small pool serves
SMALL_SEGMENT = 2 * MIB  # the size of the segments of the small pool
LARGE_SEGMENT = 20 * MIB  # the size of the large pool's segments for requests below MIN_LARGE_REQUEST
MIN_LARGE_REQUEST = 10 * MIB  # a request of at least this size gets a segment of its own size
ROUND_LARGE = 2 * MIB  # ... rounded up to a multiple of this


class Block:
    """A part of a segment: in use, free, or waiting for streams that still use it."""

    __slots__ = ("address", "allocated", "events", "next", "pool", "previous", "requested", "size", "stream", "streams")

    def __init__(self, address: int, size: int, stream: int, pool: Pool) -> None:
        self.address = address
        self.size = size
        self.stream = stream  # its work may use the block without waiting
        self.pool = pool
        self.previous: Block | None = None  # the block before it in its segment
        self.next: Block | None = None  # the block after it
        self.allocated = False
        self.requested = 0  # the requested size, before rounding
        self.streams: set[int] = set()  # others that have used it, according to record_stream
        self.events = 0  # the number of events that must complete before it is free

    def __repr__(self) -> str:
        state = "in use" if self.allocated else "waiting" if self.events else "free"
        return f"Block({self.address:#x}, {self.size} bytes, stream {self.stream}, {state})"

    def is_split(self) -> bool:
        """Whether the block is only a part of its segment."""
        return self.previous is not None or self.next is not None

    def is_free(self) -> bool:
        """Whether the block is in its pool's free list."""
        return not self.allocated and self.events == 0

    def segment(self) -> Iterator[Block]:
        """All blocks of the segment that begins with this block, by address."""
        block: Block | None = self
        while block is not None:
            yield block
            block = block.next


class Pool:
    """The free blocks of one kind of request, ordered by stream, size and address."""

    __slots__ = ("free", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.free: list[Block] = []

    @property
    def is_small(self) -> bool:
        """Whether the pool's blocks serve requests of at most SMALL_SIZE."""
        return self.name == "small_pool"

    def insert(self, block: Block) -> None:
        """Insert a free block at its position in the order."""
        bisect.insort(self.free, block, key=order)

    def remove(self, block: Block) -> None:
        """Remove a block that is in the list."""
        index = bisect.bisect_left(self.free, order(block), key=order)
        assert self.free[index] is block, f"{block} is not in the free list of the {self.name}"
        del self.free[index]


def order(block: Block) -> tuple[int, int, int]:
    """The key by which free blocks are sorted."""
    return block.stream, block.size, block.address


def round_size(nbytes: int) -> int:
    """The size of the block that a request needs: a multiple of 512, and at least that.

    >>> round_size(1), round_size(512), round_size(513)
    (512, 512, 1024)
    """
    return max(MIN_BLOCK_SIZE, -(-nbytes // MIN_BLOCK_SIZE) * MIN_BLOCK_SIZE)


def segment_size(size: int) -> int:
    """The size of the segment to allocate if no free block serves a request of a rounded size.

    >>> [segment_size(size) // MIB for size in (512, 3 * MIB, 11 * MIB)]
    [2, 20, 12]
    """
    if size <= SMALL_SIZE:
        return SMALL_SEGMENT
    if size < MIN_LARGE_REQUEST:
        return LARGE_SEGMENT
    return -(-size // ROUND_LARGE) * ROUND_LARGE


def best_fit(free: Sequence[Block], size: int, stream: int) -> Block | None:
    """The smallest block of the stream that has at least `size` bytes, the one at the lowest address among equals.

    `free` is ordered by stream, size and address. None where no block of the stream is large enough.
    """
    index = bisect.bisect_left(free, (stream, size), key=lambda block: (block.stream, block.size))
    if index == len(free) or free[index].stream != stream:
        return None
    return free[index]


def should_split(block: Block, size: int) -> bool:
    """Whether the remainder of a block becomes a block of its own after `size` bytes are taken from it.

    In the small pool a remainder of at least 512 bytes does; in the large pool only one of more than 1 MiB, because no
    request there is smaller.
    """
    rest = block.size - size
    return rest >= MIN_BLOCK_SIZE if block.pool.is_small else rest > SMALL_SIZE


def split(block: Block, size: int) -> Block:
    """Split a block after `size` bytes; returns the remainder, a free block between it and its neighbour."""
    rest = Block(block.address + size, block.size - size, block.stream, block.pool)
    rest.previous, rest.next = block, block.next
    if rest.next is not None:
        rest.next.previous = rest
    block.next, block.size = rest, size
    return rest


def merge(block: Block, neighbour: Block | None) -> int:
    """Merge a free neighbour into a block; returns by how many bytes the block grew, 0 if the neighbour is not free.

    The neighbour is removed from its pool's free list; the block itself must not be in one.
    """
    if neighbour is None or not neighbour.is_free():
        return 0
    neighbour.pool.remove(neighbour)
    if block.previous is neighbour:
        block.address = neighbour.address
        block.previous = neighbour.previous
        if block.previous is not None:
            block.previous.next = block
    else:
        block.next = neighbour.next
        if block.next is not None:
            block.next.previous = block
    block.size += neighbour.size
    return neighbour.size
