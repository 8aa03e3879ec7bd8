"""A binary search in the ordered list, the rule of each pool, and four links."""

import bisect
from collections.abc import Sequence

from glasstorch.devices.blocks import MIB, Block


def best_fit(free: Sequence[Block], size: int, stream: int) -> Block | None:
    """The smallest free block of the stream with at least `size` bytes."""
    index = bisect.bisect_left(free, (stream, size), key=lambda block: (block.stream, block.size))
    return free[index] if index < len(free) and free[index].stream == stream else None


def should_split(block: Block, size: int) -> bool:
    """Whether the rest is worth a block of its own, if `size` bytes are taken."""
    rest = block.size - size
    return rest >= 512 if block.pool.is_small else rest > MIB


def split(block: Block, size: int) -> Block:
    """Cut a block after `size` bytes, and return the rest."""
    rest = Block(block.address + size, block.size - size, block.stream, block.pool)
    rest.previous, rest.next = block, block.next
    if rest.next is not None:
        rest.next.previous = rest
    block.next, block.size = rest, size
    return rest
