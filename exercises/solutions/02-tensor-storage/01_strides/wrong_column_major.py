"""Lets the first index move fastest: column-major order, as in Fortran."""

REFUSED_BY = "check"


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = []
    step = 1
    for size in shape:
        strides.append(step)
        step *= max(size, 1)
    return tuple(strides)
