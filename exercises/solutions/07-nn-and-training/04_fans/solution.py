"""Takes the two channel sizes, and multiplies each by the number of places in the kernel."""

from glasstorch import Tensor


def fans(weight: Tensor) -> tuple[int, int]:
    """How many inputs an output sums, and how many outputs an input reaches."""
    if weight.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    outputs, inputs, *kernel = weight.shape
    places = 1
    for size in kernel:
        places *= size
    return inputs * places, outputs * places
