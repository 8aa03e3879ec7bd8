"""Does every element of every line have a thread, and is no warp cut?"""

from __future__ import annotations

import pytest

from glasstorch.kernels.cuda import lines
from glasstorch.kernels.cuda.lines import Block, power_of_2

COUNTS = (1, 2, 3, 31, 32, 33, 100, 1000, 70_000)
LENGTHS = (0, 1, 2, 5, 33, 257, 5000)


@pytest.mark.parametrize("rows", [True, False])
def test_blocks_are_what_lines_cuh_asks_for(rows: bool) -> None:
    for count in COUNTS:
        for length in LENGTHS:
            block = Block.of(rows, count, length)
            assert block.members == power_of_2(block.members)
            assert block.members * block.lines <= lines.THREADS
            assert not rows or block.members * block.lines % lines.WARP == 0
            assert (block.count(count) - 1) * block.lines < count <= block.count(count) * block.lines


def test_a_long_line_has_a_whole_block() -> None:
    assert Block.of(True, 10, 100_000) == (True, 256, 1)
    assert Block.of(False, 1000, 100_000) == (False, 8, 32)
    assert Block.of(False, 3, 100_000) == (False, 64, 4)


def test_many_lines_have_a_warp_each() -> None:
    assert Block.of(True, 5000, 1000) == (True, 32, 8)
    assert Block.of(True, 100, 1000) == (True, 256, 1)
    assert Block.of(True, 5000, 50) == (True, 16, 16)
    assert Block.of(True, 5000, 2000) == (True, 64, 4)


def test_neighbours_along_x_are_a_row_or_a_column() -> None:
    assert Block.of(True, 1000, 64).threads() == (16, 16)
    assert Block.of(False, 1000, 8).threads() == (32, 2)


def test_lines_are_cut_only_while_multiprocessors_idle() -> None:
    long = 1 << 30
    assert Block.of(True, 1, long).parts(1, long, 132) == 8 * 132
    assert Block.of(True, 8 * 132, long).parts(8 * 132, long, 132) == 1
    assert Block.of(True, 1, 5000).parts(1, 5000, 132) == 1
    assert Block.of(True, 1, 0).parts(1, 0, 132) == 1
    assert Block.of(False, 32, 5000).parts(32, 5000, 132) == 32 * 5000 // lines.PER_PART
