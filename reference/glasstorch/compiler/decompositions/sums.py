"""Of what are products of matrices and reductions made?

Mirrors: torch/_decomp/decompositions.py (addmm, addmv, mv, dot), torch/_refs/__init__.py (addr, all, logsumexp, nansum,
    std_mean, vdot, count_nonzero)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from glasstorch._tensor import Tensor
from glasstorch.compiler.decompositions.shared import cast, in_float32, wide
from glasstorch.compiler.decompositions.table import decomposes
from glasstorch.core.dtype import Number, bool_, dtype, float32, float64, get_default_dtype
from glasstorch.operators.generated import functions as f

Dims = Sequence[int]

# Matrices ---------------------------------------------------------------------------------------------------------


def _scaled(value: Tensor, factor: Number) -> Tensor:
    whole = not (value.dtype.is_floating_point or value.dtype.is_complex)
    return value if factor == 1 else value * (int(factor.real) if whole else factor)


def _added(self: Tensor, product: Tensor, beta: Number, alpha: Number) -> Tensor:
    product = _scaled(product, alpha)
    return product if beta == 0 else product + _scaled(self, beta)


@decomposes("addmm", core=False)
@in_float32
def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * self + alpha * (mat1 @ mat2)."""
    return _added(self, f.mm(mat1, mat2), beta, alpha)


