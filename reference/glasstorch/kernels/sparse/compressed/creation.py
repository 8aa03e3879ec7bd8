"""How are tensors of the compressed layouts made of their parts, taken apart, resized, and made like others?

Mirrors: aten/src/ATen/native/sparse/SparseCsrTensor.cpp, aten/src/ATen/SparseCsrTensorImpl.h
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core import sparse_invariants
from glasstorch.core.device import CPU, device
from glasstorch.core.dtype import dtype, get_default_dtype, int64
from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.core.layout import layout as Layout
from glasstorch.core.layout import memory_format, preserve_format, sparse_coo, sparse_csr
from glasstorch.core.sparse_parts import BLOCKED, COMPRESSED_LAYOUTS, ROW_COMPRESSED, CompressedParts
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.sparse.compressed.tensors import (
    COMPRESSED,
    COMPRESSED_META,
    compressed,
    is_compressed,
    parts,
    set_parts,
)
from glasstorch.kernels.sparse.compressed.tensors import zeros as zeros_of
from glasstorch.kernels.sparse.creation import no_sparse_tensors_on
from glasstorch.kernels.sparse.tensors import empty_coo
from glasstorch.operators.composite.sparse.compressed import (
    check_compressed,
    check_indices,
    check_layout,
    compressed_tensor,
    expected_compressed,
    expected_part,
    size_of_indices,
)
from glasstorch.operators.composite.sparse.coo import SAID

CPU_KERNELS = KernelTable("CPU", calls_operators=True)
EXPLICIT = KernelTable("CompositeExplicitAutograd", calls_operators=True)
IMPLICIT = KernelTable("CompositeImplicitAutograd", calls_operators=True)

# From their parts -------------------------------------------------------------------------------------------------


@EXPLICIT.impl("sparse_compressed_tensor.comp_plain_value_size")
def of_parts(
    keys: int,
    compressed_indices: Tensor,
    plain_indices: Tensor,
    values: Tensor,
    size: Sequence[int],
    dtype: dtype | None,
    layout: Layout | None,
    device: device | None,
    pin_memory: bool | None,
) -> Tensor:
    """A tensor of these parts, which are checked where that was asked for."""
    of = check_layout("sparse_compressed_tensor", layout)
    if sparse_invariants.are_checked():
        check_compressed(compressed_indices, plain_indices, values, size, of, None)
    on = _checked(device or values.device)
    # Aliases: what happens to the parts' histories does not concern the tensors that were given.
    if dtype is not None and dtype is not values.dtype:
        values = values.to(dtype)
    starts, plain, elements = (one.detach().to(on) for one in (compressed_indices, plain_indices, values))
    return compressed(of, starts, plain, elements, tuple(size))


def _checked(on: device) -> device:
    """A device that there are tensors of these layouts on."""
    if on.type not in ("cpu", "meta"):
        raise no_sparse_tensors_on(on)
    return on


@EXPLICIT.impl("sparse_compressed_tensor.comp_plain_value")
def of_parts_alone(
    keys: int,
    compressed_indices: Tensor,
    plain_indices: Tensor,
    values: Tensor,
    dtype: dtype | None,
    layout: Layout | None,
    device: device | None,
    pin_memory: bool | None,
) -> Tensor:
    """A tensor just large enough for its indices."""
    of = check_layout("sparse_compressed_tensor", layout)
    size = size_of_indices(compressed_indices, plain_indices, values, of)
    return compressed_tensor(compressed_indices, plain_indices, values, size, dtype, of, device, pin_memory)


@IMPLICIT.impl("_sparse_compressed_tensor_unsafe")
def unchecked(
    keys: int,
    compressed_indices: Tensor,
    plain_indices: Tensor,
    values: Tensor,
    size: Sequence[int],
    dtype: dtype | None,
    layout: Layout | None,
    device: device | None,
    pin_memory: bool | None,
) -> Tensor:
    """A tensor of these parts, through which no gradient flows."""
    check_layout("sparse_compressed_tensor_unsafe", layout)
    return of_parts(keys, compressed_indices, plain_indices, values, size, dtype, layout, device, pin_memory)


@EXPLICIT.impl("_sparse_compressed_tensor_with_dims")
def with_dims(
    keys: int,
    nnz: int,
    dense_dim: int,
    size: Sequence[int],
    blocksize: Sequence[int],
    index_dtype: dtype,
    dtype: dtype | None,
    layout: Layout | None,
    device: device | None,
    pin_memory: bool | None,
) -> Tensor:
    """A tensor of so many elements in each matrix, whose indices and values are not initialised."""
    of = check_layout("sparse_compressed_tensor_with_dims", layout)
    on = _checked(device or CPU)
    if index_dtype.name not in ("int32", "int64"):
        raise ArgumentError(f"indices dtype must be Int or Long, but got {index_dtype.scalar_name}")
    shape, block = tuple(size), tuple(blocksize)
    split = len(shape) - 2 - dense_dim
    batch, (rows, columns) = shape[:split], shape[split : split + 2]
    if block:
        rows, columns = rows // block[0], columns // block[1]
    lines = rows if of in ROW_COMPRESSED else columns
    starts, plain = zeros_of((*batch, lines + 1), index_dtype, on), zeros_of((*batch, nnz), index_dtype, on)
    elements = get_default_dtype() if dtype is None else dtype
    return compressed(of, starts, plain, zeros_of((*batch, nnz, *block, *shape[split + 2 :]), elements, on), shape)


@CPU_KERNELS.impl("_validate_compressed_sparse_indices")
def check(keys: int, is_crow: bool, compressed_idx: Tensor, plain_idx: Tensor, cdim: int, dim: int, nnz: int) -> None:
    """Refuse indices that are not those of a compressed layout."""
    check_indices(is_crow, compressed_idx.array(), plain_idx.array(), cdim, dim, nnz)


# Taken apart ------------------------------------------------------------------------------------------------------


@COMPRESSED_META.impl("sparse_dim")
@COMPRESSED.impl("sparse_dim")
def sparse_dim(keys: int, self: Tensor) -> int:
    """2."""
    return parts(self).sparse_dim


@COMPRESSED_META.impl("dense_dim")
@COMPRESSED.impl("dense_dim")
def dense_dim(keys: int, self: Tensor) -> int:
    """How many dimensions each element has."""
    return parts(self).dense_dim


@COMPRESSED_META.impl("_nnz")
@COMPRESSED.impl("_nnz")
def nnz(keys: int, self: Tensor) -> int:
    """How many elements, or blocks, each matrix has."""
    return parts(self).nnz


@COMPRESSED_META.impl("values")
@COMPRESSED.impl("values")
def values(keys: int, self: Tensor) -> Tensor:
    """The values, as an alias of the tensor that is held."""
    return parts(self).values.detach()


def index_kernel(name: str, what: str, row: bool, part: Callable[[CompressedParts], Tensor]) -> None:
    """Register the kernel that returns one of the tensors of indices."""

    def indices(keys: int, self: Tensor) -> Tensor:
        held = parts(self)
        if (held.layout in ROW_COMPRESSED) is not row:
            raise expected_part(name, what, self)
        return part(held).detach()

    COMPRESSED.add(name, indices)
    COMPRESSED_META.add(name, indices)


index_kernel("crow_indices", "row", True, lambda held: held.compressed)
index_kernel("col_indices", "row", True, lambda held: held.plain)
index_kernel("ccol_indices", "column", False, lambda held: held.compressed)
index_kernel("row_indices", "column", False, lambda held: held.plain)


# Without elements, and like others --------------------------------------------------------------------------------


def without_elements(name: str, size: Sequence[int], of: Layout, element: dtype | None, on: device | None) -> Tensor:
    """A tensor in which no element is specified."""
    shape, element, on = tuple(size), get_default_dtype() if element is None else element, on or CPU
    if len(shape) < 2:
        raise ShapeError(
            f"torch.{name}: Only batched sparse compressed (non-block) tensors are supported, but got size "
            f"{list(shape)}"
        )
    if of in BLOCKED:
        raise no_blocks(f"{name}_sparse_compressed", of)
    batch, (rows, columns) = shape[:-2], shape[-2:]
    lines = rows if of in ROW_COMPRESSED else columns
    starts, plain = zeros_of((*batch, lines + 1), int64, on), zeros_of((*batch, 0), int64, on)
    return compressed(of, starts, plain, zeros_of((*batch, 0), element, on), shape)


def no_blocks(name: str, of: Layout) -> ArgumentError:
    """The error of a layout with blocks where no size of blocks is known."""
    return ArgumentError(f"{name} expected sparse compressed (non-block) tensor layout but got {SAID[of.name]}")


@COMPRESSED_META.impl("empty.memory_format")
@COMPRESSED.impl("empty.memory_format")
def empty_(
    keys: int,
    size: Sequence[int],
    dtype: dtype | None,
    layout: Layout | None,
    device: device | None,
    pin_memory: bool | None,
    memory_format: memory_format | None,
) -> Tensor:
    """A tensor without specified elements."""
    return without_elements("empty", size, sparse_csr if layout is None else layout, dtype, device)


@COMPRESSED.impl("zeros")
def zeros(
    keys: int,
    size: Sequence[int],
    dtype: dtype | None,
    layout: Layout | None,
    device: device | None,
    pin_memory: bool | None,
) -> Tensor:
    """A tensor that is zero everywhere: none of its elements is kept."""
    return without_elements("zeros", size, sparse_csr if layout is None else layout, dtype, device)


@COMPRESSED_META.impl("empty_like")
@COMPRESSED.impl("empty_like")
def empty_like(
    keys: int,
    self: Tensor,
    dtype: dtype | None,
    layout: Layout | None,
    device: device | None,
    pin_memory: bool | None,
    memory_format: memory_format | None,
) -> Tensor:
    """A tensor with the same indices, whose values are 0 until they are written to."""
    on = _checked(device or self.device)
    element, held = self.dtype if dtype is None else dtype, parts(self)
    if layout is sparse_coo:
        return empty_coo(self._shape, len(self._shape) - held.dense_dim, element, on)
    if layout is not None and layout is not held.layout:
        raise ArgumentError(
            f"empty_like with different sparse layout is not supported (self is {SAID[held.layout.name]} but you "
            f"requested {SAID[layout.name]})"
        )
    if memory_format is preserve_format:
        raise ArgumentError("unsupported memory format Preserve")
    starts, plain = (one.to(on, copy=True) for one in (held.compressed, held.plain))
    return compressed(held.layout, starts, plain, zeros_of(held.values._shape, element, on), self._shape)


@COMPRESSED_META.impl("zeros_like")
@COMPRESSED.impl("zeros_like")
def zeros_like(
    keys: int,
    self: Tensor,
    dtype: dtype | None,
    layout: Layout | None,
    device: device | None,
    pin_memory: bool | None,
    memory_format: memory_format | None,
) -> Tensor:
    """A tensor of the same sizes without specified elements, in any of the compressed layouts."""
    held = parts(self)
    if layout is None or layout is held.layout or layout not in COMPRESSED_LAYOUTS:
        return empty_like(keys, self, dtype, layout, device, pin_memory, None).zero_()
    if (layout in BLOCKED) is not bool(held.blocksize):
        name = "sparse_compressed_tensor_with_dims: blocksize"
        if layout in BLOCKED:
            raise ArgumentError(f"{name} needs to be a tuple of size 2, but got 0")
        raise ArgumentError(f"{name} cannot be specified for non-block layout {SAID[layout.name]}")
    made_with = self.dtype if dtype is None else dtype, layout, device, pin_memory
    return with_dims(keys, 0, held.dense_dim, self._shape, held.blocksize, held.plain.dtype, *made_with)


@COMPRESSED_META.impl("zero_")
@COMPRESSED.impl("zero_")
def zero_(keys: int, self: Tensor) -> Tensor:
    """No element specified."""
    held = parts(self)
    batch, index = held.plain._shape[:-1], held.plain.dtype
    start = held.batch_dim + 1
    held.compressed, held.plain = (
        zeros_of(shape, index, self.device) for shape in (held.compressed._shape, (*batch, 0))
    )
    held.values = zeros_of((*batch, 0, *held.values._shape[start:]), self.dtype, self.device)
    return self


@COMPRESSED_META.impl("fill_.Scalar", "fill_.Tensor")
@COMPRESSED.impl("fill_.Scalar", "fill_.Tensor")
def fill_(keys: int, self: Tensor, value: object) -> Tensor:
    """Every specified element the same."""
    parts(self).values.fill_(value)  # type: ignore[call-overload]
    return self


@COMPRESSED.impl("normal_")
def normal_(keys: int, self: Tensor, mean: float, std: float, generator: object) -> Tensor:
    """Every specified element a random number."""
    parts(self).values.normal_(mean, std, generator=generator)  # type: ignore[arg-type]
    return self


@COMPRESSED.impl("resize_")
def resize_(keys: int, self: Tensor, size: Sequence[int], memory_format: memory_format | None) -> Tensor:
    """Other sizes of a matrix: new rows are empty, and the last of the rows that stay gets what others had."""
    held, shape = parts(self), tuple(size)
    if len(shape) < 2:
        raise ShapeError(f"torch.resize_: Only batched sparse CSR matrices are supported, but got size {list(shape)}")
    if shape[-1] < self._shape[-1]:
        raise ShapeError(
            "torch.resize_: Resizing columns of sparse CSR tensors to a smaller value is not supported. The original "
            f"number of columns is {self._shape[-1]} while the requested new number of columns is {shape[-1]}."
        )
    if held.layout in BLOCKED or held.dense_dim or held.batch_dim or len(shape) != 2:
        raise ShapeError(f"resize_: only a CSR or CSC matrix can be resized, to two sizes; got {list(shape)}")
    by_row = held.layout in ROW_COMPRESSED
    lines, width = shape if by_row else shape[::-1]
    before = self._shape[1 if by_row else 0]
    if width < before:
        raise ShapeError(
            f"torch.resize_: Resizing columns of sparse {'CSR' if by_row else 'CSC'} tensors to a smaller value is not "
            f"supported. The original number of columns is {before} while the requested new number of columns is "
            f"{width}."
        )
    starts = held.compressed.array()
    fresh = np.full(lines + 1, held.nnz, starts.dtype)
    kept = min(lines, len(starts) - 1)
    fresh[:kept] = starts[:kept]
    held.compressed = wrap(fresh, held.plain.dtype)
    self._shape, self._strides = shape, (0, 0)
    return self


@COMPRESSED.impl("resize_as_sparse_")
def resize_as_sparse_(keys: int, self: Tensor, the_template: Tensor) -> Tensor:
    """The sizes and the indices of another tensor, and as many values."""
    for name, tensor in (("src ", the_template), ("self ", self)):
        if not is_compressed(tensor):
            raise expected_compressed(f"resize_as_sparse_compressed_: {name}", tensor.layout)
    if self.layout is not the_template.layout:
        raise ArgumentError(
            "resize_as_sparse_compressed_tensor_: self and src must have the same layout, but got: self "
            f"({SAID[self.layout.name]}) and source ({SAID[the_template.layout.name]})"
        )
    held, before = parts(the_template), parts(self).values.array().reshape(-1)
    fresh = np.zeros(held.values._shape, self.dtype.numpy)
    fresh.reshape(-1)[: before.size] = before[: fresh.size]
    values = wrap(fresh, self.dtype)
    like = compressed(held.layout, held.compressed.clone(), held.plain.clone(), values, the_template._shape)
    return set_parts(self, like)
