# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05.3 Best fit, with split
#
# A request for memory from the driver is slow, and giving memory back waits
# for the whole device. So the allocator asks for a large piece, a segment, and
# cuts it into blocks. It keeps a block that is freed, and uses it for a later
# request of the same stream.
#
# A `Block` says where it lies and what lies beside it:
#
# | | |
# |---|---|
# | `address`, `size` | where it begins, and how many bytes it has |
# | `stream` | the stream whose requests it may serve |
# | `pool` | small requests have a pool of their own: `pool.is_small` |
# | `previous`, `next` | its neighbours in the segment, None at an end |
#
# Write three functions: one chooses the block, one decides whether it is cut,
# and one cuts it. They will then place every tensor on a CUDA device.

# %%
from collections.abc import Sequence

from glasstorch.devices.blocks import MIB, Block


def best_fit(free: Sequence[Block], size: int, stream: int) -> Block | None:
    """The smallest free block of the stream with at least `size` bytes.

    `free` holds the free blocks of a pool, for all streams, ordered by stream,
    then size, then address. Of blocks of one size, take the one at the lowest
    address. Return None if no block of the stream is large enough.

    >>> from glasstorch.devices.blocks import Pool
    >>> pool = Pool("small_pool")
    >>> free = [Block(9216, 512, 0, pool), Block(2048, 4096, 0, pool)]
    >>> best_fit(free, 512, stream=0)
    Block(0x2400, 512 bytes, stream 0, free)
    >>> best_fit(free, 1024, stream=0)
    Block(0x800, 4096 bytes, stream 0, free)
    >>> best_fit(free, 8192, stream=0), best_fit(free, 512, stream=7)
    (None, None)
    """
    raise NotImplementedError


def should_split(block: Block, size: int) -> bool:
    """Whether the rest is worth a block of its own, if `size` bytes are taken.

    In the small pool it is if it has at least 512 bytes, because no block is
    smaller. In the large pool it must have more than 1 MiB, because all
    requests there are larger, and none could use a smaller rest.

    >>> from glasstorch.devices.blocks import Pool
    >>> should_split(Block(0, 1536, 0, Pool("small_pool")), 1024)
    True
    >>> should_split(Block(0, 3 * MIB, 0, Pool("large_pool")), 2 * MIB)
    False
    """
    raise NotImplementedError


def split(block: Block, size: int) -> Block:
    """Cut a block after `size` bytes, and return the rest.

    The block itself keeps its address, and its size becomes `size`. The rest
    is a new block of the same stream and pool, which lies between the block
    and its former next neighbour.

    >>> from glasstorch.devices.blocks import Pool
    >>> block = Block(0, 2048, 0, Pool("small_pool"))
    >>> rest = split(block, 512)
    >>> block, rest.address, rest.size
    (Block(0x0, 512 bytes, stream 0, free), 512, 1536)
    >>> block.next is rest, rest.previous is block, rest.next
    (True, True, None)
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 05.3`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 05.3` gives a hint, and
# `.venv/bin/workbook lab 05.3` opens a sheet for experiments.
