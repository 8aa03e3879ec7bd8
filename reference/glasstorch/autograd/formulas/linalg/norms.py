"""Which helpers do the formulas of norms and traces call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (norm_backward, linalg_vector_norm_backward, renorm_backward,
    trace_backward)
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from glasstorch._tensor import from_array
from glasstorch.autograd.formulas.reductions import ACCUMULATED_IN
from glasstorch.core.dtype import Number, RealNumber, float64
from glasstorch.core.geometry import Shape, wrap_dim, wrap_dims
from glasstorch.operators.generated.functions import eq, gt, linalg_vector_norm, ne, where

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def norm_backward(grad: Tensor, self: Tensor, ord: Number, dim: Any, keepdim: bool, result: Tensor) -> Tensor | None:
    """Each element's share of the norm's gradient; 0 where the norm is 0, and everywhere for order 0."""
    order = float(ord.real)
    if not keepdim:
        for d in sorted(wrap_dims(dim, self.dim()) if dim else range(self.dim())):
            grad, result = grad.unsqueeze(d), result.unsqueeze(d)
    if order == 0:
        return None
    if order == 1:
        return self.sgn() * grad
    zero = eq(result, 0)
    if order == 2:
        return grad * where(zero, 0.0, self / result)  # its own gradient at 0 is NaN, as PyTorch's is
    if abs(order) == inf:
        size = self.abs()
        largest = eq(size, result) | ne(size, size)
        count = largest.sum(dim or list(range(self.dim())), True)
        return self.sgn() * (grad / count * largest)
    size = self.abs()
    scaled = self.sgn() * (where(eq(size, 0), 0.0, size.pow(order - 1)) if order < 2 else size.pow(order - 1))
    return grad * where(zero, 0.0, scaled / where(zero, 1.0, result).pow(order - 1))


def trace_backward(grad: Tensor, shape: Shape) -> Tensor:
    """The gradient on the diagonal."""
    return grad * from_array(np.eye(shape[0], shape[1]), float64).to(grad.device, grad.dtype)


def dist_backward(grad: Tensor, self: Tensor, other: Tensor, p: Number, result: Tensor) -> Tensor | None:
    """The gradient of the norm of the difference; for `other`, the two are swapped."""
    return norm_backward(grad, self - other, p, None, False, result)


def renorm_backward(grad: Tensor, self: Tensor, p: Number, dim: int, maxnorm: RealNumber) -> Tensor:
    """The gradient of slices that were scaled down, through their direction and their norm."""
    others = [d for d in range(self.dim()) if d != wrap_dim(dim, self.dim())]
    wide = ACCUMULATED_IN.get(self.dtype, self.dtype)
    norm = linalg_vector_norm(self, p, others, True, dtype=wide)
    along = self.conj() * grad
    along = (along.real if along.dtype.is_complex else along).sum(others, True, dtype=wide.to_real())
    back = norm_backward(along, self.to(wide), p, others, True, norm)  # abs() and norm in one precision
    assert back is not None, "renorm takes no order 0"
    inverse = (norm + 1e-7).reciprocal()
    shortened = maxnorm * inverse * (grad - inverse * back)
    return where(gt(norm, maxnorm), shortened.to(grad.dtype), grad)
