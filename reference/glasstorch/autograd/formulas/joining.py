"""Which helpers do the formulas of joining operators call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (cat_tensors_backward, block_diag_backward)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.geometry import Shape, wrap_dim

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def cat_backward(grad: Tensor, shapes: Sequence[Shape], dim: int) -> list[Tensor]:
    """The pieces of the gradient, one for each tensor joined."""
    result = []
    start = 0
    for shape in shapes:
        if shape == (0,):  # an empty vector, which cat skips; alone, it accepts any dimension
            result.append(grad.new_zeros((0,)))
            continue
        d = wrap_dim(dim, grad.dim())
        result.append(grad.narrow(d, start, shape[d]))
        start += shape[d]
    return result


def block_diag_backward(grad: Tensor, shapes: Sequence[Shape]) -> list[Tensor]:
    """The blocks of the gradient, one for each tensor on the diagonal."""
    result = []
    top = left = 0
    for shape in shapes:
        height, width = (1, *shape)[-2:] if shape else (1, 1)
        result.append(grad.narrow(0, top, height).narrow(1, left, width).reshape(shape))
        top, left = top + height, left + width
    return result