@decomposes("addmv", core=False)
@in_float32
def addmv(self: Tensor, mat1: Tensor, vec: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """The same of a matrix and a vector."""
    return _added(self, f.mv(mat1, vec), beta, alpha)


@decomposes("baddbmm")
@in_float32
def baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """The same of batches of matrices."""
    return _added(self, f.bmm(batch1, batch2), beta, alpha)


@decomposes("addr")
def addr(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    """beta * self + alpha * outer(vec1, vec2)."""
    product = vec1.unsqueeze(1) * vec2.unsqueeze(0)
    if self.dtype is bool_:
        product = f.logical_and(product, f.full((), bool(alpha), dtype=bool_, device=self.device))
        return f.logical_or(self, product) if beta else product
    return alpha * product if beta == 0 else beta * self + alpha * product


@decomposes("mv")
@in_float32
def mv(self: Tensor, vec: Tensor) -> Tensor:
    """The sums of the rows times the vector."""
    return cast(f.sum(self * vec, [1]), self.dtype)


@decomposes("dot")
@in_float32
def dot(self: Tensor, tensor: Tensor) -> Tensor:
    """The sum of the products."""
    return cast(f.sum(self * tensor), self.dtype)


@decomposes("vdot")
def vdot(self: Tensor, other: Tensor) -> Tensor:
    """dot with the conjugate of the first."""
    return f.dot(f.conj(self).resolve_conj() if self.dtype.is_complex else self, other)


# Reductions -------------------------------------------------------------------------------------------------------


@decomposes("sum")
def sum_of_all(self: Tensor, *, dtype: dtype | None = None) -> Tensor:
    """Over all dimensions."""
    return f.sum(self, [], dtype=dtype)


@decomposes("all")
def all_of_all(self: Tensor) -> Tensor:
    """Not any false."""
    return cast(f.logical_not(f.any(f.logical_not(self))), _truth(self))


@decomposes("all.dim")
def all_of_dim(self: Tensor, dim: int, keepdim: bool = False) -> Tensor:
    """The same over a dimension."""
    return cast(f.logical_not(f.any(f.logical_not(self), dim, keepdim)), _truth(self))


@decomposes("all.dims")
def all_of_dims(self: Tensor, dim: Dims | None = None, keepdim: bool = False) -> Tensor:
    """The same over several dimensions."""
    return cast(f.logical_not(f.any(f.logical_not(self), dim, keepdim)), _truth(self))


def _truth(self: Tensor) -> dtype:
    return self.dtype if self.dtype.name == "uint8" else bool_


@decomposes("aminmax")
def aminmax(self: Tensor, *, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The least and the greatest."""
    dims = list(range(self.dim())) if dim is None else [dim]
    if dim is None and keepdim and not self.dim():
        keepdim = False
    return f.amin(self, dims, keepdim), f.amax(self, dims, keepdim)


@decomposes("count_nonzero.dim_IntList")
def count_nonzero_over(self: Tensor, dim: Dims) -> Tensor:
    """How many elements are not 0."""
    return f.sum(self != 0, dim)


@decomposes("count_nonzero")
def count_nonzero(self: Tensor, dim: int | None = None) -> Tensor:
    """The same over one dimension, or all."""
    return f.sum(self != 0, [] if dim is None else [dim])


@decomposes("nansum")
def nansum(self: Tensor, dim: Dims | None = None, keepdim: bool = False, *, dtype: dtype | None = None) -> Tensor:
    """The sum of what is a number."""
    return f.sum(f.where(f.isnan(self), 0, self), dim, keepdim, dtype=dtype)


@decomposes("logsumexp")
@in_float32
def logsumexp(self: Tensor, dim: Dims, keepdim: bool = False) -> Tensor:
    """log(sum(exp(x))), computed from the greatest element."""
    x = self if self.dtype.is_floating_point or self.dtype.is_complex else self.to(get_default_dtype())
    if not x.numel():
        return f.log(f.sum(f.exp(x), dim, keepdim))
    most = f.amax(f.real(x) if x.dtype.is_complex else x, dim, True)
    most = f.where(f.abs(most) == math.inf, 0, most)
    level = most if keepdim else f.squeeze(most, dim) if dim or not x.dim() else f.squeeze(most)
    return f.log(f.sum(f.exp(x - most), dim, keepdim)) + level


@decomposes("std.correction")
def std(self: Tensor, dim: Dims | None = None, *, correction: Number | None = None, keepdim: bool = False) -> Tensor:
    """The root of the variance."""
    return cast(f.sqrt(f.var(wide(self), dim, correction=correction, keepdim=keepdim)), _real(self))


@decomposes("std_mean.correction")
def std_mean(
    self: Tensor, dim: Dims | None = None, *, correction: Number | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """The deviation and the mean."""
    return f.std(self, dim, correction=correction, keepdim=keepdim), f.mean(self, dim, keepdim)


@decomposes("var_mean.correction", core=False)
def var_mean(
    self: Tensor, dim: Dims | None = None, *, correction: Number | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """The variance and the mean."""
    return f.var(self, dim, correction=correction, keepdim=keepdim), f.mean(self, dim, keepdim)


def _real(self: Tensor) -> dtype:
    return (float64 if self.dtype.name == "complex128" else float32) if self.dtype.is_complex else self.dtype


@decomposes("norm.Scalar")
def norm_of_all(self: Tensor, p: Number = 2) -> Tensor:
    """The norm of all elements as one vector."""
    return f.linalg_vector_norm(self, p)


@decomposes("norm.ScalarOpt_dim")
def norm_over(self: Tensor, p: Number | None, dim: Dims, keepdim: bool = False) -> Tensor:
    """The same over dimensions."""
    return f.linalg_vector_norm(self, 2 if p is None else p, dim, keepdim)


@decomposes("norm.ScalarOpt_dim_dtype")
def norm_over_as(self: Tensor, p: Number | None, dim: Dims, keepdim: bool, *, dtype: dtype) -> Tensor:
    """The same in another dtype."""
    return f.linalg_vector_norm(self, 2 if p is None else p, dim, keepdim, dtype=dtype)


@decomposes("norm.ScalarOpt_dtype")
def norm_of_all_as(self: Tensor, p: Number | None, *, dtype: dtype) -> Tensor:
    """The norm of all elements in another dtype."""
    return f.linalg_vector_norm(self, 2 if p is None else p, dtype=dtype)


@decomposes("renorm")
def renorm(self: Tensor, p: Number, dim: int, maxnorm: Number) -> Tensor:
    """Slices whose norm is too large are scaled down to it."""
    others = [i for i in range(self.dim()) if i != dim % self.dim()]
    norm = f.linalg_vector_norm(wide(self), p, others, True)
    factor = f.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1.0)
    return (self * cast(factor, self.dtype)).contiguous()
