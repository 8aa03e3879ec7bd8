"""How are sparse tensors made of their parts, resized, and made like others?

Mirrors: aten/src/ATen/native/sparse/SparseTensor.cpp, aten/src/ATen/SparseTensorImpl.h (resize_, resize_and_clear_)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.device import CPU, device
from glasstorch.core.dtype import dtype, get_default_dtype, int64
from glasstorch.core.errors import ArgumentError, DeviceError, ShapeError
from glasstorch.core.geometry import Shape
from glasstorch.core.keys import SPARSE as SPARSE_BITS
from glasstorch.core.keys import key_set_of
from glasstorch.core.layout import contiguous_format, layout, memory_format, strided
from glasstorch.core.sparse_parts import COMPRESSED_LAYOUTS
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.sparse.tensors import SPARSE, SPARSE_META, coo, coo_of, empty_coo, no_elements, parts, set_parts
from glasstorch.operators.composite.sparse.coo import check_parts_fit
from glasstorch.operators.generated.registry import table

BACKEND_SELECT = KernelTable("BackendSelect")
CPU_KERNELS = KernelTable("CPU", calls_operators=True)
SPARSE_CPU = key_set_of("SparseCPU")
COMPRESSED_KEY = {"cpu": "SparseCsrCPU", "meta": "SparseCsrMeta"}
KEYS_OF_TYPE = {"cpu": SPARSE_CPU, "meta": key_set_of("SparseMeta")}
WITH_TENSORS = table("_sparse_coo_tensor_with_dims_and_tensors")


@SPARSE_META.impl("_sparse_coo_tensor_with_dims")
@SPARSE.impl("_sparse_coo_tensor_with_dims")
def with_dims(
    keys: int,
    sparse_dim: int,
    dense_dim: int,
    size: Sequence[int],
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
) -> Tensor:
    """A tensor without specified elements."""
    shape = checked(tuple(size), sparse_dim, dense_dim)
    return empty_coo(shape, sparse_dim, get_default_dtype() if dtype is None else dtype, device or CPU)


@SPARSE_META.impl("_sparse_coo_tensor_with_dims_and_tensors")
@SPARSE.impl("_sparse_coo_tensor_with_dims_and_tensors")
def with_dims_and_tensors(
    keys: int,
    sparse_dim: int,
    dense_dim: int,
    size: Sequence[int],
    indices: Tensor,
    values: Tensor,
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
    is_coalesced: bool | None,
) -> Tensor:
    """A tensor that holds these; a single element is coalesced in any case."""
    shape = checked(tuple(size), sparse_dim, dense_dim)
    check_parts_fit(indices, values, shape)
    # Aliases: what happens to the parts' histories does not concern the tensors that were given.
    indices, values = indices.detach(), values.detach()
    return coo(indices.to(int64), values, shape, bool(is_coalesced) or values._shape[0] < 2)


@BACKEND_SELECT.impl("_sparse_coo_tensor_with_dims_and_tensors")
def select_sparse(keys: int, *arguments: Any) -> Tensor:
    """The backend of the values, in a sparse layout."""
    on = arguments[7] or arguments[4].device
    if on.type not in KEYS_OF_TYPE:
        raise no_sparse_tensors_on(on)
    below = KEYS_OF_TYPE[on.type]
    made: Tensor = WITH_TENSORS[below](below, *arguments)
    return made


def no_sparse_tensors_on(on: device) -> DeviceError:
    """The error of a device that no sparse kernel is for."""
    return DeviceError(f"there are no sparse tensors on {on} in glasstorch; expected 'cpu' or 'meta'")


def checked(shape: Shape, sparse_dim: int, dense_dim: int) -> Shape:
    """Sizes of so many dimensions."""
    if len(shape) != sparse_dim + dense_dim:
        raise ShapeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(shape)}, sparse_dim = "
            f"{sparse_dim}, dense_dim = {dense_dim}"
        )
    if shape and min(shape) < 0:
        raise ShapeError("numel: integer multiplication overflow")
    return shape


# Resized ----------------------------------------------------------------------------------------------------------


@SPARSE_META.impl("sparse_resize_")
@SPARSE.impl("sparse_resize_")
def sparse_resize_(keys: int, self: Tensor, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Tensor:
    """Other sizes for the specified elements, which must fit there."""
    shape, held = checked(tuple(size), sparse_dim, dense_dim), parts(self)
    if not held.nnz:
        return set_parts(self, *no_elements(shape, sparse_dim, self.dtype, self.device), held.coalesced, shape)
    what = None
    if sparse_dim != held.sparse_dim:
        what = f"changing the number of sparse dimensions (from {held.sparse_dim} to {sparse_dim})"
    elif dense_dim != held.dense_dim:
        what = f"changing the number of dense dimensions (from {held.dense_dim} to {dense_dim})"
    before = self._shape
    for kind, some in (("sparse", slice(0, sparse_dim)), ("dense", slice(sparse_dim, None))):
        if what is None and any(new < old for new, old in zip(shape[some], before[some], strict=True)):
            what = f"shrinking the size of {kind} dimensions (from {list(before[some])} to {list(shape[some])})"
    if what is not None:
        raise ShapeError(f"{what} on a non-empty sparse tensor is not supported.{ADVICE}")
    values = held.values
    if shape[sparse_dim:] != before[sparse_dim:]:
        # As resize_ does it: the memory stays, in which an element then begins elsewhere.
        wider = np.zeros((held.nnz, *shape[sparse_dim:]), self.dtype.numpy)
        wider.reshape(-1)[: values.numel()] = values.array().reshape(-1)
        values = wrap(wider, self.dtype)
    return set_parts(self, held.indices, values, held.coalesced, shape)


ADVICE = """
You could try the following options:
1. If you need an empty sparse tensor of this size, call `x = torch.sparse_coo_tensor(size)`.
2. If you need to resize this tensor, you have the following options:
    1. For both sparse and dense dimensions, keep the number of them constant and the size of them non-shrinking, and \
