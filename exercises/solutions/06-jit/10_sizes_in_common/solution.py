"""Puts together how many elements lie from the beginning of each dimension on, in either of the two."""

from itertools import pairwise
from math import prod

Shape = tuple[int, ...]


def common(one: Shape, other: Shape) -> Shape | None:
    """The coarsest sizes into which both loops can be split, or None."""
    if prod(one) != prod(other):
        return None
    ends = sorted({1, *lengths(one), *lengths(other)}, reverse=True)
    if any(outer % inner for outer, inner in pairwise(ends)):
        return None
    return tuple(outer // inner for outer, inner in pairwise(ends))


def lengths(sizes: Shape) -> list[int]:
    """How many elements lie from each dimension on."""
    return [prod(sizes[i:]) for i in range(len(sizes))]
