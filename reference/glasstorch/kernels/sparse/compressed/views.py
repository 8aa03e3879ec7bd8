"""How are the dimensions of tensors of the compressed layouts swapped and cut?

Mirrors: aten/src/ATen/native/TensorShape.cpp (transpose, select), aten/src/ATen/native/TensorAdvancedIndexing.cpp
    (select_sparse_csr)
Differs: none of the results is a view of the tensor, but a transposed one has the same parts.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor, alias
from glasstorch.core.errors import ArgumentError, DimensionError, ShapeError
from glasstorch.core.geometry import existing_dim, wrap_dim
from glasstorch.core.layout import sparse_bsc, sparse_bsr, sparse_csc, sparse_csr
from glasstorch.core.sparse_parts import BLOCKED, CompressedParts, without_strides
from glasstorch.kernels.made_of_others import missing
from glasstorch.kernels.sparse.compressed.conversion import coo_of_compressed
from glasstorch.kernels.sparse.compressed.tensors import COMPRESSED, COMPRESSED_META, compressed, parts
from glasstorch.kernels.sparse.views import select as coo_select
from glasstorch.operators.composite.sparse.coo import SAID

ACROSS = {sparse_csr: sparse_csc, sparse_csc: sparse_csr, sparse_bsr: sparse_bsc, sparse_bsc: sparse_bsr}


def kind(held: CompressedParts, dim: int) -> str:
    """What a dimension is: of the batch, sparse or dense."""
    at = dim - held.batch_dim
    return "Batch" if at < 0 else "Sparse" if at < 2 else "Dense"


@COMPRESSED_META.impl("transpose.int")
@COMPRESSED.impl("transpose.int")
def transpose(keys: int, self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions of a kind swapped: of sparse ones, rows that are compressed become columns that are."""
    rank, held = len(self._shape), parts(self)
    first, second = wrap_dim(dim0, rank), wrap_dim(dim1, rank)
    if first == second:
        return alias(self)
    if held.dense_dim:
        raise ShapeError("transpose(): hybrid sparse compressed tensors with dense dimensions are not supported")
    kinds = kind(held, first), kind(held, second)
    if kinds[0] != kinds[1]:
        raise ShapeError(
            "transpose(): can only transpose dimensions of the same type (Batch, Sparse, Dense), got "
            f"{first}({kinds[0]}) and {second}({kinds[1]})"
        )
    sizes = list(self._shape)
    sizes[first], sizes[second] = sizes[second], sizes[first]
    starts, plain, values = held.compressed, held.plain, held.values
    if kinds[0] == "Sparse":
        if held.layout in BLOCKED:
            values = values.transpose(held.batch_dim + 1, held.batch_dim + 2)
        return compressed(ACROSS[held.layout], starts, plain, values, tuple(sizes))
    starts, plain, values = (one.transpose(first, second).contiguous() for one in (starts, plain, values))
    return compressed(held.layout, starts, plain, values, tuple(sizes))


@COMPRESSED_META.impl("t")
@COMPRESSED.impl("t")
def t(keys: int, self: Tensor) -> Tensor:
    """A matrix with its dimensions swapped."""
    if len(self._shape) > 2:
        raise ShapeError(f"t() expects a tensor with <= 2 dimensions, but self is {len(self._shape)}D")
    return transpose(keys, self, 0, 1)


@COMPRESSED.impl("transpose_", "t_")
def transpose_(keys: int, self: Tensor, *dims: int) -> Tensor:
    """Refused: the layout would change."""
    raise ArgumentError(
        f"torch.transpose_: in-place transposition is not supported for {SAID[self.layout.name]} layout"
    )


@COMPRESSED.impl("select.int", "select_copy.int")
def select(keys: int, self: Tensor, dim: int, index: int) -> Tensor:
    """The elements at an index: of a batch or a dense dimension in the same layout, of a matrix as a COO tensor."""
    rank = len(self._shape)
    dim = existing_dim(dim, rank)
    size, held = self._shape[dim], parts(self)
    if not -size <= index < size:
        raise DimensionError(
            f"select(): index {index} out of range for tensor of size {list(self._shape)} at dimension {dim}"
        )
    index %= size
    kept = self._shape[:dim] + self._shape[dim + 1 :]
    if kind(held, dim) == "Batch":
        starts, plain, values = (one.select(dim, index).clone() for one in (held.compressed, held.plain, held.values))
        return compressed(held.layout, starts, plain, values, kept)
    if kind(held, dim) == "Dense":
        values = held.values.select(dim + len(held.values._shape) - rank, index).clone()
        return compressed(held.layout, held.compressed.clone(), held.plain.clone(), values, kept)
    if held.batch_dim:
        raise ArgumentError(
            "select(): selecting sparse dimensions is not supported for batched sparse compressed tensors."
        )
    chosen = coo_select(keys, coo_of_compressed(self), dim, index)
    return chosen._coalesced_(True) if chosen.is_sparse else chosen


@COMPRESSED.impl("unbind.int")
def unbind(keys: int, self: Tensor, dim: int) -> tuple[Tensor, ...]:
    """The elements at each index of a dimension."""
    dim = existing_dim(dim, len(self._shape))
    return tuple(select(keys, self, dim, i) for i in range(self._shape[dim]))


@COMPRESSED.impl("expand")
def expand(keys: int, self: Tensor, size: Any, implicit: bool) -> Tensor:
    """Refused: nothing can be repeated without memory."""
    raise ShapeError(f"expand is unsupported for {SAID[self.layout.name]} tensors")


@COMPRESSED.impl("slice.Tensor", "unsqueeze")
def of_strides(keys: int, self: Tensor, *arguments: Any) -> Tensor:
    """Refused, as are all views that are arithmetic on strides."""
    raise without_strides(self.layout)


COMPRESSED.add("squeeze", of_strides)
COMPRESSED.add("squeeze.dim", of_strides)


@COMPRESSED.impl("permute")
def permute(keys: int, self: Tensor, dims: Any) -> Tensor:
    """Refused: the view would be made with strides."""
    raise missing("as_strided", self)
