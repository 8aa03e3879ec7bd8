"""How are COO tensors summed, over all dimensions or some?

Mirrors: aten/src/ATen/native/sparse/SparseTensorMath.cpp (sum_coo, sum_sparse_coo, _sparse_sum,
    _sparse_sum_backward_cpu, norm_sparse)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number, dtype
from glasstorch.core.errors import ArgumentError
from glasstorch.core.geometry import wrap_dim
from glasstorch.kernels.sparse.sparse import where_found
from glasstorch.kernels.sparse.tensors import SPARSE, coalesced, coo, coo_of, flat_places, parts

Dims = Sequence[int] | int | None


def dims_of(self: Tensor, dim: Dims) -> list[int]:
    """The dimensions that are meant, in order; all for None."""
    rank = len(self._shape)
    if dim is None:
        return list(range(rank))
    wrapped = [wrap_dim(d, rank) for d in ([dim] if isinstance(dim, int) else dim)]
    if len(set(wrapped)) != len(wrapped):
        raise ArgumentError(
            f"dim {next(d for d in wrapped if wrapped.count(d) > 1)} appears multiple times in the list of dims"
        )
    return sorted(wrapped)


def summed(self: Tensor, dims: Sequence[int], to: dtype | None, is_wide: bool = True) -> Tensor:
    """The sum over dimensions: a strided tensor if no sparse dimension is left.

    Integers are summed as int64 if `is_wide`; `torch.sparse.sum` keeps their dtype where sparse dimensions are left.
    """
    held = parts(self)
    sparse = [d for d in dims if d < held.sparse_dim]
    dense = [d - held.sparse_dim + 1 for d in dims if d >= held.sparse_dim]
    values = held.values
    if dense:
        values = values.sum(dense, dtype=to)
    elif to is not None:
        values = values.to(to)
    if len(sparse) == held.sparse_dim:
        return values.sum(0)
    shape = tuple(size for d, size in enumerate(self._shape) if d not in dims)
    if not sparse:
        return coo(held.indices.clone(), values.clone(), shape, held.coalesced)
    kept = [d for d in range(held.sparse_dim) if d not in sparse]
    if is_wide and not dense:
        values = _wide(values)
    return coalesced(coo_of(held.indices.array()[kept], values.clone(), shape, values.dtype, False))


def _wide(values: Tensor) -> Tensor:
    """Integers and bools as int64, in which they are summed."""
    return values.sum(()) if not values._shape else values.to(values[:0].sum(0).dtype)


@SPARSE.impl("sum")
def sum_all(keys: int, self: Tensor, dtype: dtype | None) -> Tensor:
    """The sum of all values."""
    return parts(self).values.sum(dtype=dtype)


@SPARSE.impl("sum.dim_IntList")
def sum_dims(keys: int, self: Tensor, dim: Dims, keepdim: bool, dtype: dtype | None) -> Tensor:
    """The sum over some dimensions, which may stay with one element each."""
    dims = dims_of(self, dim)
    result = summed(coalesced(self) if dims else self, dims, dtype)
    if keepdim:
        for d in dims:
            result = result.unsqueeze(d)
    return result


@SPARSE.impl("_sparse_sum.dim")
def sparse_sum(keys: int, self: Tensor, dim: Dims) -> Tensor:
    """As `sum`, whose gradient is sparse."""
    return summed(coalesced(self), dims_of(self, dim), None, is_wide=False)


@SPARSE.impl("_sparse_sum_backward")
def sparse_sum_backward(keys: int, grad: Tensor, self: Tensor, dim: Sequence[int]) -> Tensor:
    """The gradient at the specified places: that of the sum that each went into."""
    of = coalesced(self)
    held, dims = parts(of), dims_of(self, dim)
    indices = held.indices.array()
    split = held.sparse_dim
    kept = [d for d in range(split) if d not in dims]
    if not kept:
        values = grad.array()[None]
    else:
        given = parts(coalesced(grad))
        at, found = where_found(
            flat_places(given.indices.array(), grad._shape), flat_places(indices[kept], grad._shape)
        )
        values = np.zeros((held.nnz, *given.values._shape[1:]), grad.dtype.numpy)
        values[found] = given.values.array()[at[found]]
    for d in dims:
        if d >= split:
            values = np.expand_dims(values, d - split + 1)
    whole: Any = np.broadcast_to(values, held.values._shape)
    return coo_of(indices.copy(), whole, self._shape, grad.dtype, True)


@SPARSE.impl("native_norm", "norm.Scalar")
def norm(keys: int, self: Tensor, p: Number) -> Tensor:
    """The norm of all values as one vector."""
    return parts(coalesced(self)).values.norm(p)


@SPARSE.impl("native_norm.ScalarOpt_dim_dtype", "norm.ScalarOpt_dim_dtype")
def norm_dims(
    keys: int, self: Tensor, p: Number | None, dim: Sequence[int], keepdim: bool, dtype: dtype | None
) -> Tensor:
    """The same; only over all dimensions at once."""
    if len(dim) and len(dims_of(self, dim)) != len(self._shape):
        raise ArgumentError(
            "norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all "
            "dimensions of the input"
        )
    if keepdim:
        raise ArgumentError("norm_sparse currently does not support keepdim=True")
    if dtype is not None:
        raise ArgumentError("norm_sparse currently does not support 'dtype' argument")
    return norm(keys, self, 2 if p is None else p)


@SPARSE.impl("norm.ScalarOpt_dim")
def norm_some(keys: int, self: Tensor, p: Number | None, dim: Sequence[int], keepdim: bool) -> Tensor:
    """The same."""
    return norm_dims(keys, self, p, dim, keepdim, None)
