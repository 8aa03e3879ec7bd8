"""How is a product computed whose terms are averaged, or of which the largest is taken?

Mirrors: aten/src/ATen/native/sparse/SparseCsrTensorMath.cpp (_sparse_mm_reduce_impl_sparse_csr_cpu),
    aten/src/ATen/native/cpu/SpmmReduceKernel.cpp

A graph network asks for this: a row of the sparse matrix lists a node's neighbours, and the strided one has the
features of each. With "sum" it is the plain product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, empty, wrap
from glasstorch.core.dtype import dtype, int64
from glasstorch.core.errors import ArgumentError
from glasstorch.core.layout import sparse_csr
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.sparse.compressed.matmul import check_factors
from glasstorch.kernels.sparse.compressed.tensors import COMPRESSED, lines_of, parts, with_values
from glasstorch.operators.composite.sparse.coo import SAID

REDUCTIONS: dict[str, Any] = {"sum": np.add, "mean": np.add, "amax": np.maximum, "amin": np.minimum}


@COMPRESSED.impl("_sparse_mm_reduce_impl")
def reduced(keys: int, self: Tensor, other: Tensor, reduce: str) -> tuple[Tensor, Tensor]:
    """The product, and for "amax" and "amin" which element of the CSR matrix each element came from."""
    if reduce not in REDUCTIONS:
        raise ArgumentError(f"sparse_mm_reduce: reduce type of {reduce} has not been enabled.")
    if self.layout is not sparse_csr:
        raise ArgumentError(f"sparse_mm_reduce: expect self to be SparseCsr, got {SAID[self.layout.name]}")
    check_factors("sparse_mm_reduce", self, other)
    held = parts(self)
    terms = held.values.array()[:, None] * other.array()[held.plain.array()]  # (nnz, columns)
    lengths = np.diff(held.compressed.array())
    (rows,) = np.nonzero(lengths)
    starts = held.compressed.array()[rows]
    product = np.zeros((self._shape[0], other._shape[1]), self.dtype.numpy)
    if not len(rows):
        return wrap(product, self.dtype), empty((0,), int64)
    product[rows] = REDUCTIONS[reduce].reduceat(terms, starts, axis=0)
    if reduce == "mean":
        product[rows] /= lengths[rows, None]
    if reduce in ("sum", "mean"):
        return wrap(product, self.dtype), empty((0,), int64)
    nnz = held.nnz
    won = np.where(terms == product[lines_of(held)], np.arange(nnz)[:, None], nnz)
    first = np.full(product.shape, nnz)
    first[rows] = np.minimum.reduceat(won, starts, axis=0)
    return wrap(product, self.dtype), wrap(first, int64)


@COMPRESSED.impl("_sparse_mm_reduce_impl_backward")
def backward(
    keys: int,
    self: Tensor,
    grad_out: Tensor,
    weight: Tensor,
    reduce: str,
    arg_out: Tensor,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None]:
    """The gradients of the CSR matrix, at its own places, and of the strided one, `weight`."""
    held, grad, other = parts(self), grad_out.array(), weight.array()
    rows, columns, values = lines_of(held), held.plain.array(), held.values.array()
    if reduce in ("sum", "mean"):
        share = grad[rows]  # (nnz, columns)
        if reduce == "mean":
            share = share / np.diff(held.compressed.array())[rows, None]
        ours = (share * other[columns]).sum(1) if output_mask[0] else None
        theirs = _added(columns, share * values[:, None], other.shape) if output_mask[1] else None
    else:
        ours, theirs = _of_winners(arg_out, grad, columns, values, other)
    left = with_values(self, wrap(_as(ours, self.dtype), self.dtype)) if output_mask[0] else None
    return left, wrap(_as(theirs, weight.dtype), weight.dtype) if output_mask[1] else None


def _of_winners(arg_out: Tensor, grad: Array, columns: Array, values: Array, other: Array) -> tuple[Array, Array]:
    """The same where each element of the result came from one term."""
    ours, theirs = np.zeros(len(values), grad.dtype), np.zeros(other.shape, grad.dtype)
    if arg_out.numel():
        won = arg_out.array()
        row, column = np.nonzero(won < len(values))
        at = won[row, column]
        np.add.at(ours, at, grad[row, column] * other[columns[at], column])
        np.add.at(theirs, (columns[at], column), grad[row, column] * values[at])
    return ours, theirs


def _added(rows: Array, elements: Array, shape: tuple[int, ...]) -> Array:
    """The elements added up by rows."""
    result = np.zeros(shape, elements.dtype)
    np.add.at(result, rows, elements)
    return result


def _as(array: Array | None, to: dtype) -> Array:
    assert array is not None
    return np.ascontiguousarray(array.astype(to.numpy, copy=False))
