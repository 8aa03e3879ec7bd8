"""Goes through the dimensions from the outside in, and merges each with the one before if every operand allows it."""

from collections.abc import Sequence

Shape = tuple[int, ...]
Walk = tuple[Shape, tuple[Shape, ...]]


def coalesce_dimensions(shape: Shape, strides: Sequence[Shape]) -> Walk:
    """The walk in the fewest dimensions: its sizes, each operand's strides."""
    kept: list[tuple[int, list[int]]] = []  # each dimension's size, and the stride of each operand there
    for dim, size in enumerate(shape):
        if size == 1:
            continue
        steps = [own[dim] for own in strides]
        if kept and all(outer == size * inner for outer, inner in zip(kept[-1][1], steps, strict=True)):
            size *= kept.pop()[0]  # the outer stride, a whole pass of the inner one, is not needed any more
        kept.append((size, steps))
    return tuple(size for size, _ in kept), tuple(tuple(steps[i] for _, steps in kept) for i in range(len(strides)))
