"""Sorts the allocator's own list, which then is no longer in the order by which it is searched."""

from glasstorch.devices.blocks import MIB, Block

REFUSED_BY = "graft"


def best_fit(free: list[Block], size: int, stream: int) -> Block | None:
    free.sort(key=lambda block: block.size)
    return next((block for block in free if block.stream == stream and block.size >= size), None)


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