then try the same call again.
    2. Or, create a new sparse tensor with the correct indices and values from this sparse tensor."""


@SPARSE_META.impl("sparse_resize_and_clear_")
@SPARSE.impl("sparse_resize_and_clear_")
def sparse_resize_and_clear_(keys: int, self: Tensor, size: Sequence[int], sparse_dim: int, dense_dim: int) -> Tensor:
    """Other sizes, and no element specified."""
    shape = checked(tuple(size), sparse_dim, dense_dim)
    return set_parts(self, *no_elements(shape, sparse_dim, self.dtype, self.device), True, shape)


@SPARSE_META.impl("resize_as_sparse_")
@SPARSE.impl("resize_as_sparse_")
def resize_as_sparse_(keys: int, self: Tensor, the_template: Tensor) -> Tensor:
    """The sizes of another tensor."""
    theirs, ours = parts(the_template), parts(self)
    if self._shape == the_template._shape and ours.sparse_dim == theirs.sparse_dim:
        return self
    return sparse_resize_(keys, self, the_template._shape, theirs.sparse_dim, theirs.dense_dim)


# Like others ------------------------------------------------------------------------------------------------------


@SPARSE_META.impl("empty.memory_format")
@SPARSE.impl("empty.memory_format")
def empty_(
    keys: int,
    size: Sequence[int],
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
    memory_format: memory_format | None,
) -> Tensor:
    """A tensor without specified elements."""
    if memory_format is not None and memory_format is not contiguous_format:
        raise ArgumentError("Only contiguous memory format is supported for sparse tensors")
    shape = tuple(size)
    wanted = get_default_dtype() if dtype is None else dtype
    return empty_coo(checked(shape, len(shape), 0), len(shape), wanted, device or CPU)


@SPARSE_META.impl("empty_like")
@SPARSE.impl("empty_like")
def empty_like(
    keys: int,
    self: Tensor,
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
    memory_format: memory_format | None,
) -> Tensor:
    """A tensor of the same sizes without specified elements; strided where that is asked for."""
    wanted = self.dtype if dtype is None else dtype
    on = self.device if device is None else device
    if on.type not in KEYS_OF_TYPE:
        raise no_sparse_tensors_on(on)
    if layout is not None and layout is not self.layout:
        keys_on = KEYS_OF_TYPE[on.type]
        others = {strided: "CPU" if on is CPU else "Meta"} | dict.fromkeys(COMPRESSED_LAYOUTS, COMPRESSED_KEY[on.type])
        below = keys_on & ~SPARSE_BITS | key_set_of(others[layout]) if layout in others else keys_on
        options = wanted, layout, on, pin_memory, memory_format
        if memory_format is not None and layout is not strided:
            raise order_of_sparse()
        made: Tensor = table("empty.memory_format")[below](below, self._shape, *options)
        return made
    if memory_format is not None:
        raise order_of_sparse()
    held = parts(self).sparse_dim if self.is_sparse else len(self._shape)
    return empty_coo(self._shape, held, wanted, on)


def order_of_sparse() -> ArgumentError:
    """The error of an order of memory that a tensor like another one shall have, where it has none."""
    return ArgumentError("memory format option is only supported by strided tensors")


@SPARSE_META.impl("zero_")
@SPARSE.impl("zero_")
def zero_(keys: int, self: Tensor) -> Tensor:
    """No element specified."""
    return set_parts(self, *no_elements(self._shape, parts(self).sparse_dim, self.dtype, self.device), True)


@CPU_KERNELS.impl("_spdiags")
def spdiags(keys: int, diagonals: Tensor, offsets: Tensor, shape: Sequence[int], layout: layout | None) -> Tensor:
    """The rows of a matrix on the diagonals of a sparse one; what does not fit there is left out."""
    rows = diagonals.unsqueeze(0) if len(diagonals._shape) == 1 else diagonals
    at = offsets.unsqueeze(0) if not offsets._shape else offsets
    if len(shape) != 2:
        raise ShapeError("Output shape must be 2d")
    if len(at._shape) != 1 or len(rows._shape) != 2:
        raise ShapeError("Offsets must be scalar or vector, diagonals vector or matrix")
    if rows._shape[0] != at._shape[0]:
        raise ShapeError(
            f"Number of diagonals ({rows._shape[0]}) does not match the number of offsets ({at._shape[0]})"
        )
    if layout is not None and layout.name not in ("sparse_coo", "sparse_csr", "sparse_csc"):
        raise ArgumentError(f"Only output layouts (Sparse, SparseCsc, SparseCsr) are supported, got {layout}")
    wanted = at.array().astype(np.int64)
    if len(set(wanted.tolist())) != len(wanted):
        raise ArgumentError("Offset tensor contains duplicate values")
    height, width = shape
    indices, values = [np.empty((2, 0), np.int64)], [rows.array().reshape(-1)[:0]]
    for row, offset in zip(rows.array(), wanted.tolist(), strict=True):
        columns = np.arange(max(offset, 0), min(len(row), width, height + offset))
        indices.append(np.stack((columns - offset, columns)))
        values.append(row[columns])
    made = coo_of(np.concatenate(indices, 1), np.concatenate(values), (height, width), diagonals.dtype, not len(wanted))
    return made if layout is None or layout.name == "sparse_coo" else made.to_sparse(layout=layout)
