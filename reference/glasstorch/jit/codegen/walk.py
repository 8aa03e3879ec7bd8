"""In which order does a loop visit the elements of its arrays?

Mirrors: aten/src/ATen/TensorIterator.cpp (reorder_dimensions, coalesce_dimensions)
Differs: computed once for inputs of given sizes and strides, and cached with the compiled group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from glasstorch.core.geometry import Shape


class Walk(NamedTuple):
    """Sizes from the slowest dimension to the fastest, and for each array its strides, in elements.

    Dimensions that are contiguous in all arrays are coalesced; at least one is left. A stride of 0 broadcasts.
    """

    sizes: Shape
    strides: tuple[Shape, ...]


def plan_walk(shape: Shape, strides: Sequence[Shape]) -> Walk:
    """The walk over arrays that have these strides for a shape; the last array determines the order.

    >>> plan_walk((2, 3, 4), [(12, 4, 1), (0, 0, 1), (12, 4, 1)])
    Walk(sizes=(6, 4), strides=((4, 1), (0, 1), (4, 1)))
    """
    order = [dim for dim in range(len(shape)) if shape[dim] != 1]
    order.sort(key=lambda dim: -strides[-1][dim])
    sizes: list[int] = []
    moves: list[list[int]] = []  # for each dimension so far, the stride of each array
    for dim in order:
        size, own = shape[dim], [one[dim] for one in strides]
        if sizes and moves[-1] == [stride * size for stride in own]:
            sizes[-1] *= size
            moves[-1] = own
        else:
            sizes.append(size)
            moves.append(own)
    if not sizes:
        sizes, moves = [1], [[0] * len(strides)]
    return Walk(tuple(sizes), tuple(zip(*moves, strict=True)))
