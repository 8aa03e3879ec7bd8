"""Divides the number of all elements with `/`: a float has 53 bits for its digits, and large strides lose theirs.

Refused by: graft
"""

import math


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a new tensor of this shape, in row-major order."""
    strides = []
    step = math.prod(max(size, 1) for size in shape)
    for size in shape:
        step = int(step / max(size, 1))
        strides.append(step)
    return tuple(strides)
