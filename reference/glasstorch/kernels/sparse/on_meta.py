"""What is known of sparse tensors on meta, whose indices have no elements?

Mirrors: build/aten/src/ATen/RegisterSparseMeta.cpp, RegisterSparseCsrMeta.cpp (SparseTensor.cpp, SparseCsrTensor.cpp)
Differs: kernels that only hand the parts on are registered beside those of the CPU, in their own files.

How many elements a result specifies would follow from the values of its indices. Where it would, PyTorch's kernels give
a tensor that specifies none, and so do these.
"""

from __future__ import annotations

from math import prod
from typing import Any, NoReturn

from glasstorch._tensor import Tensor, alias, empty
from glasstorch.core.device import device
from glasstorch.core.dtype import Number, dtype, int64
from glasstorch.core.errors import ArgumentError, MissingKernelError, ShapeError
from glasstorch.core.layout import layout, memory_format, preserve_format, sparse_coo
from glasstorch.kernels.sparse.compressed.copies import without_values
from glasstorch.kernels.sparse.compressed.tensors import COMPRESSED_META, is_compressed, with_values
from glasstorch.kernels.sparse.tensors import SPARSE_META, coo, empty_coo, parts
from glasstorch.kernels.sparse.views import check_matrix, swapped
from glasstorch.operators.shapes.promotion import result_type

NO_DATA = "Cannot copy out of meta tensor; no data!"


@SPARSE_META.impl("clone")
def clone(keys: int, self: Tensor, memory_format: memory_format | None) -> Tensor:
    """No element specified."""
    if memory_format is not None and memory_format is not preserve_format:
        raise ArgumentError("unsupported memory format option Contiguous")
    return empty_coo(self._shape, parts(self).sparse_dim, self.dtype, self.device)


@SPARSE_META.impl("_to_copy")
def to_copy(
    keys: int,
    self: Tensor,
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    memory_format: memory_format | None,
) -> Tensor:
    """Of another dtype, with no element specified; to a device that has elements it is refused."""
    if device is not None and device.type != "meta":
        raise MissingKernelError(NO_DATA)
    return empty_coo(self._shape, parts(self).sparse_dim, self.dtype if dtype is None else dtype, self.device)


@SPARSE_META.impl("transpose.int")
def transpose(keys: int, self: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two sparse dimensions swapped, with no element specified."""
    order = swapped(self, dim0, dim1)
    if order is None:
        return alias(self)
    return empty_coo(tuple(self._shape[d] for d in order), parts(self).sparse_dim, self.dtype, self.device)


@SPARSE_META.impl("t")
def t(keys: int, self: Tensor) -> Tensor:
    """A matrix with its dimensions swapped, with no element specified."""
    check_matrix(self)
    return transpose(keys, self, 0, 1) if len(self._shape) == 2 else alias(self)


@SPARSE_META.impl("sum")
@COMPRESSED_META.impl("sum")
def sum(keys: int, self: Tensor, dtype: dtype | None) -> Tensor:
    """A number."""
    return parts_values(self).sum(dtype=dtype)


def parts_values(self: Tensor) -> Tensor:
    """The values, of any sparse layout."""
    held: Any = self._parts
    values: Tensor = held.values
    return values


@SPARSE_META.impl("add.Tensor")
def add(keys: int, self: Tensor, other: Tensor, alpha: Number) -> Tensor:
    """The sum of two COO tensors of the same sizes, with no element specified."""
    if not (self.is_sparse and other.is_sparse):
        raise no_kernel("add.Tensor", "SparseMeta")
    if self._shape != other._shape:
        raise ShapeError(
            f"expected sizes of 'self' and 'other' to match, but {list(self._shape)} != {list(other._shape)}"
        )
    return empty_coo(self._shape, parts(self).sparse_dim, result_type(self, other), self.device)


@COMPRESSED_META.impl("add.Tensor")
def add_compressed(keys: int, self: Tensor, other: Tensor, alpha: Number) -> Tensor:
    """The sum of two tensors of one layout; it has the elements of the first."""
    if self.layout is not other.layout or self._shape != other._shape:
        raise no_kernel("add.Tensor", "SparseCsrMeta")
    return with_values(self, parts_values(self).to(result_type(self, other)))


@COMPRESSED_META.impl("mul.Tensor")
def mul(keys: int, self: Tensor, other: Tensor) -> Tensor:
    """The product with a number."""
    if other._shape or not is_compressed(self):
        raise no_kernel("mul.Tensor", "SparseCsrMeta")
    return with_values(self, parts_values(self) * other)


def no_kernel(name: str, backend: str) -> MissingKernelError:
    """The error of what would depend on the values of indices."""
    return MissingKernelError(f"Could not run 'aten::{name}' with arguments from the '{backend}' backend.")


@COMPRESSED_META.impl("_to_sparse")
def to_coo(keys: int, self: Tensor, layout: layout | None, blocksize: Any, dense_dim: int | None) -> Tensor:
    """As many elements in a COO tensor; each of a block is one."""
    if layout is not None and layout is not sparse_coo:
        raise no_kernel("_to_sparse", "SparseCsrMeta")
    held: Any = self._parts
    dense = self._shape[len(self._shape) - held.dense_dim :]
    count = held.values.numel() // max(prod(dense), 1)
    indices = empty((len(self._shape) - len(dense), count), int64, self.device)
    return coo(indices, empty((count, *dense), self.dtype, self.device), self._shape, False)


@COMPRESSED_META.impl("_to_copy")
def compressed_to_copy(
    keys: int,
    self: Tensor,
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    memory_format: memory_format | None,
) -> Tensor:
    """Of another dtype, with no element specified; to a device that has elements it is refused."""
    if device is not None and device.type != "meta":
        raise MissingKernelError(NO_DATA)
    return without_values(self, self.dtype if dtype is None else dtype, self.device)


@COMPRESSED_META.impl("_to_dense")
def to_dense(keys: int, self: Tensor, dtype: dtype | None, masked_grad: bool | None) -> Tensor:
    """A strided tensor of the same sizes."""
    return empty(self._shape, self.dtype if dtype is None else dtype, self.device)


@SPARSE_META.impl("_local_scalar_dense")
@COMPRESSED_META.impl("_local_scalar_dense")
def item(keys: int, self: Tensor) -> NoReturn:
    """Refused: there is no element."""
    if self.numel() > 1:
        raise ShapeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    raise MissingKernelError("Tensor.item() cannot be called on meta tensors")
