"""Makes an empty tensor and asks it for its strides: the library would ask the answer, and the answer the library.

Refused by: graft
"""

import glasstorch as torch


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The strides of a new tensor of this shape, in row-major order."""
    return torch.empty(shape).stride()
