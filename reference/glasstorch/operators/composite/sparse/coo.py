"""How are sparse tensors checked and made, and when is one converted?

Mirrors: aten/src/ATen/native/sparse/SparseTensor.cpp (sparse_coo_tensor, _validate_sparse_coo_tensor_args, coalesce),
    TensorConversions.cpp (to_dense, to_sparse, to_dense_backward)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from glasstorch.core import sparse_invariants
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import ArgumentError, DimensionError, ShapeError
from glasstorch.core.layout import layout as Layout
from glasstorch.core.layout import sparse_coo, strided
from glasstorch.core.sparse_parts import BLOCKED, COMPRESSED_LAYOUTS
from glasstorch.core.tensor_impl import Array
from glasstorch.operators.direct import factory, on_pair, on_tensor, on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# The layouts as PyTorch's errors write them.
SAID = {
    "strided": "Strided", "sparse_coo": "Sparse", "sparse_csr": "SparseCsr", "sparse_csc": "SparseCsc",
    "sparse_bsr": "SparseBsr", "sparse_bsc": "SparseBsc",
}  # fmt: skip

with_dims = factory("_sparse_coo_tensor_with_dims")
with_dims_and_tensors = on_tensors("_sparse_coo_tensor_with_dims_and_tensors")
indices_of, values_of = on_tensor("_indices"), on_tensor("_values")
_coalesce, sparse_mask = on_tensor("_coalesce"), on_pair("sparse_mask")
_to_dense = on_tensor("_to_dense")
_sparse_sum_of_dims = on_tensor("_sparse_sum.dim")
_softmax, _log_softmax = on_tensor("_sparse_softmax"), on_tensor("_sparse_log_softmax")
_sparse_sparse_matmul, sparse_addmm_operator = on_pair("_sparse_sparse_matmul"), on_tensors("_sparse_addmm")
addmm, sspaddmm_out = on_tensors("addmm"), on_tensors("sspaddmm.out")
_to_sparse, _to_sparse_of_dims = on_tensor("_to_sparse"), on_tensor("_to_sparse.sparse_dim")

# COO tensors from their parts -------------------------------------------------------------------------------------
# `options` are dtype, layout, device and pin_memory, in this order.


def coo_of_size(
    size: Sequence[int],
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    """A COO tensor in which no element is specified."""
    return with_dims(len(size), 0, tuple(size), dtype, sparse_coo, device, pin_memory)


def coo_of_indices(indices: Tensor, values: Tensor, *options: Any) -> Tensor:
    """A COO tensor just large enough for its indices."""
    *made_with, is_coalesced = options
    check_dimensions(indices)
    columns, sparse_dim = indices.detach().host_array(), indices._shape[0]
    if columns.size:
        for dim, least in enumerate(columns.min(1).tolist()):
            if least < 0:
                raise ShapeError(f"found negative index {least} for dim {dim}")
        sizes = (columns.max(1) + 1).tolist()
    else:
        sizes = [0] * sparse_dim
    size = (*sizes, *values._shape[1:])
    check_parts(indices, values, size, is_coalesced)
    return made_of(indices, values, size, made_with, is_coalesced)


def coo_of_indices_and_size(indices: Tensor, values: Tensor, size: Sequence[int], *options: Any) -> Tensor:
    """A COO tensor of given sizes."""
    *made_with, is_coalesced = options
    check_dimensions(indices)
    return coo_unchecked(indices, values, size, *made_with, is_coalesced)


def coo_unchecked(indices: Tensor, values: Tensor, size: Sequence[int], *options: Any) -> Tensor:
    """A COO tensor of these parts, whose invariants are checked where that was asked for."""
    *made_with, is_coalesced = options
    if sparse_invariants.are_checked():
        check_coo(indices, values, size, is_coalesced, None)
    return made_of(indices, values, size, made_with, is_coalesced)


def made_of(
    indices: Tensor, values: Tensor, size: Sequence[int], options: Sequence[Any], is_coalesced: bool | None
) -> Tensor:
    sparse_dim = indices._shape[0]
    dtype, _, device, pin_memory = options
    options = values.dtype if dtype is None else dtype, sparse_coo, device or values.device, pin_memory
    return with_dims_and_tensors(
        sparse_dim, len(values._shape) - 1, tuple(size), indices, values, *options, is_coalesced
    )


def check_dimensions(indices: Tensor) -> None:
    """Refuse indices that are no matrix."""
    if len(indices._shape) != 2:
        raise ShapeError(f"indices must be sparse_dim x nnz, but got: {list(indices._shape)}")


def check_coo(
    indices: Tensor,
    values: Tensor,
    size: Sequence[int],
    is_coalesced: bool | None,
    check_pinning: bool | None,
) -> None:
    """Refuse parts that make no COO tensor of these sizes."""
    check_dimensions(indices)
    check_parts(indices, values, size, is_coalesced)


def check_parts(indices: Tensor, values: Tensor, size: Sequence[int], is_coalesced: bool | None) -> None:
    """Refuse numbers of dimensions and of elements that do not agree, and indices outside the sizes."""
    sparse_dim, dense_dim = indices._shape[0], len(values._shape) - 1
    if len(size) != sparse_dim + dense_dim:
        raise ShapeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, sparse_dim = "
            f"{sparse_dim}, dense_dim = {dense_dim}"
        )
    check_parts_fit(indices, values, size)
    columns: Array = indices.detach().host_array()
    if columns.size:
        least, most = columns.min(1).tolist(), columns.max(1).tolist()
        for dim, (low, high) in enumerate(zip(least, most, strict=True)):
            if low < 0:
                raise ShapeError(f"found negative index {low} for dim {dim}")
            if high >= size[dim]:
                raise ShapeError(
                    f"size is inconsistent with indices: for dim {dim}, size is {size[dim]} but found index {high}"
                )
    if is_coalesced and columns.shape[1] > 1:
        places = np.ravel_multi_index(tuple(columns), tuple(size[:sparse_dim])) if sparse_dim else np.zeros(2)
        if not (places[1:] > places[:-1]).all():
            raise ArgumentError("cannot set is_coalesced to true if indices correspond to uncoalesced COO tensor")


def check_parts_fit(indices: Tensor, values: Tensor, size: Sequence[int]) -> None:
    """Refuse numbers of elements that differ, and elements of other sizes than the dense dimensions."""
    sparse_dim = indices._shape[0]
    if indices._shape[1] != values._shape[0]:
        raise ShapeError(
            f"indices and values must have same nnz, but got nnz from indices: {indices._shape[1]}, nnz from values: "
            f"{values._shape[0]}"
        )
    expected = [values._shape[0], *size[sparse_dim:]]
    if expected != list(values._shape):
        raise ShapeError(f"values has incorrect size, expected {expected}, got {list(values._shape)}")


# Facts of a strided tensor, where a sparse one has kernels --------------------------------------------------------


def sparse_dim(self: Tensor) -> int:
    """0."""
    return 0


def dense_dim(self: Tensor) -> int:
    """The number of dimensions."""
    return len(self._shape)


def is_coalesced(self: Tensor) -> bool:
    """Refused."""
    raise expected("is_coalesced", "sparse coordinate tensor", self)


def indices(self: Tensor) -> Tensor:
    """Refused."""
    raise expected("indices", "sparse coordinate tensor", self)


def values(self: Tensor) -> Tensor:
    """Refused."""
    raise expected("values", "sparse tensor", self)


def expected(name: str, what: str, tensor: Tensor) -> ArgumentError:
    """The error of a function that only tensors of some layouts have."""
    return ArgumentError(f"{name} expected {what} layout but got {SAID[tensor.layout.name]}")


def coalesce(self: Tensor) -> Tensor:
    """The tensor itself where it is coalesced."""
    if not self.is_sparse:
        raise expected("coalesce", "sparse coordinate tensor", self)
    return self if self._parts.coalesced else _coalesce(self)  # type: ignore[union-attr]


# Other layouts ----------------------------------------------------------------------------------------------------


def to_dense(self: Tensor, dtype: Dtype | None, masked_grad: bool | None) -> Tensor:
    """As a strided tensor; the tensor itself where it is one, cast where that is asked for."""
    if self.layout is not strided:
        return _to_dense(self, dtype, masked_grad)
    return self if dtype is None else self.to(dtype)


def to_dense_backward(grad: Tensor, input: Tensor, masked_grad: bool | None) -> Tensor:
    """The gradient of the sparse tensor: sparse in the same places, unless `masked_grad` is False."""
    if input.layout is sparse_coo:
        if masked_grad is None or masked_grad:
            return sparse_mask(grad, coalesce(input))
        return _to_sparse_of_dims(grad, input._parts.sparse_dim)
    if masked_grad is None or masked_grad:
        return sparse_mask(grad, input)
    blocksize = input._parts.blocksize or None  # type: ignore[union-attr]
    return _to_sparse(grad, input.layout, blocksize, input._parts.dense_dim)


def to_sparse_of_dims(self: Tensor, sparse_dim: int) -> Tensor:
    """As a COO tensor of so many sparse dimensions; the tensor itself where it is one."""
    if self.layout is sparse_coo:
        if sparse_dim != self._parts.sparse_dim:
            raise ArgumentError(
                "to_sparse: conversion from Sparse to Sparse with sparse_dim argument !=self.sparse_dim() is not "
                "supported"
            )
        return self
    return _to_sparse_of_dims(self, sparse_dim)


def to_sparse(self: Tensor, layout: Layout | None, blocksize: Sequence[int] | None, dense_dim: int | None) -> Tensor:
    """As a tensor of a sparse layout, COO by default; the tensor itself where it is one."""
    wanted = layout or sparse_coo
    if self.layout is wanted:
        check_conversion("to_sparse", self, wanted, blocksize, dense_dim)
        return self
    return _to_sparse(self, wanted, blocksize, dense_dim)


def check_conversion(
    name: str, tensor: Tensor, to: Layout, blocksize: Sequence[int] | None, dense_dim: int | None
) -> None:
    """Refuse a size of blocks for a layout that has none, and a number of dense dimensions where it is given already.

    Mirrors: _to_sparse_check_arguments in aten/src/ATen/native/TensorConversions.cpp
    """
    of = tensor.layout
    conversion = f"{name}: conversion from {SAID[of.name]} to {SAID[to.name]}"
    if to in COMPRESSED_LAYOUTS and len(tensor._shape) < 2 and of is strided:
        raise DimensionError(f"{name}: expected a matrix or more dimensions, got {len(tensor._shape)}")
    if blocksize is not None:
        check_blocksize(name, conversion, tensor, to, blocksize, dense_dim or 0)
    elif to in BLOCKED:
        raise ArgumentError(f"{conversion} without blocksize argument given is not supported")
    if dense_dim is None:
        return
    if of is not strided:
        raise ArgumentError(f"{conversion} with dense_dim argument given is not supported")
    if to in COMPRESSED_LAYOUTS and not 0 <= dense_dim <= len(tensor._shape) - 2:
        raise ShapeError(
            f"{name}: dense_dim argument must be in [0,{len(tensor._shape) - 2}] range, but {dense_dim} is given"
        )


def check_blocksize(
    name: str, conversion: str, tensor: Tensor, to: Layout, blocksize: Sequence[int], dense_dim: int
) -> None:
    """Refuse a size of blocks that is none, that the sizes are no multiple of, or that would change one."""
    if to not in BLOCKED:
        raise ArgumentError(f"{conversion} with blocksize argument given is not supported")
    if len(blocksize) != 2:
        raise ArgumentError(f"{name}: blocksize needs to be a tuple of size 2, but got {len(blocksize)}")
    if min(blocksize) <= 0:
        raise ArgumentError(f"{name}: blocksize needs to be positive, but got {list(blocksize)}")
    given = getattr(tensor, "_parts", None)
    if tensor.layout in BLOCKED and given is not None and tuple(blocksize) != given.blocksize:
        raise ArgumentError(
            f"{conversion} with blocksize changed from {list(given.blocksize)} to {list(blocksize)} is not supported"
        )
    start = len(tensor._shape) - 2 - (dense_dim if given is None else given.dense_dim)
    (rows, high), (columns, wide) = zip(tensor._shape[start : start + 2], blocksize, strict=True)
    if rows % high or columns % wide:
        raise ArgumentError(
            f"{name}: tensor sparse size ({rows},{columns}) must be divisible by given blocksize ({high},{wide})"
        )


# Sums and softmax -------------------------------------------------------------------------------------------------


def sparse_sum(self: Tensor) -> Tensor:
    """The sum of all specified elements; its gradient is sparse."""
    return coalesce(self).values().sum()


def sparse_sum_as(self: Tensor, dtype: Dtype) -> Tensor:
    """The same in a dtype."""
    return coalesce(self).values().sum(dtype=dtype)


def sparse_sum_of_dims_as(self: Tensor, dim: Sequence[int], dtype: Dtype) -> Tensor:
    """The sum over some dimensions, in a dtype."""
    return _sparse_sum_of_dims(self.to(dtype), dim)


def softmax(self: Tensor, dim: int, dtype: Dtype | None) -> Tensor:
    """The softmax of the specified elements, after a conversion where that is asked for."""
    return _softmax(self if dtype is None else self.to(dtype), dim, False)


def log_softmax(self: Tensor, dim: int, dtype: Dtype | None) -> Tensor:
    """Its logarithm."""
    return _log_softmax(self if dtype is None else self.to(dtype), dim, False)


# Products ---------------------------------------------------------------------------------------------------------


def sparse_mm(sparse: Tensor, dense: Tensor) -> Tensor:
    """The product of two matrices, one of which may be strided; the gradient of a sparse one is sparse."""
    if sparse.is_sparse and dense.is_sparse:
        return _sparse_sparse_matmul(sparse, dense)
    if sparse.layout is strided:
        start = sparse.new_zeros((dense._shape[-1], sparse._shape[-2]))
        return sparse_addmm_operator(start, dense.t(), sparse.t(), 0, 1).t()
    start = dense.new_zeros((sparse._shape[-2], dense._shape[-1]))
    return sparse_addmm_operator(start, sparse, dense, 0, 1)


def sparse_addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any) -> Tensor:
    """As `addmm`, with a gradient for the sparse matrix that is sparse."""
    return addmm(self, mat1, mat2, beta, alpha)


def smm(self: Tensor, mat2: Tensor) -> Tensor:
    """The product of a sparse and a strided matrix as a sparse one."""
    start = with_dims(2, 0, (self._shape[0], mat2._shape[1]), self.dtype, sparse_coo, self.device, None)
    return sspaddmm(start, self, mat2, 0, 1)


def sspaddmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any) -> Tensor:
    """`beta * self + alpha * mat1 @ mat2`, of sparse matrices and a strided mat2."""
    start = with_dims(2, 0, (0, 0), self.dtype, sparse_coo, self.device, None)
    return sspaddmm_out(self, mat1, mat2, beta, alpha, start)
