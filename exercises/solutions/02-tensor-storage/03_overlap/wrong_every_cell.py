"""Compares cell with cell: never wrong, but as slow as the operation that asks, and stricter than PyTorch."""

import itertools

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
    cells_a, cells_b = cells(a), cells(b)
    if not set(cells_a) & set(cells_b):
        return Overlap.NO
    return Overlap.FULL if cells_a == cells_b else Overlap.PARTIAL


def cells(extent: Extent) -> list[int]:
    indices = itertools.product(*map(range, extent.shape))
    steps = extent.strides
    return [extent.offset + sum(i * step for i, step in zip(index, steps, strict=True)) for index in indices]
