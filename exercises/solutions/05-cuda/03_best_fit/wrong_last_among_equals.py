"""Goes on to the last of the blocks of one size, which lies at the highest address."""

from collections.abc import Sequence

from glasstorch.devices.blocks import MIB, Block

REFUSED_BY = "check"


def best_fit(free: Sequence[Block], size: int, stream: int) -> Block | None:
    best = None
    for block in free:
        fits = block.stream == stream and block.size >= size
        if fits and (best is None or block.size <= best.size):
            best = block
    return best


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
