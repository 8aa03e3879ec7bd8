"""Cuts whenever something is left: the large pool fills with pieces that no request there can take."""

import bisect
from collections.abc import Sequence

from glasstorch.devices.blocks import Block

REFUSED_BY = "check"


def best_fit(free: Sequence[Block], size: int, stream: int) -> Block | None:
    index = bisect.bisect_left(free, (stream, size), key=lambda block: (block.stream, block.size))
    return free[index] if index < len(free) and free[index].stream == stream else None


def should_split(block: Block, size: int) -> bool:
    return block.size > size


def split(block: Block, size: int) -> Block:
    rest = Block(block.address + size, block.size - size, block.stream, block.pool)
    rest.previous, rest.next = block, block.next
    if rest.next is not None:
        rest.next.previous = rest
    block.next, block.size = rest, size
    return rest
