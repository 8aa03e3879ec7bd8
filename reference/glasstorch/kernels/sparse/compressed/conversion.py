"""How is a tensor turned into one of a compressed layout, and from one into another?

Mirrors: aten/src/ATen/native/TensorConversions.cpp (dense_to_sparse_csr, coo_to_sparse_csr,
    sparse_compressed_to_sparse_csr, sparse_compressed_to_dense and those of the other layouts)
Differs: one function for each pair of kinds in place of one for each pair of layouts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import dtype
from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.core.layout import layout as Layout
from glasstorch.core.layout import sparse_bsc, sparse_bsr, sparse_coo, sparse_csc, sparse_csr, strided
from glasstorch.core.sparse_parts import BLOCKED, ROW_COMPRESSED
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.sparse.compressed.tensors import COMPRESSED, Places, built, parts, places_of
from glasstorch.kernels.sparse.sparse import dense_to_coo
from glasstorch.kernels.sparse.tensors import SPARSE, coalesced, coo_of
from glasstorch.kernels.sparse.tensors import parts as coo_parts
from glasstorch.operators.composite.sparse.coo import SAID, check_conversion

CPU = KernelTable("CPU", calls_operators=True)

Sizes = Sequence[int] | None

# From a strided tensor --------------------------------------------------------------------------------------------


def compressed_of_dense(self: Tensor, of: Layout, blocksize: Sizes, dense_dim: int | None) -> Tensor:
    """The elements that are not 0, or the blocks of which one is not."""
    said = f"to_{of.name}"
    batch_dim = len(self._shape) - 2 - (dense_dim or 0)
    batch = self._shape[:batch_dim]
    if 0 in batch:
        raise ShapeError(f"{said}: Expected product of batch dimensions to be non-zero.")
    blocks = in_blocks(self.array(), batch_dim, blocksize or (1, 1))  # (batch, rows, columns, *block, *dense)
    specified = (blocks != 0).any(tuple(range(3, blocks.ndim)))
    counts = specified.reshape((len(specified), -1)).sum(1)
    if (counts != counts[0]).any():
        raise ShapeError("Expect the same number of specified elements per batch.")
    if of in ROW_COMPRESSED:
        matrix, rows, columns = np.nonzero(specified)
    else:
        matrix, columns, rows = np.nonzero(specified.transpose(0, 2, 1))
    values = blocks[matrix, rows, columns]
    if of not in BLOCKED:
        values = values[:, 0, 0]
    return built(of, Places(matrix, rows, columns, values), batch, self._shape, self.dtype)


def in_blocks(array: Array, batch_dim: int, blocksize: Sequence[int]) -> Array:
    """An array seen as (matrices, rows of blocks, columns of blocks, *block, *dense sizes)."""
    high, wide = blocksize
    rows, columns = array.shape[batch_dim : batch_dim + 2]
    matrices = math.prod(array.shape[:batch_dim])
    split = array.reshape((matrices, rows // high, high, columns // wide, wide, *array.shape[batch_dim + 2 :]))
    return split.swapaxes(2, 3)


# From a COO tensor ------------------------------------------------------------------------------------------------


def compressed_of_coo(name: str, self: Tensor, of: Layout, blocksize: Sizes) -> Tensor:
    """A COO matrix in a compressed layout."""
    if coo_parts(self).sparse_dim != 2:
        raise ArgumentError(
            f"{name}: conversion from Sparse to {SAID[of.name]} for input tensors with sparse_dim()!=2 is not supported"
        )
    held = coo_parts(coalesced(self))
    rows, columns = held.indices.array()
    places = Places(np.zeros_like(rows), rows, columns, held.values.array())
    return built(of, blocked(places, blocksize, self._shape), (), self._shape, self.dtype)


def blocked(places: Places, blocksize: Sizes, shape: Sequence[int]) -> Places:
    """The places of the blocks in which elements of one matrix are; without a size of blocks, the elements' own."""
    if blocksize is None:
        return places
    high, wide = blocksize
    rows, columns = places.rows // high, places.columns // wide
    across = shape[1] // wide
    found, at = np.unique(rows * across + columns, return_inverse=True)
    values = np.zeros((len(found), high, wide, *places.values.shape[1:]), places.values.dtype)
    values[at.reshape(-1), places.rows % high, places.columns % wide] = places.values
    return Places(np.zeros_like(found), found // across, found % across, values)


# From a compressed tensor -----------------------------------------------------------------------------------------


def recompressed(name: str, self: Tensor, of: Layout, blocksize: Sizes) -> Tensor:
    """A tensor of a compressed layout in another one."""
    held = parts(self)
    if held.layout in BLOCKED and of not in BLOCKED:
        raise ArgumentError(
            f"sparse_compressed_to_{of.name}: expected SparseCsr or SparseCsc layout but got {SAID[held.layout.name]}"
        )
    places, index = places_of(self), held.plain.array().dtype
    if held.layout not in BLOCKED and of in BLOCKED:
        if held.batch_dim:
            raise ArgumentError(
                f"{name}: conversion from {SAID[held.layout.name]} to {SAID[of.name]} for batched inputs is not "
                "supported"
            )
        places = blocked(places, blocksize, self._shape)
    return built(of, places, self._shape[: held.batch_dim], self._shape, self.dtype, index)


@COMPRESSED.impl("_to_dense")
def to_dense(keys: int, self: Tensor, dtype: dtype | None, masked_grad: bool | None) -> Tensor:
    """Zeros, and the elements where their indices say."""
    if dtype is not None:
        raise ArgumentError("dtype argument is not supported by sparse_csr_to_dense")
    held, places = parts(self), places_of(self)
    dense = np.zeros(self._shape, self.dtype.numpy)
    blocks = in_blocks(dense, held.batch_dim, held.blocksize or (1, 1))
    if places.values.size:
        blocks[places.batch, places.rows, places.columns] = (
            places.values if held.layout in BLOCKED else places.values[:, None, None]
        )
    return wrap(dense, self.dtype)


def coo_of_compressed(self: Tensor) -> Tensor:
    """A compressed tensor as a COO one, in which the batch's dimensions are sparse too.

    It is coalesced if it was CSR, or a matrix of BSR whose blocks are one row high; else it may not be in order.
    """
    held, places = parts(self), places_of(self)
    batch, rows, columns, values = places
    if held.layout in BLOCKED:
        high, wide = held.blocksize
        inner_rows, inner_columns = (one.reshape(-1) for one in np.indices((high, wide)))
        batch = np.repeat(batch, high * wide)
        rows = (rows[:, None] * high + inner_rows).reshape(-1)
        columns = (columns[:, None] * wide + inner_columns).reshape(-1)
        values = values.reshape((len(rows), *values.shape[3:]))
    outer = np.unravel_index(batch, self._shape[: held.batch_dim]) if held.batch_dim else ()
    indices = np.stack((*outer, rows, columns)).astype(np.int64, copy=False)
    values = values.copy() if values.base is not None else values
    by_row = held.layout is sparse_csr or (held.layout is sparse_bsr and held.blocksize[0] == 1 and not held.batch_dim)
    is_coalesced = by_row or held.nnz == 1 or not self.numel()
    return coo_of(indices, values, self._shape, self.dtype, is_coalesced)


# Registered for each layout ---------------------------------------------------------------------------------------


def compressed_of(name: str, self: Tensor, of: Layout, blocksize: Sizes, dense_dim: int | None) -> Tensor:
    """A tensor of any layout in a compressed one."""
    if self.layout is strided:
        return compressed_of_dense(self, of, blocksize, dense_dim)
    return compressed_of_coo(name, self, of, blocksize) if self.is_sparse else recompressed(name, self, of, blocksize)


def register(of: Layout) -> None:
    """Register the conversions to a layout from all others."""
    said = f"to_{of.name}"

    def kernel(name: str) -> Any:
        def convert(keys: int, self: Tensor, *options: Any) -> Tensor:
            *sizes, dense_dim = options
            blocksize = tuple(sizes[0]) if sizes else None
            check_conversion(name, self, of, blocksize, dense_dim)
            return compressed_of(name, self, of, blocksize, dense_dim)

        return convert

    for table, kind in ((CPU, "dense"), (SPARSE, "coo"), (COMPRESSED, "sparse_compressed")):
        table.add(f"_{said}", kernel(f"{kind}_{said}"))


for _layout in (sparse_csr, sparse_csc, sparse_bsr, sparse_bsc):
    register(_layout)


# To whichever layout ----------------------------------------------------------------------------------------------


@CPU.impl("_to_sparse")
def dense_to_sparse(keys: int, self: Tensor, layout: Layout | None, blocksize: Sizes, dense_dim: int | None) -> Tensor:
    """The elements that are not 0, in a sparse layout."""
    wanted = layout or sparse_coo
    check_conversion("dense_to_sparse", self, wanted, blocksize, dense_dim)
    if wanted is strided:
        return self
    if wanted is sparse_coo:
        return dense_to_coo(keys, self, len(self._shape) - (dense_dim or 0))
    return compressed_of_dense(self, wanted, blocksize, dense_dim)


@SPARSE.impl("_to_sparse")
def coo_to_sparse(keys: int, self: Tensor, layout: Layout | None, blocksize: Sizes, dense_dim: int | None) -> Tensor:
    """A COO tensor in another layout."""
    wanted = layout or sparse_coo
    check_conversion("sparse_coo_to_sparse", self, wanted, blocksize, dense_dim)
    if wanted is strided:
        return self.to_dense()
    return self if wanted is sparse_coo else compressed_of_coo(f"coo_to_{wanted.name}", self, wanted, blocksize)


@COMPRESSED.impl("_to_sparse")
def compressed_to_sparse(
    keys: int, self: Tensor, layout: Layout | None, blocksize: Sizes, dense_dim: int | None
) -> Tensor:
    """A compressed tensor in another layout."""
    wanted = layout or sparse_coo
    check_conversion("sparse_compressed_to_sparse", self, wanted, blocksize, dense_dim)
    if wanted is strided:
        return self.to_dense()
    if wanted is sparse_coo:
        return coo_of_compressed(self)
    return recompressed(f"sparse_compressed_to_{wanted.name}", self, wanted, blocksize)


@COMPRESSED.impl("_to_sparse.sparse_dim")
def compressed_to_coo(keys: int, self: Tensor, sparse_dim: int) -> Tensor:
    """As a COO tensor; only of as many sparse dimensions as there are."""
    ours = len(self._shape) - parts(self).dense_dim
    if sparse_dim != ours:
        raise ArgumentError(
            f"sparse_compressed_to_sparse: conversion from {SAID[self.layout.name]} to Sparse with sparse_dim argument "
            f"!={ours} is not supported"
        )
    return coo_of_compressed(self)
