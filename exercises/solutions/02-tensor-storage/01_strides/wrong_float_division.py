"""Divides the number of all elements with `/`: a float has 53 bits for its digits, and large strides lose theirs."""

import math

REFUSED_BY = "graft"


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = []
    step = math.prod(max(size, 1) for size in shape)
    for size in shape:
        step = int(step / max(size, 1))
        strides.append(step)
    return tuple(strides)
