"""How are the dimensions of COO tensors reordered, added and cut?

Mirrors: aten/src/ATen/native/TensorShape.cpp (permute_sparse_coo, sparse_transpose_, unsqueeze_sparse, select_sparse,
    narrow_copy_sparse), aten/src/ATen/native/TensorAdvancedIndexing.cpp (index_select_sparse_cpu)
Differs: none of the results is a view of the tensor; PyTorch's transposition shares the values.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from glasstorch._tensor import Tensor, alias, wrap
from glasstorch.core.dtype import int64
from glasstorch.core.errors import DimensionError, ShapeError
from glasstorch.core.geometry import existing_dim, permutation, wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.made_of_others import missing
from glasstorch.kernels.sparse.tensors import KNOWN, SPARSE, coo, coo_of, parts, set_parts
from glasstorch.operators.direct import on_tensor

_view_as_real = on_tensor("view_as_real")


@SPARSE.impl("transpose.int")
def transpose(keys: int, self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two sparse dimensions swapped."""
    order = swapped(self, dim0, dim1)
    return alias(self) if order is None else reordered(self, order, coalesced=not parts(self).nnz)


def swapped(self: Tensor, dim0: int, dim1: int) -> list[int] | None:
    """The order of dimensions in which two sparse ones have changed places; None if they are one."""
    rank = len(self._shape)
    first, second = wrap_dim(dim0, rank), wrap_dim(dim1, rank)
    if first == second:
        return None
    held = parts(self)
    if max(first, second) >= held.sparse_dim:
        raise ShapeError(
            f"sparse transpose: transposed dimensions must be sparse Got sparse_dim: {held.sparse_dim}, d0: {first}, "
            f"d1: {second}"
        )
    order = list(range(rank))
    order[first], order[second] = second, first
    return order


def reordered(self: Tensor, order: Sequence[int], coalesced: bool) -> Tensor:
    """The dimensions in another order, sparse ones first."""
    held = parts(self)
    split = held.sparse_dim
    values = held.values.permute([0, *(d - split + 1 for d in order[split:])]) if held.dense_dim else held.values
    indices = np.ascontiguousarray(held.indices.array()[list(order[:split])])
    shape = tuple(self._shape[d] for d in order)
    return coo(wrap(indices, int64), values, shape, coalesced)


@SPARSE.impl("t")
def t(keys: int, self: Tensor) -> Tensor:
    """A matrix with its dimensions swapped."""
    check_matrix(self)
    return transpose(keys, self, 0, 1) if len(self._shape) == 2 else alias(self)


def check_matrix(self: Tensor) -> None:
    """Refuse more than two dimensions, and dense ones."""
    if len(self._shape) > 2 or parts(self).sparse_dim > 2 or parts(self).dense_dim:
        held = parts(self)
        raise ShapeError(
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {held.sparse_dim} sparse and "
            f"{held.dense_dim} dense dimensions"
        )


@SPARSE.impl("permute")
def permute(keys: int, self: Tensor, dims: Sequence[int]) -> Tensor:
    """The dimensions in another order, sparse ones among themselves and dense ones among themselves."""
    order = permutation(tuple(dims), len(self._shape))
    held = parts(self)
    split = held.sparse_dim
    if list(order) == list(range(len(order))):
        return alias(self)
    if any(d >= split for d in order[:split]):
        raise ShapeError(
            "permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed.Only "
            "transpositions within sparse and dense dimensions are supported."
        )
    in_order = list(order[:split]) == list(range(split))
    return reordered(self, order, held.coalesced and in_order)


@SPARSE.impl("transpose_", "t_")
def transpose_(keys: int, self: Tensor, *dims: int) -> Tensor:
    """The same in place."""
    seen = transpose(keys, self, *dims) if dims else t(keys, self)
    held = parts(seen)
    return set_parts(self, held.indices, held.values, held.coalesced, seen._shape)


