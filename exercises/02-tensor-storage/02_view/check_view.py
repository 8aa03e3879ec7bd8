"""Do the strides of a view visit the same cells, and is a view refused where none can?"""

import itertools
import math
import random

from workbook.exercises.asking import Ask, expect

Shape = tuple[int, ...]


def cells(shape: Shape, strides: Shape) -> list[int]:
    """The cell of every element, in order. Slow, and cannot be wrong."""
    indices = itertools.product(*map(range, shape))
    return [sum(i * stride for i, stride in zip(index, strides, strict=True)) for index in indices]


def looked_up(shape: Shape, strides: Shape, target: Shape) -> Shape | None:
    """The strides of a view with no size 1 in it, read off the cells; None where they lead to other cells."""
    visited = cells(shape, strides)
    steps = [math.prod(target[dim + 1 :]) for dim in range(len(target))]
    found = tuple(visited[step] - visited[0] for step in steps)
    return found if cells(target, found) == visited else None


def views(possible: bool) -> list[tuple[Shape, Shape, Shape]]:
    """Tensors with their dimensions in any order and with gaps, and sizes to view them in, each pair of sizes once."""
    draw = random.Random("02.2")
    found: dict[tuple[Shape, Shape], tuple[Shape, Shape, Shape]] = {}
    for _ in range(400):
        sizes = [draw.choice((2, 3, 4, 6)) for _ in range(draw.randint(1, 3))]
        steps = [draw.choice((1, 2))]
        for size in reversed(sizes[1:]):
            steps.insert(0, size * steps[0] + draw.choice((0, 0, 1)))
        order = draw.sample(range(len(sizes)), len(sizes))
        shape, strides = tuple(sizes[dim] for dim in order), tuple(steps[dim] for dim in order)
        target: Shape = ()
        while (rest := math.prod(shape) // math.prod(target)) > 1:
            target += (draw.choice([size for size in (2, 3, 4, 6, rest) if rest % size == 0]),)
        found.setdefault((shape, target), (shape, strides, target))
    chosen = [view for view in found.values() if (looked_up(*view) is not None) == possible]
    return sorted(chosen, key=lambda view: (math.prod(view[0]), view))


def test_a_view_that_there_is(ask: Ask) -> None:
    """the strides of a view; the new sizes cut the runs of the old ones"""
    for shape, strides, target in views(possible=True):
        found = ask("view_strides", shape, strides, target)
        expect(found, looked_up(shape, strides, target), because="these visit the same cells in the same order")


def test_a_view_that_there_is_not(ask: Ask) -> None:
    """strides of a view, where the new sizes would glue what is not one run"""
    for shape, strides, target in views(possible=False):
        expect(ask("view_strides", shape, strides, target), None, because="no strides visit these cells in this order")


def test_cells_that_are_read_again(ask: Ask) -> None:
    """the strides of a view of a tensor with a stride of 0, as `expand` makes it"""
    for shape, strides, target in (((2, 5), (0, 0), (10,)), ((5, 2, 2), (1, 0, 0), (5, 4))):
        found = ask("view_strides", shape, strides, target)
        because = "two strides of 0 hang together like any others: a pass over the inner is 0 cells long"
        expect(found, looked_up(shape, strides, target), because=because)


def test_an_old_dimension_of_size_one(ask: Ask) -> None:
    """the strides of a view of a tensor that has a dimension of size 1"""
    for shape, strides, target in (
        ((1, 6), (50, 1), (2, 3)),
        ((6, 1), (1, 50), (3, 2)),
        ((2, 1, 5), (5, 70, 1), (10,)),
        ((1, 4, 1, 1, 3), (9, 3, 80, 90, 1), (2, 6)),
    ):
        found = ask("view_strides", shape, strides, target)
        expect(found, looked_up(shape, strides, target), because="no step is taken along a dimension of size 1")


def test_a_new_dimension_of_size_one(ask: Ask) -> None:
    """the strides of a view whose new sizes have a 1 among them"""
    for target, strides in (
        ((5, 3, 1), (3, 1, 1)),
        ((5, 1, 3), (3, 3, 1)),
        ((1, 5, 3), (15, 3, 1)),
        ((1, 5, 1, 1, 3, 1), (15, 3, 3, 3, 1, 1)),
    ):
        expect(
            ask("view_strides", (5, 3), (3, 1), target),
            strides,
            because="a size 1 gets size times stride of the dimension to its right, and at the end the old last stride",
        )


def test_a_tensor_without_elements(ask: Ask) -> None:
    """the strides of a view of a tensor that has no elements"""
    for shape, strides, target, accepted in (
        ((0,), (1,), (3, 0), (1, 1)),
        ((2, 0), (1, 1), (0, 5, 4), (20, 4, 1)),
        ((0, 3), (1, 8), (0, 3), (1, 8)),
    ):
        found = ask("view_strides", shape, strides, target)
        expect(found, accepted, because="with the same sizes the strides stay, with others they are those of 02.1")


def test_a_tensor_without_dimensions(ask: Ask) -> None:
    """the strides of a view of a tensor without dimensions, which has one element"""
    for target in ((), (1,), (1, 1, 1)):
        expect(
            ask("view_strides", (), (), target), (1,) * len(target), because="all new sizes are 1, and so the strides"
        )
