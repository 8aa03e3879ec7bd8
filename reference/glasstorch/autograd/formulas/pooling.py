"""Which helpers do the formulas of pooling call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (max_pool_double_backward)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def at_maxima(grad: Tensor, indices: Tensor, dims: int) -> Tensor:
    """The elements that pooling took, in the shape of its result: `indices` are places in the last dimensions."""
    if not indices.numel():
        return grad.new_zeros(indices.shape)
    return grad.flatten(-dims).gather(-1, indices.flatten(-dims)).view(indices.shape)
