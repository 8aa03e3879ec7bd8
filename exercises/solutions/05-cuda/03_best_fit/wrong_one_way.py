"""Links the rest, but the neighbour behind still calls the front its neighbour."""

import bisect
from collections.abc import Sequence

from glasstorch.devices.blocks import MIB, Block

REFUSED_BY = "check"


def best_fit(free: Sequence[Block], size: int, stream: int) -> Block | None:
    index = bisect.bisect_left(free, (stream, size), key=lambda block: (block.stream, block.size))
    return free[index] if index < len(free) and free[index].stream == stream else None


def should_split(block: Block, size: int) -> bool:
    rest = block.size - size
    return rest >= 512 if block.pool.is_small else rest > MIB


def split(block: Block, size: int) -> Block:
    rest = Block(block.address + size, block.size - size, block.stream, block.pool)
    rest.previous, rest.next = block, block.next
    block.next, block.size = rest, size
    return rest
