"""Multiplies by a size 0 like by any other, so that all strides before it are 0."""

REFUSED_BY = "check"


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))
