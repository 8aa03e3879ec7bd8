"""Begins with the stride 1 of the last dimension, and so gives a scalar, which has no dimension, a stride.

Refused by: check
"""


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a new tensor of this shape, in row-major order."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * max(size, 1))
    return tuple(reversed(strides))
