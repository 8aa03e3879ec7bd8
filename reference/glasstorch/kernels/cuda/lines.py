"""How are lines of elements shared out among the threads of blocks?

Mirrors: setReduceConfig in aten/src/ATen/native/cuda/Reduce.cuh, SoftMaxForward_getBlockSize in SoftMax.cu
Differs: two arrangements, for rows and for columns; see Note [Rows and columns] in lines.cuh.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from glasstorch._tensor import Tensor
from glasstorch.core.device import device
from glasstorch.core.geometry import Shape
from glasstorch.devices.runtime import driver
from glasstorch.kernels.cuda.tensors import collapsed

THREADS: Final = 256  # of a block at most: MOST_THREADS of lines.cuh
WARP: Final = 32
EACH: Final = 4  # elements that are worth a thread
EACH_OF_WARP: Final = 32  # elements of a line that are worth more than a warp, which needs no barrier
MANY: Final = 1024  # lines that keep a device busy with a warp for each
PART = 4096  # elements that are worth a block
BLOCKS: Final = 8  # of THREADS threads, which a multiprocessor runs at a time


class Block(NamedTuple):
    """How many threads of a block share a line, and how many lines it works on, as Rows or as Columns."""

    rows: bool
    members: int
    lines: int

    @classmethod
    def of(cls, rows: bool, lines: int, length: int) -> Block:
        """Threads enough for lines of a length. Where lines are rows, no warp is cut; else a warp takes neighbours.

        >>> Block.of(True, lines=1000, length=50), Block.of(False, lines=1000, length=50)
        (Block(rows=True, members=16, lines=16), Block(rows=False, members=8, lines=32))
        """
        wanted = power_of_2(-(-length // EACH))
        if rows:
            if lines >= MANY and wanted > WARP:
                wanted = max(power_of_2(-(-length // EACH_OF_WARP)), WARP)
            members = min(wanted, THREADS)
            return cls(rows, members, max(min(THREADS // members, power_of_2(lines)), WARP // members, 1))
        side_by_side = min(power_of_2(lines), WARP)
        return cls(rows, min(wanted, THREADS // side_by_side), side_by_side)

    def threads(self) -> tuple[int, int]:
        """The block of a launch."""
        return (self.members, self.lines) if self.rows else (self.lines, self.members)

    def count(self, lines: int) -> int:
        """How many blocks work on so many lines."""
        return -(-lines // self.lines)

    def parts(self, lines: int, length: int, cores: int) -> int:
        """Into how many parts each line is cut, where there are too few blocks to keep so many multiprocessors busy.

        >>> block = Block.of(True, lines=1, length=1 << 20)
        >>> block.parts(1, 1 << 20, cores=8), block.parts(64, 1 << 20, cores=8)
        (64, 1)
        """
        return max(min(BLOCKS * cores // self.count(lines), self.lines * length // PART), 1)


def power_of_2(count: int) -> int:
    """The smallest that is not below `count`.

    >>> power_of_2(0), power_of_2(1), power_of_2(33)
    (1, 1, 64)
    """
    return 1 << max(count - 1, 0).bit_length()


def nearest(shape: Shape, strides: Shape) -> int:
    """How far apart the nearest neighbours of a walk in the best order are, in elements.

    >>> nearest((4, 3), (3, 1)), nearest((4, 3), (1, 100)), nearest((1,), (5,))
    (1, 1, 0)
    """
    steps = collapsed(shape, (strides,), True)[1][0]
    return steps[-1] if steps else 0


def address(tensor: Tensor | None) -> int:
    """Where a tensor starts that may be left out."""
    return 0 if tensor is None else tensor.data_ptr()


def multiprocessors(on: device) -> int:
    """How many of them a CUDA device has."""
    assert on.index is not None, "a tensor's device has an index"
    return driver().properties(on.index).multi_processor_count
