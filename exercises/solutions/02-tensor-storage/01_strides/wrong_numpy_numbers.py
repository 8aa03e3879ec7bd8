"""Lets NumPy multiply: the right numbers, but they are NumPy's and not Python's, and say so when they are printed."""

import numpy as np

REFUSED_BY = "check"


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    sizes = [max(size, 1) for size in shape]
    return tuple(np.cumprod([1, *sizes[:0:-1]])[::-1][: len(shape)])
