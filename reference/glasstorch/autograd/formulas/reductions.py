"""Which helpers do the formulas of reductions call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (sum_backward, prod_backward, var_backward, std_backward,
    logsumexp_backward, scale_grad_by_count, aminmax_backward)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import RealNumber, bfloat16, complex64, complex128, float16, float32, float64
from glasstorch.core.geometry import Shape, wrap_dims
from glasstorch.operators.generated.functions import cat, eq, exp, isnan, nan_to_num, ne, ones_like, where

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# The types in which PyTorch accumulates on the CPU (toAccumulateType in aten/src/ATen/AccumulateType.h).
ACCUMULATED_IN = {float32: float64, float16: float32, bfloat16: float32, complex64: complex128}

# Reductions -----------------------------------------------------------------------------------------------------


def restore_reduced(tensor: Tensor, shape: Shape, dim: Any, keepdim: bool) -> Tensor:
    """A reduced tensor with its reduced dimensions restored as size 1."""
    if keepdim or not shape:
        return tensor
    dims = [dim] if isinstance(dim, int) else dim
    for d in sorted(wrap_dims(dims, len(shape)) if dims else range(len(shape))):
        tensor = tensor.unsqueeze(d)
    return tensor


def expand_reduced(grad: Tensor, shape: Shape, dim: Sequence[int] | None, keepdim: bool) -> Tensor:
    """The gradient of a reduction over dimensions, expanded along them. (PyTorch: sum_backward)"""
    return restore_reduced(grad, shape, dim, keepdim).expand(shape)


def mean_dim_backward(grad: Tensor, shape: Shape, dim: Sequence[int] | None, numel: int, keepdim: bool) -> Tensor:
    """The gradient of each mean, in equal parts to the elements that it is of."""
    return expand_reduced(grad, shape, dim, keepdim) / (reduced_numel(shape, dim) if dim else numel)


def reduced_numel(shape: Shape, dim: Sequence[int] | None) -> int:
    """How many elements are reduced to one result."""
    if not dim or not shape:
        return math.prod(shape)
    return math.prod(shape[d] for d in wrap_dims(dim, len(shape)))


def prod_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """The product of all other elements, without dividing by one that may be 0."""
    if not self.shape:
        return grad
    return (grad * _product_of_others(self.reshape(-1), 0).conj()).reshape(self.shape)


def prod_dim_backward(grad: Tensor, self: Tensor, result: Tensor, dim: int, keepdim: bool) -> Tensor:
    """As `prod_backward`, along one dimension."""
    if not self.shape:
        return grad
    return restore_reduced(grad, self.shape, dim, keepdim) * _product_of_others(self, dim).conj()


def _product_of_others(self: Tensor, dim: int) -> Tensor:
    """For each element, the product of all before and all after it. (PyTorch: prod_safe_zeros_backward)"""
    if self.shape[dim] == 0:
        return self
    one = ones_like(self.narrow(dim, 0, 1))
    before = cat([one, self.narrow(dim, 0, self.shape[dim] - 1)], dim).cumprod(dim)
    behind = cat([one, self.narrow(dim, 1, self.shape[dim] - 1).flip(dim)], dim).cumprod(dim).flip(dim)
    return before * behind


def var_backward(grad: Tensor, self: Tensor, dim: Any, correction: RealNumber | None, keepdim: bool) -> Tensor:
    """Twice the difference from the mean, with the variance's divisor.

    Infinite without degrees of freedom; over all elements PyTorch's infinity has no sign.
    """
    degrees = reduced_numel(self.shape, dim) - (1 if correction is None else correction)
    grad, mean = restore_reduced(grad, self.shape, dim, keepdim), self.mean(dim or None, True)
    if degrees <= 0 and (dim is None or not self.shape):
        return grad * where(eq(self, mean), math.nan, math.inf)
    return grad * (2 / degrees if degrees else math.inf) * (self - mean)


def std_backward(
    result: Tensor, grad: Tensor, self: Tensor, dim: Any, correction: RealNumber | None, keepdim: bool
) -> Tensor:
    """As `var_backward`; 0 where all elements are equal."""
    return var_backward(where(eq(result, 0), 0.0, grad / (result * 2)), self, dim, correction, keepdim)


def logsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    """Each exponential's share of the sum."""
    grad, result = (restore_reduced(tensor, self.shape, dim, keepdim) for tensor in (grad, result))
    return grad * exp(self - result).conj()


