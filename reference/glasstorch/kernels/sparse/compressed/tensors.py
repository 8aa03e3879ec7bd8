"""How does a kernel make a tensor of a compressed layout, and read one?

Mirrors: aten/src/ATen/native/sparse/SparseCsrTensor.cpp, aten/src/ATen/SparseCsrTensorUtils.h
Differs: one form for all four layouts: where each element, or block, is (`Places`), from which any of them is built.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from glasstorch._tensor import Tensor, empty, made_of_parts, wrap
from glasstorch.core.device import CPU, device
from glasstorch.core.dtype import dtype, int32, int64
from glasstorch.core.geometry import Shape
from glasstorch.core.keys import SPARSE_CSR
from glasstorch.core.layout import layout
from glasstorch.core.sparse_parts import BLOCKED, ROW_COMPRESSED, CompressedParts
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.composite.sparse.compressed import expected_compressed

COMPRESSED = KernelTable("SparseCsrCPU", calls_operators=True)
COMPRESSED_META = KernelTable("SparseCsrMeta", calls_operators=True)


class Places(NamedTuple):
    """Where elements are: each has the number of its matrix in the batch, and its row and column there.

    Of the layouts with blocks these are rows and columns of blocks, `values` is (n, *block, *dense sizes).
    """

    batch: Array
    rows: Array
    columns: Array
    values: Array


def compressed(of: layout, compressed: Tensor, plain: Tensor, values: Tensor, shape: Shape) -> Tensor:
    """A tensor of a compressed layout that consists of these tensors."""
    return made_of_parts(values.dtype, shape, CompressedParts(of, compressed, plain, values), values.device)


def zeros(shape: Shape, dtype: dtype, on: device = CPU) -> Tensor:
    """A strided part of such a tensor, of zeros."""
    return wrap(np.zeros(shape, dtype.numpy), dtype) if on is CPU else empty(shape, dtype, on)


def parts(tensor: Tensor) -> CompressedParts:
    """What a tensor of a compressed layout consists of."""
    held = getattr(tensor, "_parts", None)
    if not isinstance(held, CompressedParts):
        raise expected_compressed("sparse_compressed", tensor.layout)
    return held


def is_compressed(tensor: Tensor) -> bool:
    """Whether a tensor has one of the compressed layouts."""
    return tensor.key_set & SPARSE_CSR != 0


def with_values(tensor: Tensor, values: Tensor) -> Tensor:
    """Other values at the same places, which are copied."""
    held = parts(tensor)
    return compressed(held.layout, held.compressed.clone(), held.plain.clone(), values, tensor._shape)


def set_parts(tensor: Tensor, other: Tensor) -> Tensor:
    """Let a tensor consist of what another one consists of, and have its sizes."""
    held, made = parts(tensor), parts(other)
    held.compressed, held.plain, held.values = made.compressed, made.plain, made.values
    tensor._shape, tensor._strides = other._shape, (0,) * len(other._shape)
    return tensor


def lines_of(held: CompressedParts) -> Array:
    """For each element its row, or its column where columns are compressed."""
    starts: Array = held.compressed.array()
    count = starts.shape[-1] - 1
    counts = np.diff(starts, axis=-1).reshape(-1)
    return np.repeat(np.tile(np.arange(count), counts.size // count if count else 0), counts)


def places_of(tensor: Tensor) -> Places:
    """Where the elements, or blocks, of a tensor are, in the order in which they stand."""
    held = parts(tensor)
    lines, plain = lines_of(held), held.plain.array().reshape(-1)
    batch = np.repeat(np.arange(plain.size // held.nnz if held.nnz else 0), held.nnz)
    rows, columns = (lines, plain) if held.layout in ROW_COMPRESSED else (plain, lines)
    values = held.values.array()
    return Places(batch, rows, columns, values.reshape((plain.size, *values.shape[held.batch_dim + 1 :])))


def built(of: layout, places: Places, batch: Shape, shape: Shape, of_dtype: dtype, index: Any = np.int64) -> Tensor:
    """A tensor of a layout whose elements are at these places, each once; they may stand in any order.

    `batch` is the batch's sizes, `shape` those of the whole tensor.
    """
    block = places.values.shape[1:3] if of in BLOCKED else (1, 1)
    rows, columns = (size // one for size, one in zip(shape[len(batch) : len(batch) + 2], block, strict=True))
    by_row = of in ROW_COMPRESSED
    lines, plain = (places.rows, places.columns) if by_row else (places.columns, places.rows)
    count, width = (rows, columns) if by_row else (columns, rows)
    matrices = int(np.prod(batch))
    line = places.batch * count + lines  # of all matrices, one after the other
    order = np.argsort(line * width + plain, kind="stable")
    ends = np.cumsum(np.bincount(line, minlength=matrices * count).reshape((matrices, count)), axis=1)
    starts = np.zeros((matrices, count + 1), index)
    starts[:, 1:] = ends
    nnz = len(order) // matrices if matrices else 0
    return compressed(
        of,
        _indices(starts.reshape((*batch, count + 1))),
        _indices(plain[order].astype(index, copy=False).reshape((*batch, nnz))),
        wrap(np.ascontiguousarray(places.values[order].reshape((*batch, nnz, *places.values.shape[1:]))), of_dtype),
        shape,
    )


def _indices(array: Array) -> Tensor:
    return wrap(np.ascontiguousarray(array), int64 if array.dtype == np.int64 else int32)
