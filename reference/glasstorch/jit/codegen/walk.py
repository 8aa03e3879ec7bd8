"""In which order does a loop visit the elements of its arrays?

Mirrors: aten/src/ATen/TensorIterator.cpp (reorder_dimensions, coalesce_dimensions)
Differs: computed once for inputs of given sizes and strides, and cached with the compiled group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from glasstorch.core.geometry import Shape, coalesce_dimensions


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
    order = sorted(range(len(shape)), key=lambda dim: -strides[-1][dim])
    sizes, moves = coalesce_dimensions(
        tuple(shape[dim] for dim in order), [tuple(own[dim] for dim in order) for own in strides]
    )
    return Walk(sizes, moves) if sizes else Walk((1,), ((0,),) * len(strides))
