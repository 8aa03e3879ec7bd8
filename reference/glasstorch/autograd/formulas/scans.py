"""Which helpers do the formulas of cumulative sums, products and extrema call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (cumprod_backward, reversed_cumsum, logcumsumexp_backward),
    aten/src/ATen/native/ReduceOps.cpp (cummaxmin_backward)
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from glasstorch.autograd.modes import grad_mode
from glasstorch.core.hooks import decides
from glasstorch.core.type_info import finfo
from glasstorch.operators.generated.functions import cat, eq, exp, gt, log, lt, ones_like, where

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def cumprod_backward(grad: Tensor, self: Tensor, dim: int, result: Tensor) -> Tensor:
    """Element k is a factor of all results from k on; the other factors cannot be had by division if it is 0.

    Without double backward, a fixed number of passes suffices, whatever the number of zeros.
    """
    if not self.shape or not self.numel():
        return grad
    may_be_zero = bool(eq(self, 0).any()) if decides(self) else not self.is_meta  # unknown for a batch
    if not may_be_zero:
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
    """Before the first zero, as if the line ended there; after it, 0; at it, as if the zero were 1.

    It treats the zero as a constant: it must not be differentiated.
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
    """The reversed cumulative sum: each element plus all after it. (PyTorch: reversed_cumsum)"""
    return tensor.flip(dim).cumsum(dim).flip(dim)


def running_extremum_backward(grad: Tensor, self: Tensor, indices: Tensor, dim: int) -> Tensor:
    """Each element receives the gradients of the results that were taken from it."""
    return grad.new_zeros(self.shape).scatter_add(dim, indices, grad)


def logcumsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim: int) -> Tensor:
    """An exponential's share of all sums from its position on, accumulated as logarithms."""
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


def logcumsumexp_tangent(self: Tensor, self_t: Tensor, result: Tensor, dim: int) -> Tensor:
    """The tangents up to each position, weighted by their exponentials' shares of the sum: linear in the tangents.

    Sums of 1, 2, 4 ... positions are made of two each. A share is of a later sum, so that it is at most 1.
    """
    if not self.ndim or not self.numel():
        return self_t

    def share(of: Tensor, total: Tensor) -> Tensor:
        exponent = of - total
        return exp(exponent if exponent.dtype.is_complex else exponent.masked_fill(eq(of, -inf), -inf))

    size, length = self.shape[dim], 1
    sums: Tensor = share(self, result) * self_t
    while length < size:
        earlier = result.narrow(dim, 0, size - length), result.narrow(dim, length, size - length)
        added = sums.narrow(dim, 0, size - length) * share(*earlier)
        sums = cat([sums.narrow(dim, 0, length), sums.narrow(dim, length, size - length) + added], dim)
        length *= 2
    return sums
