"""Lets NumPy multiply: the right numbers, but they are NumPy's and not Python's, and say so when they are printed.

Refused by: check
"""

import numpy as np


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a new tensor of this shape, in row-major order."""
    sizes = [max(size, 1) for size in shape]
    return tuple(np.cumprod([1, *sizes[:0:-1]])[::-1][: len(shape)])
