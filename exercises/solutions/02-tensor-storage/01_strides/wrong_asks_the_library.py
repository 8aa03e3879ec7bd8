"""Makes an empty tensor and asks it for its strides: the library would ask the answer, and the answer the library."""

import glasstorch as torch

REFUSED_BY = "graft"


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    return torch.empty(shape).stride()
