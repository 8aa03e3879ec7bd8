"""Is the overlap of two views found correctly, and reported as too hard where one is not a block?"""

import itertools
import random

from glasstorch.core.geometry import Extent, Overlap
from workbook.exercises.asking import Ask, expect

Shape = tuple[int, ...]


def cells(extent: Extent) -> list[int]:
    """The cell of every element, in order; slow, and computed straight from the definition."""
    indices = itertools.product(*map(range, extent.shape))
    steps = extent.strides
    return [extent.offset + sum(i * step for i, step in zip(index, steps, strict=True)) for index in indices]


def blocks() -> list[tuple[Shape, Shape]]:
    """Sizes and strides that fill a block, with the dimensions in any order; from small to large."""
    draw = random.Random("02.3")
    found: list[tuple[Shape, Shape]] = []
    for dims in (1, 2, 2, 3, 3, 3):
        shape, strides, step = draw.sample((2, 3, 4, 5), dims), [0] * dims, 1
        for dim in draw.sample(range(dims), dims):  # from the fastest through memory to the slowest
            strides[dim] = step
            step *= shape[dim]
        found.append((tuple(shape), tuple(strides)))
    return sorted(found, key=lambda block: max(cells(Extent(*block))))


# Every second cell, the first half of two rows, a transposed part of rows, a row read twice, windows one cell apart.
NO_BLOCKS = [((3,), (2,)), ((2, 2), (4, 1)), ((2, 3), (1, 4)), ((2, 3), (0, 1)), ((3, 2), (1, 1))]


def pairs(forward: int) -> list[tuple[Extent, Extent]]:
    """Every block and a second one, of every shape, that begins `forward` cells after the end of the first."""
    found = []
    for first, second in itertools.product(blocks(), blocks()):
        a = Extent(*first, 2)
        found.append((a, Extent(*second, 2 + len(cells(a)) + forward)))
    return found


def test_a_block(ask: Ask) -> None:
    """whether elements with these sizes and strides fill a block without gaps, each cell once"""
    for shape, strides in (*blocks(), ((2, 1, 3), (3, 50, 1)), ((), ()), *NO_BLOCKS):
        visited = sorted(cells(Extent(shape, strides)))
        filled = visited == list(range(len(visited)))
        because = f"these cells are visited, in the order of memory: {', '.join(map(str, visited))}"
        expect(ask("is_non_overlapping_and_dense", shape, strides), filled, because=because)


def test_two_blocks_apart(ask: Ask) -> None:
    """the overlap of two blocks that lie side by side, or with a gap between them"""
    for a, b in pairs(0) + pairs(3):
        for status in (ask("overlap_status", a, b), ask("overlap_status", b, a)):
            expect(status, Overlap.NO, because=f"one block ends before cell {b.offset}, where the other begins")


def test_two_blocks_that_share_cells(ask: Ask) -> None:
    """the overlap of two blocks that share some cells, or of which one lies inside the other"""
    for a, b in pairs(-1) + [(Extent((9,), (1,), 1), Extent(*block, 2)) for block in blocks()[:2]]:
        for status in (ask("overlap_status", a, b), ask("overlap_status", b, a)):
            expect(status, Overlap.PARTIAL, because=f"cell {b.offset} is in both blocks, but not every cell is")


def test_the_same_block(ask: Ask) -> None:
    """the overlap of two tensors that fill the same block"""
    row, columns = ((3,), (1,)), ((2, 3), (1, 2))
    one_by_six, six_by_one = ((1, 6), (1, 1)), ((6, 1), (1, 1))
    other_strides = ((2, 3), (3, 1)), ((3, 2), (1, 3))
    for a, b in ((row, row), (columns, columns), (one_by_six, six_by_one), other_strides):
        accepted = Overlap.FULL if a[1] == b[1] else Overlap.PARTIAL
        status = ask("overlap_status", Extent(*a, 4), Extent(*b, 4))
        expect(status, accepted, because="if both blocks begin and end at the same cells, only the strides decide")


def test_no_elements(ask: Ask) -> None:
    """the overlap of a tensor without elements and another tensor"""
    some, none = Extent((5,), (1,), 0), Extent((0,), (1,), 2)
    for a, b in ((some, none), (none, some), (none, none)):
        expect(ask("overlap_status", a, b), Overlap.NO, because="a tensor without elements shares no cell")


def test_what_is_no_block(ask: Ask) -> None:
    """the overlap of two tensors of which at least one has gaps or overlaps itself"""
    block = Extent((4,), (1,), 0)
    for shape, strides in NO_BLOCKS:
        because = f"sizes {shape} with strides {strides} do not fill a block, and only blocks are compared"
        for offset in (0, 1, 20):
            a = Extent(shape, strides, offset)
            for one, other in ((a, block), (block, a), (a, a)):
                status = ask("overlap_status", one, other)
                expect(status, Overlap.TOO_HARD, because=because)
