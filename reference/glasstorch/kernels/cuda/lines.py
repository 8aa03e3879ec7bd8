"""How are lines of elements distributed among threads and blocks?

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
PER_THREAD: Final = 4  # elements per thread
PER_WARP_THREAD: Final = 32  # elements per thread up to which one warp serves a line, without barriers
WARP_PER_LINE_FROM: Final = 1024  # lines from which a warp for each keeps a device busy
PER_PART = 4096  # elements per block
BLOCKS_PER_MULTIPROCESSOR: Final = 8  # of THREADS threads, resident on a multiprocessor at a time


class Block(NamedTuple):
    """How many threads of a block share a line, and how many lines the block processes, as Rows or as Columns."""

    rows: bool
    members: int
    lines: int

    @classmethod
    def of(cls, rows: bool, lines: int, length: int) -> Block:
        """A block for lines of a length. For rows, no line splits a warp; for columns, a warp takes adjacent lines.

        >>> Block.of(True, lines=1000, length=50), Block.of(False, lines=1000, length=50)
        (Block(rows=True, members=16, lines=16), Block(rows=False, members=8, lines=32))
        """
        wanted = power_of_2(-(-length // PER_THREAD))
        if rows:
            if lines >= WARP_PER_LINE_FROM and wanted > WARP:
                wanted = max(power_of_2(-(-length // PER_WARP_THREAD)), WARP)
            members = min(wanted, THREADS)
            return cls(rows, members, max(min(THREADS // members, power_of_2(lines)), WARP // members, 1))
        side_by_side = min(power_of_2(lines), WARP)
        return cls(rows, min(wanted, THREADS // side_by_side), side_by_side)

    def threads(self) -> tuple[int, int]:
        """The block dimensions of a launch."""
        return (self.members, self.lines) if self.rows else (self.lines, self.members)

    def count(self, lines: int) -> int:
        """The number of blocks for this many lines."""
        return -(-lines // self.lines)

    def parts(self, lines: int, length: int, cores: int) -> int:
        """Into how many parts each line is split, where there are too few blocks to keep all multiprocessors busy.

        >>> block = Block.of(True, lines=1, length=1 << 20)
        >>> block.parts(1, 1 << 20, cores=8), block.parts(64, 1 << 20, cores=8)
        (64, 1)
        """
        return max(min(BLOCKS_PER_MULTIPROCESSOR * cores // self.count(lines), self.lines * length // PER_PART), 1)


def power_of_2(count: int) -> int:
    """The smallest power of 2 that is at least `count`.

    >>> power_of_2(0), power_of_2(1), power_of_2(33)
    (1, 1, 64)
    """
    return 1 << max(count - 1, 0).bit_length()


def nearest(shape: Shape, strides: Shape) -> int:
    """The smallest stride, in elements, among dimensions of more than one element; 0 if there are none.

    >>> nearest((4, 3), (3, 1)), nearest((4, 3), (1, 100)), nearest((1,), (5,))
    (1, 1, 0)
    """
    steps = collapsed(shape, (strides,), True)[1][0]
    return steps[-1] if steps else 0


def address(tensor: Tensor | None) -> int:
    """The address of a tensor; 0 for None."""
    return 0 if tensor is None else tensor.data_ptr()


def multiprocessors(on: device) -> int:
    """The number of multiprocessors of a CUDA device."""
    assert on.index is not None, "a tensor's device has an index"
    return driver().properties(on.index).multi_processor_count