@SPARSE.impl("unsqueeze")
def unsqueeze(keys: int, self: Tensor, dim: int) -> Tensor:
    """A dimension of one element more: a sparse one where it does not come after a dense one."""
    dim = wrap_dim(dim, len(self._shape) + 1)
    held = parts(self)
    shape = (*self._shape[:dim], 1, *self._shape[dim:])
    if dim <= held.sparse_dim:
        indices = np.insert(held.indices.array(), dim, 0, axis=0)
        return coo_of(indices, held.values.clone(), shape, self.dtype, held.nnz < KNOWN)
    values = held.values.unsqueeze(dim - held.sparse_dim + 1)
    return coo(held.indices.clone(), values, shape, held.nnz < KNOWN)


@SPARSE.impl("view_as_real")
def view_as_real(keys: int, self: Tensor) -> Tensor:
    """Complex numbers as pairs: a dense dimension more."""
    held = parts(self)
    pairs = _view_as_real(held.values)
    return coo(held.indices, pairs, (*self._shape, 2), held.coalesced)


@SPARSE.impl("expand")
def expand(keys: int, self: Tensor, size: Sequence[int], implicit: bool) -> Tensor:
    """Refused: nothing can be repeated without memory."""
    raise ShapeError("expand is unsupported for Sparse tensors")


@SPARSE.impl("select.int")
def select(keys: int, self: Tensor, dim: int, index: int) -> Tensor:
    """The elements at an index of a dimension; strided if no sparse dimension is left."""
    rank = len(self._shape)
    if not rank:
        raise DimensionError("select() cannot be applied to a 0-dim tensor.")
    dim = existing_dim(dim, rank)
    size = self._shape[dim]
    if not -size <= index < size:
        raise DimensionError(
            f"select(): index {index} out of range for tensor of size {list(self._shape)} at dimension {dim}"
        )
    index %= size
    held = parts(self)
    shape = self._shape[:dim] + self._shape[dim + 1 :]
    if dim >= held.sparse_dim:
        values = held.values.select(dim - held.sparse_dim + 1, index)
        return coo(held.indices.clone(), values.clone(), shape, held.nnz < KNOWN)
    indices = held.indices.array()
    chosen = indices[dim] == index
    values = wrap(held.values.array()[chosen], self.dtype)
    if held.sparse_dim == 1:
        return values.sum(0).to(self.dtype)
    return coo_of(np.delete(indices[:, chosen], dim, 0), values, shape, self.dtype, values._shape[0] < KNOWN)


@SPARSE.impl("unbind.int")
def unbind(keys: int, self: Tensor, dim: int) -> tuple[Tensor, ...]:
    """The elements at each index of a dimension."""
    dim = existing_dim(dim, len(self._shape))
    return tuple(select(keys, self, dim, i) for i in range(self._shape[dim]))


@SPARSE.impl("narrow_copy")
def narrow_copy(keys: int, self: Tensor, dim: int, start: int, length: int) -> Tensor:
    """The elements at some indices of a dimension that follow each other."""
    dim = existing_dim(dim, len(self._shape))
    size = self._shape[dim]
    if length < 0 or not 0 <= start <= size - length:
        raise ShapeError(f"Invalid range to narrow. range(start, start+length) must be a subset of range(0, {size}).")
    held = parts(self)
    shape = (*self._shape[:dim], length, *self._shape[dim + 1 :])
    if dim >= held.sparse_dim:
        values = held.values.narrow(dim - held.sparse_dim + 1, start, length)
        return coo(held.indices.clone(), values.clone(), shape, held.coalesced)
    indices = held.indices.array()
    chosen = (indices[dim] >= start) & (indices[dim] < start + length)
    moved = indices[:, chosen]
    moved[dim] -= start
    return coo_of(moved, held.values.array()[chosen], shape, self.dtype, held.coalesced)


def joined_places(places: Array, wanted: Array) -> tuple[Array, Array]:
    """For each pair of equal numbers in two vectors, their positions, in the order of the second vector."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    low, high = np.searchsorted(ordered, wanted), np.searchsorted(ordered, wanted, "right")
    counts = high - low
    ours = np.repeat(low - np.concatenate(([0], np.cumsum(counts)[:-1])), counts) + np.arange(counts.sum())
    return order[ours], np.repeat(np.arange(len(wanted)), counts)


@SPARSE.impl("as_strided_")
def as_strided_(keys: int, self: Tensor, *geometry: object) -> Tensor:
    """Refused: there is no storage to be read in another way."""
    raise missing("as_strided_", self)
