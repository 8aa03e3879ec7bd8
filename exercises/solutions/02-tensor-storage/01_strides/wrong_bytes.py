"""Counts bytes instead of elements, as NumPy does, and thinks of float32 only."""

REFUSED_BY = "check"


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = []
    step = 4
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))
