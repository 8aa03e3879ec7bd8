"""Are the strides row-major?"""

import random

from workbook.exercises.asking import Ask, expect


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides, found by counting how many elements one step of each dimension passes over."""
    strides = []
    for dim in range(len(shape)):
        passed = 1
        for size in shape[dim + 1 :]:
            passed *= max(size, 1)
        strides.append(passed)
    return tuple(strides)


def shapes(dims: range) -> list[tuple[int, ...]]:
    """Shapes from small to large, the same in every run; all sizes of a shape differ."""
    draw = random.Random("02.1")
    return [tuple(draw.sample(range(2, 10), dim)) for dim in dims for _ in range(3)]


def test_a_new_tensor(ask: Ask) -> None:
    """the strides of a new tensor, in row-major order"""
    for shape in shapes(range(1, 7)):
        strides = ask("contiguous_strides", shape)
        expect(strides, row_major(shape), because="one step of a dimension passes over all dimensions after it")


def test_a_dimension_of_size_one(ask: Ask) -> None:
    """the strides of a shape with a dimension of size 1"""
    for shape in ((1, 5), (4, 1), (4, 1, 5), (1, 3, 1, 2)):
        strides = ask("contiguous_strides", shape)
        expect(strides, row_major(shape), because="a dimension of size 1 follows the same rule as the others")


def test_a_dimension_of_size_zero(ask: Ask) -> None:
    """the strides of a shape with no elements in it"""
    for shape in ((0,), (0, 3), (3, 0), (2, 0, 3), (0, 4, 0, 5)):
        strides = ask("contiguous_strides", shape)
        expect(strides, row_major(shape), because="a dimension of size 0 counts as if its size were 1")


def test_a_scalar(ask: Ask) -> None:
    """the strides of a tensor without dimensions"""
    expect(ask("contiguous_strides", ()), (), because="there is one stride for each dimension, and a scalar has none")
