"""Gives a dimension of size 1 the stride 0, as a broadcast dimension has it."""

REFUSED_BY = "check"


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = []
    step = 1
    for size in reversed(shape):
        strides.append(0 if size == 1 else step)
        step *= max(size, 1)
    return tuple(reversed(strides))
