"""Compares blocks only, by the places where they begin and end."""

import math

from glasstorch.core.geometry import Extent, Overlap

Shape = tuple[int, ...]


def is_non_overlapping_and_dense(shape: Shape, strides: Shape) -> bool:
    """Whether the elements fill a block of storage without gaps."""
    if 0 in shape:
        return True
    step = 1
    for stride, size in sorted((stride, size) for size, stride in zip(shape, strides, strict=True) if size != 1):
        if stride != step:
            return False
        step *= size
    return True


def overlap_status(a: Extent, b: Extent) -> Overlap:
    """Which cells two tensors on one storage have in common."""
    count_a, count_b = math.prod(a.shape), math.prod(b.shape)
    if not count_a or not count_b:
        return Overlap.NO
    if not (is_non_overlapping_and_dense(a.shape, a.strides) and is_non_overlapping_and_dense(b.shape, b.strides)):
        return Overlap.TOO_HARD
    end_a, end_b = a.offset + count_a, b.offset + count_b
    if a.offset == b.offset and end_a == end_b:
        return Overlap.FULL if a.strides == b.strides else Overlap.PARTIAL
    return Overlap.PARTIAL if a.offset < end_b and b.offset < end_a else Overlap.NO
