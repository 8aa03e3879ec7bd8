"""What do the formulas of derivatives.yaml call for reductions, scans and norms?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (sum_backward, prod_backward, var_backward, std_backward,
    logsumexp_backward, evenly_distribute_backward, scale_grad_by_count, aminmax_backward, cumprod_backward,
    reversed_cumsum, logcumsumexp_backward, renorm_backward), aten/src/ATen/native/ReduceOps.cpp (cummaxmin_backward)
Differs: nothing in substance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.autograd.formulas_linalg import norm_backward
from glasstorch.autograd.modes import grad_mode
from glasstorch.core.dtype import (
    Number,
    RealNumber,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
)
from glasstorch.core.geometry import Shape, wrap_dim, wrap_dims
from glasstorch.core.hooks import decides
from glasstorch.core.type_info import finfo
from glasstorch.operators.generated.functions import (
    cat,
    eq,
    exp,
    gt,
    isnan,
    linalg_vector_norm,
    log,
    lt,
    ne,
    ones_like,
    where,
)

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# In what PyTorch adds up on the CPU (toAccumulateType in aten/src/ATen/AccumulateType.h).
ACCUMULATED_IN = {float32: float64, float16: float32, bfloat16: float32, complex64: complex128}

# Reductions -----------------------------------------------------------------------------------------------------


def numel(shape: Shape) -> int:
    """The number of elements of a shape."""
    return math.prod(shape)


def expand_reduced(grad: Tensor, shape: Shape, dim: Sequence[int] | None, keepdim: bool) -> Tensor:
    """The gradient of a reduction over dimensions, repeated along them. (PyTorch: sum_backward)"""
    return restore_reduced(grad, shape, dim, keepdim).expand(shape)


def restore_reduced(tensor: Tensor, shape: Shape, dim: Any, keepdim: bool) -> Tensor:
    """A reduced tensor with the dimensions that it lost put back as size 1."""
    if keepdim or not shape:
        return tensor
    dims = [dim] if isinstance(dim, int) else dim
    for d in sorted(wrap_dims(dims, len(shape)) if dims else range(len(shape))):
        tensor = tensor.unsqueeze(d)
    return tensor


def reduced_numel(shape: Shape, dim: Sequence[int] | None) -> int:
    """How many elements go into one result of a reduction."""
    if not dim or not shape:
        return math.prod(shape)
    return math.prod(shape[d] for d in wrap_dims(dim, len(shape)))


def prod_backward(grad: Tensor, self: Tensor) -> Tensor:
    """The product of all other elements, found without dividing by one that may be 0."""
    if not self.shape:
        return grad
    return (grad * _product_of_others(self.reshape(-1), 0).conj()).reshape(self.shape)


def prod_dim_backward(grad: Tensor, self: Tensor, dim: int, keepdim: bool) -> Tensor:
    """As `prod_backward`, along one dimension."""
    if not self.shape:
        return grad
    return restore_reduced(grad, self.shape, dim, keepdim) * _product_of_others(self, dim).conj()


def _product_of_others(self: Tensor, dim: int) -> Tensor:
    """For each element the product of those before it and of those behind it. (PyTorch: prod_safe_zeros_backward)"""
    if self.shape[dim] == 0:
        return self
    one = ones_like(self.narrow(dim, 0, 1))
    before = cat([one, self.narrow(dim, 0, self.shape[dim] - 1)], dim).cumprod(dim)
    behind = cat([one, self.narrow(dim, 1, self.shape[dim] - 1).flip(dim)], dim).cumprod(dim).flip(dim)
    return before * behind


def cumprod_backward(grad: Tensor, self: Tensor, dim: int, result: Tensor) -> Tensor:
    """Element k is a factor of the results from k on; what it is multiplied with there may not be divided out of 0.

    Where no gradient of this gradient is wanted, it is found in passes over the lines, however many zeros they hold.
    """
    if not self.shape or not self.numel():
        return grad
    if not decides(self) or not bool(eq(self, 0).any()):
        return _from_here_on(grad * result.conj(), dim) / self.conj()
    if not grad_mode.get():
        return _cumprod_backward_at_zeros(grad, self, dim, result)
    size = self.shape[dim]
    parts = []
    for k in range(size):
        before = self.narrow(dim, 0, k).prod(dim, True)
        behind = cat([ones_like(self.narrow(dim, 0, 1)), self.narrow(dim, k + 1, size - k - 1)], dim).cumprod(dim)
        parts.append((grad.narrow(dim, k, size - k) * behind.conj()).sum(dim, True) * before.conj())
    return cat(parts, dim)


def _cumprod_backward_at_zeros(grad: Tensor, self: Tensor, dim: int, result: Tensor) -> Tensor:
    """In front of the first zero of a line as if the line ended there; behind it nothing; at it, as if it were 1.

    Treats the zero as a constant: derivatives of this are not those of the gradient.
    """
    zero = eq(self, 0)
    zeros = zero.cumsum(dim)
    before, from_first_on = eq(zeros, 0), eq(zeros, 1)
    first = zero & from_first_on
    factors = self.conj()
    ahead = _from_here_on(where(before, grad * result.conj(), 0), dim) / where(before, factors, 1)
    behind = where(from_first_on & ~first, factors, 1).cumprod(dim)
    at_first = where(from_first_on, grad * behind, 0).sum(dim, True) * where(before, factors, 1).prod(dim, True)
    return where(before, ahead, where(first, at_first, 0))


def _from_here_on(tensor: Tensor, dim: int) -> Tensor:
    """For each element the sum of it and of those behind it. (PyTorch: reversed_cumsum)"""
    return tensor.flip(dim).cumsum(dim).flip(dim)


def var_backward(grad: Tensor, self: Tensor, dim: Any, correction: RealNumber | None, keepdim: bool) -> Tensor:
    """Twice the distance from the mean, divided as the variance is.

    Without degrees of freedom, and over everything, infinite: PyTorch gives it no sign there.
    """
    degrees = reduced_numel(self.shape, dim) - (1 if correction is None else correction)
    grad, mean = restore_reduced(grad, self.shape, dim, keepdim), self.mean(dim or None, True)
    if degrees <= 0 and (dim is None or not self.shape):
        return grad * where(eq(self, mean), math.nan, math.inf)
    return grad * (2 / degrees if degrees else math.inf) * (self - mean)


def std_backward(
    result: Tensor, grad: Tensor, self: Tensor, dim: Any, correction: RealNumber | None, keepdim: bool
) -> Tensor:
    """As `var_backward`; none where all elements are equal."""
    return var_backward(where(eq(result, 0), 0.0, grad / (result * 2)), self, dim, correction, keepdim)


def logsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    """The share that each exponential has in the sum."""
    grad, result = (restore_reduced(tensor, self.shape, dim, keepdim) for tensor in (grad, result))
    return grad * exp(self - result).conj()


def evenly_distribute_backward(grad: Tensor, self: Tensor, result: Tensor) -> Tensor:
    """The gradient of an extremum over everything: shared by all elements that attain it, NaN among them."""
    mask = eq(self, result) | (ne(self, self) & ne(result, result))
    return mask * (grad / mask.sum())


def extremum_dims_backward(grad: Tensor, self: Tensor, result: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    """As `evenly_distribute_backward`, over some dimensions. (PyTorch: scale_grad_by_count)"""
    shape = self._shape
    mask = eq(self, restore_reduced(result, shape, dim, keepdim)).to(grad.dtype)
    count = mask.sum(list(dim), keepdim=True) if shape else mask
    return restore_reduced(grad, shape, dim, keepdim) * mask / count


def value_selecting_backward(grad: Tensor, dim: int, indices: Tensor, shape: Shape, keepdim: bool) -> Tensor:
    """The gradient of an operator that picks one element along a dimension: it goes to the element picked."""
    if not keepdim and shape:
        grad, indices = grad.unsqueeze(dim), indices.unsqueeze(dim)
    return grad.new_zeros(shape).scatter(dim, indices, grad)


# Scans ----------------------------------------------------------------------------------------------------------


def running_extremum_backward(grad: Tensor, dim: int, indices: Tensor, shape: Shape) -> Tensor:
    """Each element receives the gradients of the results that it is."""
    return grad.new_zeros(shape).scatter_add(dim, indices, grad)


def logcumsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim: int) -> Tensor:
    """The shares of an exponential in all sums from its place on, themselves added up as logarithms."""
    if not grad.shape or not grad.numel():
        return grad

    def from_the_end(x: Tensor) -> Tensor:
        return x.flip(dim).logcumsumexp(dim).flip(dim)

    if grad.dtype.is_complex:
        shares: Tensor = exp(from_the_end(log(grad.conj()) - result) + self)
        return shares.conj()
    nothing = finfo(grad.dtype).min
    rising = log(grad).masked_fill(gt(grad, 0).logical_not(), nothing)
    falling = log(-grad).masked_fill(lt(grad, 0).logical_not(), nothing)
    return exp(from_the_end(rising - result) + self) - exp(from_the_end(falling - result) + self)


# Extrema --------------------------------------------------------------------------------------------------------


def aminmax_backward(
    grads: Sequence[Any], self: Tensor, dim: int | None, keepdim: bool, min: Tensor, max: Tensor
) -> Tensor | None:
    """The gradient of each extremum, shared by all elements that attain it."""
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
    """The gradient of a sum, and 0 for NaN."""
    return restore_reduced(grad, self.shape, dim, keepdim).to(self.dtype).expand(self.shape) * isnan(self).logical_not()


def var_mean_backward(
    grads: Sequence[Any], self: Tensor, dim: Any, correction: RealNumber | None, keepdim: bool
) -> Tensor | None:
    """The gradients of a variance and of the mean, added where both are wanted."""
    grad, grad_mean = grads
    variance = None if grad is None else var_backward(grad, self, dim, correction, keepdim)
    return _with_mean(variance, grad_mean, self.shape, dim, keepdim)


def std_mean_backward(
    grads: Sequence[Any], self: Tensor, dim: Any, correction: RealNumber | None, keepdim: bool, result0: Tensor
) -> Tensor | None:
    """As `var_mean_backward`, of the root of the variance."""
    grad, grad_mean = grads
    deviation = None if grad is None else std_backward(result0, grad, self, dim, correction, keepdim)
    return _with_mean(deviation, grad_mean, self.shape, dim, keepdim)


def _with_mean(total: Tensor | None, grad_mean: Tensor | None, shape: Shape, dim: Any, keepdim: bool) -> Tensor | None:
    if grad_mean is None:
        return total
    mean = expand_reduced(grad_mean, shape, dim, keepdim) / reduced_numel(shape, dim)
    return mean if total is None else total + mean


# Norms ----------------------------------------------------------------------------------------------------------


def dist_backward(grad: Tensor, self: Tensor, other: Tensor, p: Number, result: Tensor) -> Tensor | None:
    """The gradient of the norm of the difference; for `other`, with the two in the other order."""
    return norm_backward(grad, self - other, p, None, False, result)


def renorm_backward(grad: Tensor, self: Tensor, p: Number, dim: int, maxnorm: RealNumber) -> Tensor:
    """Where a part was made shorter, its direction and its length both matter."""
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
