"""Compares where the tensors begin and end, and takes everything in between for theirs."""

import math

from glasstorch.core.geometry import Extent, Overlap

REFUSED_BY = "check"

Shape = tuple[int, ...]


def is_non_overlapping_and_dense(shape: Shape, strides: Shape) -> bool:
    if 0 in shape:
        return True
    step = 1
    for stride, size in sorted((stride, size) for size, stride in zip(shape, strides, strict=True) if size != 1):
        if stride != step:
            return False
        step *= size
    return True


def overlap_status(a: Extent, b: Extent) -> Overlap:
    count_a, count_b = math.prod(a.shape), math.prod(b.shape)
    if not count_a or not count_b:
        return Overlap.NO
    end_a = a.offset + 1 + sum((size - 1) * stride for size, stride in zip(a.shape, a.strides, strict=True))
    end_b = b.offset + 1 + sum((size - 1) * stride for size, stride in zip(b.shape, b.strides, strict=True))
    if a.offset == b.offset and end_a == end_b:
        return Overlap.FULL if a.strides == b.strides else Overlap.PARTIAL
    return Overlap.PARTIAL if a.offset < end_b and b.offset < end_a else Overlap.NO
