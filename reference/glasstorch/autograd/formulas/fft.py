"""Which helpers do the formulas of Fourier transforms call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (fft_r2c_backward, fft_c2r_backward)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from glasstorch._tensor import from_array
from glasstorch.core.dtype import float64
from glasstorch.operators.generated.functions import _fft_c2c, _fft_r2c, constant_pad_nd

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def fft_r2c_backward(grad: Tensor, dim: Sequence[int], normalization: int, onesided: bool, self: Tensor) -> Tensor:
    """The inverse transform without the mirrored half, which the forward pass did not return."""
    last = dim[-1]
    if onesided and grad.shape[last] != self.shape[last]:
        padding = [0] * (2 * grad.dim())
        padding[2 * (grad.dim() - 1 - last) + 1] = self.shape[last] - grad.shape[last]
        grad = constant_pad_nd(grad, padding, 0)
    real: Tensor = _fft_c2c(grad, dim, normalization, False).real
    return real


def fft_c2r_backward(grad: Tensor, dim: Sequence[int], normalization: int) -> Tensor:
    """A point that stands for two mirrored ones receives the gradients of both."""
    half = _fft_r2c(grad, dim, normalization, True)
    last, size = dim[-1], half.shape[dim[-1]]
    doubled = grad.shape[last] - size
    weights = from_array(np.array([2.0 if 1 <= i <= doubled else 1.0 for i in range(size)]), float64)
    sizes = [size if d == last % grad.dim() else 1 for d in range(grad.dim())]
    return half * weights.to(grad.device, grad.dtype).reshape(sizes)
