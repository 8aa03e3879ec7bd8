"""How is a sparse tensor taken apart, coalesced, and turned into a strided one and back?

Mirrors: aten/src/ATen/native/sparse/SparseTensor.cpp, aten/src/ATen/native/TensorConversions.cpp
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import dtype, int64
from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.sparse import tensors
from glasstorch.kernels.sparse.tensors import SPARSE, SPARSE_META, coalesced, coo, coo_of, empty_coo, flat_places, parts

CPU = KernelTable("CPU", calls_operators=True)

# Its parts --------------------------------------------------------------------------------------------------------


@SPARSE_META.impl("sparse_dim", "_dimI")
@SPARSE.impl("sparse_dim", "_dimI")
def sparse_dim(keys: int, self: Tensor) -> int:
    """How many dimensions the indices run over."""
    return parts(self).sparse_dim


@SPARSE_META.impl("dense_dim", "_dimV")
@SPARSE.impl("dense_dim", "_dimV")
def dense_dim(keys: int, self: Tensor) -> int:
    """How many dimensions each element has."""
    return parts(self).dense_dim


@SPARSE_META.impl("_nnz")
@SPARSE.impl("_nnz")
def nnz(keys: int, self: Tensor) -> int:
    """How many elements are specified."""
    return parts(self).nnz


@SPARSE_META.impl("is_coalesced")
@SPARSE.impl("is_coalesced")
def is_coalesced(keys: int, self: Tensor) -> bool:
    """Whether no place occurs twice and places are in order."""
    return parts(self).coalesced


@SPARSE_META.impl("_coalesced_")
@SPARSE.impl("_coalesced_")
def set_coalesced(keys: int, self: Tensor, coalesced: bool) -> Tensor:
    """Believe the caller."""
    parts(self).coalesced = coalesced
    return self


@SPARSE_META.impl("_indices")
@SPARSE.impl("_indices")
def unchecked_indices(keys: int, self: Tensor) -> Tensor:
    """The indices, as an alias of the tensor that is held."""
    return parts(self).indices.detach()


@SPARSE_META.impl("_values")
@SPARSE.impl("_values")
def unchecked_values(keys: int, self: Tensor) -> Tensor:
    """The values, as an alias of the tensor that is held."""
    return parts(self).values.detach()


@SPARSE_META.impl("indices")
@SPARSE.impl("indices")
def indices(keys: int, self: Tensor) -> Tensor:
    """As `_indices`, of a coalesced tensor only."""
    _check_coalesced("indices", self)
    return parts(self).indices.detach()


@SPARSE_META.impl("values")
@SPARSE.impl("values")
def values(keys: int, self: Tensor) -> Tensor:
    """As `_values`, of a coalesced tensor only."""
    _check_coalesced("values", self)
    return parts(self).values.detach()


def _check_coalesced(what: str, tensor: Tensor) -> None:
    if not parts(tensor).coalesced:
        raise ArgumentError(f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first")


@SPARSE.impl("_coalesce")
def coalesce(keys: int, self: Tensor) -> Tensor:
    """Values of the same place added up."""
    return tensors.coalesce(self)


# Strided and back -------------------------------------------------------------------------------------------------


@SPARSE.impl("_to_dense")
def to_dense(keys: int, self: Tensor, dtype: dtype | None, masked_grad: bool | None) -> Tensor:
    """Zeros, and the values added where their indices say."""
    if dtype is not None:
        raise ArgumentError("dtype argument is not supported by sparse_to_dense")
    held = parts(coalesced(self))
    dense = np.zeros(self._shape, self.dtype.numpy)
    if held.values.numel():
        dense[tuple(held.indices.array())] = held.values.array() if held.sparse_dim else held.values.array()[0]
    return wrap(dense, self.dtype)


@CPU.impl("_to_sparse.sparse_dim")
def dense_to_coo(keys: int, self: Tensor, sparse_dim: int) -> Tensor:
    """The elements that are not 0; of those with dense dimensions, each of which a part is not 0."""
    rank = len(self._shape)
    if not 0 <= sparse_dim <= rank:
        raise ShapeError(f"dense_to_sparse: sparse_dim argument must be in [0,{rank}] range, but {sparse_dim} is given")
    if rank and not sparse_dim:
        raise ShapeError("dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    array = self.array()
    if not rank:
        count = int(array != 0)
        return coo_of(np.empty((0, count), np.int64), array.reshape(1)[:count].copy(), (), self.dtype, True)
    specified = array != 0
    if sparse_dim < rank:
        specified = specified.any(tuple(range(sparse_dim, rank)))
    places = np.nonzero(specified)
    return coo_of(np.stack(places), array[places], self._shape, self.dtype, True)


@SPARSE.impl("_to_sparse.sparse_dim")
def coo_to_coo(keys: int, self: Tensor, sparse_dim: int) -> Tensor:
    """Only of as many sparse dimensions as there are."""
    raise ArgumentError(
        "sparse_coo_to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is not "
        "supported"
    )


@SPARSE.impl("sparse_mask")
def sparse_mask(keys: int, self: Tensor, mask: Tensor) -> Tensor:
    """The elements at the places that the mask specifies; 0 where a sparse tensor specifies none."""
    if self._shape != mask._shape:
        raise ShapeError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self._shape)} but mask has size "
            f"{list(mask._shape)}"
        )
    if not mask.is_sparse:
        raise ArgumentError(f"sparse_mask(): Expected a sparse tensor as mask, got one of the layout {mask.layout}")
    held = parts(mask)
    if not mask.numel() or not held.nnz:
        return empty_coo(self._shape, held.sparse_dim, self.dtype)
    if not self.is_sparse:
        indices = held.indices.array()
        picked: Any = self.array()[tuple(indices)] if held.sparse_dim else self.array()[None].repeat(held.nnz, 0)
        return coo_of(indices.copy(), picked, self._shape, self.dtype, held.coalesced)
    if self is mask:
        return self
    return projected(self, mask)


def projected(self: Tensor, mask: Tensor) -> Tensor:
    """The elements of one COO tensor at the places of another."""
    ours, theirs = parts(coalesced(self)), parts(mask)
    if ours.sparse_dim != theirs.sparse_dim:
        raise ShapeError(
            "sparse_mask(): the number of sparse dimensions of self and of mask must match, got "
            f"{ours.sparse_dim} and {theirs.sparse_dim}"
        )
    wanted = theirs.indices.array()
    at, found = where_found(flat_places(ours.indices.array(), self._shape), flat_places(wanted, self._shape))
    values = np.zeros(theirs.values._shape, self.dtype.numpy)
    values[found] = ours.values.array()[at[found]]
    return coo(wrap(wanted.copy(), int64), wrap(values, self.dtype), self._shape, theirs.coalesced)


def where_found(places: Any, wanted: Any) -> tuple[Any, Any]:
    """The position of each wanted place among sorted ones, and whether it is there."""
    if not len(places):
        return np.zeros(len(wanted), np.int64), np.zeros(len(wanted), bool)
    at = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
    return at, places[at] == wanted