def extremum_dims_backward(grad: Tensor, self: Tensor, result: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    """As `evenly_distribute_backward`, over some dimensions. (PyTorch: scale_grad_by_count)"""
    shape = self._shape
    mask = eq(self, restore_reduced(result, shape, dim, keepdim)).to(grad.dtype)
    count = mask.sum(list(dim), keepdim=True) if shape else mask
    return restore_reduced(grad, shape, dim, keepdim) * mask / count


# Extrema --------------------------------------------------------------------------------------------------------


def aminmax_backward(
    grads: Sequence[Any], self: Tensor, dim: int | None, keepdim: bool, min: Tensor, max: Tensor
) -> Tensor | None:
    """The gradient of each extremum, distributed evenly among the elements that attain it."""
    total = None
    dims = None if dim is None else [dim]
    for grad, extremum in zip(grads, (min, max), strict=True):
        if grad is not None:
            mask = eq(self, restore_reduced(extremum, self.shape, dims, keepdim)).to(grad.dtype)
            count = mask.sum(dims, keepdim=True) if self.shape else mask
            share = restore_reduced(grad, self.shape, dims, keepdim) * mask / count
            total = share if total is None else total + share
    return total


# Moments --------------------------------------------------------------------------------------------------------


def nansum_backward(grad: Tensor, self: Tensor, dim: Sequence[int] | None, keepdim: bool) -> Tensor:
    """The gradient of a sum; 0 for NaN elements."""
    return restore_reduced(grad, self.shape, dim, keepdim).to(self.dtype).expand(self.shape) * isnan(self).logical_not()


def var_mean_backward(
    grads: Sequence[Any], self: Tensor, dim: Any, correction: RealNumber | None, keepdim: bool
) -> Tensor | None:
    """The gradients of a variance and of the mean, added if both are needed."""
    grad, grad_mean = grads
    variance = None if grad is None else var_backward(grad, self, dim, correction, keepdim)
    return _with_mean(variance, grad_mean, self.shape, dim, keepdim)


def std_mean_backward(
    grads: Sequence[Any], self: Tensor, dim: Any, correction: RealNumber | None, keepdim: bool, result0: Tensor
) -> Tensor | None:
    """As `var_mean_backward`, for the standard deviation."""
    grad, grad_mean = grads
    deviation = None if grad is None else std_backward(result0, grad, self, dim, correction, keepdim)
    return _with_mean(deviation, grad_mean, self.shape, dim, keepdim)


def _with_mean(total: Tensor | None, grad_mean: Tensor | None, shape: Shape, dim: Any, keepdim: bool) -> Tensor | None:
    if grad_mean is None:
        return total
    mean = expand_reduced(grad_mean, shape, dim, keepdim) / reduced_numel(shape, dim)
    return mean if total is None else total + mean


def mean_at_extremum(tangent: Tensor, self: Tensor, result: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    """The mean of the tangents of the elements that attain an extremum over some dimensions; none stands for all."""
    dims = list(dim) or list(range(self.ndim))
    result = restore_reduced(result, self._shape, dims, keepdim)
    attains = eq(self, result) | (ne(self, self) & ne(result, result))
    return (attains * tangent).sum(dims, keepdim) / attains.sum(dims, keepdim)


def logsumexp_tangent(self: Tensor, self_t: Tensor, dim: Sequence[int], keepdim: bool, result: Tensor) -> Tensor:
    """The mean of the tangents, weighted by softmax."""
    weights = exp(self - restore_reduced(result, self._shape, dim, keepdim))
    return (nan_to_num(weights, 0.0) * self_t).sum(list(dim), keepdim)
