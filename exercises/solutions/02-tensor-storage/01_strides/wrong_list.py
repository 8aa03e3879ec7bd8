"""Gives a list instead of a tuple."""

REFUSED_BY = "check"


def contiguous_strides(shape: tuple[int, ...]) -> list[int]:
    strides = []
    step = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step *= max(size, 1)
    return strides
