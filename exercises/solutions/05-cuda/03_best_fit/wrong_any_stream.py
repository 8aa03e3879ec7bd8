"""Takes a block of whatever stream."""

from collections.abc import Sequence

from glasstorch.devices.blocks import MIB, Block

REFUSED_BY = "check"


def best_fit(free: Sequence[Block], size: int, stream: int) -> Block | None:
    return next((block for block in sorted(free, key=lambda b: b.size) if block.size >= size), None)


def should_split(block: Block, size: int) -> bool:
    rest = block.size - size
    return rest >= 512 if block.pool.is_small else rest > MIB


def split(block: Block, size: int) -> Block:
    rest = Block(block.address + size, block.size - size, block.stream, block.pool)
    rest.previous, rest.next = block, block.next
    if rest.next is not None:
        rest.next.previous = rest
    block.next, block.size = rest, size
    return rest
