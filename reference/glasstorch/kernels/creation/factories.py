"""What do the factory functions of all backends check and compute in the same way?

Mirrors: aten/src/ATen/EmptyTensor.cpp, aten/src/ATen/native/TensorFactories.cpp
Differs: NumPy computes triangle indices on the host, for every device.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, empty, empty_pinned, empty_strided, wrap
from glasstorch.core import hooks, private_use
from glasstorch.core.device import CPU, META, device
from glasstorch.core.dtype import BAREBONES_UNSIGNED, Number, dtype, get_default_dtype, int32, int64
from glasstorch.core.errors import DeviceError, ShapeError, StorageError, not_implemented_for
from glasstorch.core.geometry import Shape, channels_last_strides, contiguous_strides, lesser, span
from glasstorch.core.layout import channels_last, channels_last_3d, contiguous_format, layout, memory_format
from glasstorch.core.symbols import is_unknown
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.composite.creation import without_zeros

COMPOSED = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)
IMPLICIT = KernelTable("CompositeImplicitAutograd", calls_operators=True, takes_keys=False)

RANKS = {channels_last: 4, channels_last_3d: 5}


def exceeds(number: int, limit: int) -> bool:
    """Whether a number reaches a limit; that of bytes or elements which no symbol is asked for."""
    return type(number) is int and number >= limit


def is_negative(length: Any) -> bool:
    """Whether a size is negative; a symbol that depends on elements is stated not to be."""
    if type(length) is int:
        return length < 0
    if is_unknown(length):
        return not length.node.expect_size("", 0)
    return bool(length < 0)


def checked_shape(size: Sequence[int]) -> Shape:
    """The sizes as a shape; a negative one is refused."""
    shape = tuple(size)
    for length in shape:
        if length < 0 if type(length) is int else is_negative(length):
            raise ShapeError(f"Trying to create tensor with negative dimension {min(shape)}: {list(shape)}")
    return shape


def strides_of_format(shape: Shape, format: memory_format | None) -> Shape | None:
    """The strides that a memory format gives a new tensor; None for row-major."""
    if format is None or format is contiguous_format:
        return None
    if format not in RANKS:
        raise ShapeError("unsupported memory format Preserve")
    if len(shape) != RANKS[format]:
        raise ShapeError(f"required rank {RANKS[format]} tensor to use {format.name} format")
    return channels_last_strides(shape)


def pinned(shape: Shape, strides: Shape | None, dtype: dtype, on: device) -> Tensor:
    """An uninitialised tensor in pinned memory, which only CUDA's allocator gives and only CPU tensors have."""
    if on is not CPU:
        raise DeviceError(f"Only dense CPU tensors can be pinned; pin_memory=True was asked for on {on}")
    try:
        if not private_use.is_accelerator():
            hooks.cuda_hooks.lazy_init()
    except DeviceError as error:
        raise DeviceError(
            "pin_memory=True requires a CUDA or other accelerator backend; no pinned memory allocator is available "
            f"on this system. {error}"
        ) from None
    return empty_pinned(shape, contiguous_strides(shape) if strides is None else strides, dtype)


def new_empty(
    on: device, size: Sequence[int], dtype: dtype | None, pin_memory: bool | None, format: memory_format | None
) -> Tensor:
    """The kernel of `empty` on a device."""
    shape = checked_shape(size)
    dtype = get_default_dtype() if dtype is None else dtype
    strides = None if format is None else strides_of_format(shape, format)
    if pin_memory and on is not META:
        return pinned(shape, strides, dtype, on)
    return empty(shape, dtype, on) if strides is None else empty_strided(shape, strides, dtype, on)


def new_empty_strided(
    on: device, size: Sequence[int], stride: Sequence[int], dtype: dtype | None, pin_memory: bool | None
) -> Tensor:
    """The kernel of `empty_strided` on a device."""
    shape, strides = checked_shape(size), tuple(stride)
    if len(shape) != len(strides):
        raise ShapeError(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(strides)})"
        )
    if any(step < 0 for step in strides) or exceeds(span(shape, strides), 1 << 60):  # beyond int64 with 8 bytes each
        raise StorageError(f"Storage size calculation overflowed with sizes={list(shape)} and strides={list(strides)}")
    dtype = get_default_dtype() if dtype is None else dtype
    if pin_memory and on is not META:
        return pinned(shape, strides, dtype, on)
    return empty_strided(shape, strides, dtype, on)


def register_empty(table: KernelTable, on: device | None = None) -> None:
    """Register `empty` and `empty_strided` of a backend: on its only device, or on the one that is asked for."""

    def uninitialised(
        keys: int,
        size: Sequence[int],
        dtype: dtype | None,
        layout: layout | None,
        device: Any,
        pin_memory: bool | None,
        memory_format: memory_format | None,
    ) -> Tensor:  # hot path: benchmarks/eager.py
        shape, device = tuple(size), on or device
        if pin_memory or memory_format is not None or (shape and (on is META or min(shape) < 0)):
            return new_empty(device, shape, dtype, pin_memory, memory_format)
        return empty(shape, get_default_dtype() if dtype is None else dtype, device)

    def uninitialised_strided(
        keys: int,
        size: Sequence[int],
        stride: Sequence[int],
        dtype: dtype | None,
        layout: layout | None,
        device: Any,
        pin_memory: bool | None,
    ) -> Tensor:
        return new_empty_strided(on or device, size, stride, dtype, pin_memory)

    table.add("empty.memory_format", uninitialised)
    table.add("empty_strided", uninitialised_strided)


# out= forms -----------------------------------------------------------------------------------------------------


@IMPLICIT.impl("empty.out")
def empty_out(size: Sequence[int], memory_format: memory_format | None, out: Tensor) -> Tensor:
    """`out`, resized."""
    if out.is_sparse:
        return out.sparse_resize_and_clear_(size, len(size), 0)
    return out.resize_(size) if memory_format is None else out.resize_(size, memory_format=memory_format)


@COMPOSED.impl("zeros.out")
def zeros_out(size: Sequence[int], out: Tensor) -> Tensor:
    """`out`, resized and set to 0."""
    if out.is_sparse:
        return out.sparse_resize_and_clear_(size, len(size), 0)
    return out.resize_(size).zero_()


@COMPOSED.impl("ones.out")
def ones_out(size: Sequence[int], out: Tensor) -> Tensor:
    """`out`, resized and set to 1."""
    if out.is_sparse:
        raise without_zeros()
    return out.resize_(size).fill_(1)


@COMPOSED.impl("full.out")
def full_out(size: Sequence[int], fill_value: Number, out: Tensor) -> Tensor:
    """`out`, resized and filled."""
    if out.is_sparse:
        raise without_zeros()
    return out.resize_(size).fill_(fill_value)


@COMPOSED.impl("eye.out")
def eye_out(n: int, out: Tensor) -> Tensor:
    """`out`, resized to a square, with ones on its diagonal."""
    return eye_m_out(n, n, out)


@COMPOSED.impl("eye.m_out")
def eye_m_out(n: int, m: int, out: Tensor) -> Tensor:
    """`out`, resized to (n, m), with ones on its diagonal."""
    for name, size in (("n", n), ("m", m)):
        if size < 0:
            raise ShapeError(f"{name} must be greater or equal to 0, got {size}")
    if out.dtype in BAREBONES_UNSIGNED and not out.is_meta:
        raise not_implemented_for("eye", out.dtype)
    out.resize_((n, m)).zero_()
    rows, columns = out.strides()
    out.as_strided((lesser(n, m),), (rows + columns,), out._offset).fill_(1)
    return out


# Indices of triangles -------------------------------------------------------------------------------------------


@COMPOSED.impl("tril_indices")
def tril_indices(
    row: int,
    col: int,
    offset: int,
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
) -> Tensor:
    """The rows (first) and columns (second) of the elements on and below a diagonal of a (row, col) matrix."""
    check_triangle("tril_indices", row, col, dtype, layout)
    return placed_indices(np.tril_indices(row, offset, col), dtype, device, pin_memory)


@COMPOSED.impl("triu_indices")
def triu_indices(
    row: int,
    col: int,
    offset: int,
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
) -> Tensor:
    """The rows (first) and columns (second) of the elements on and above a diagonal of a (row, col) matrix."""
    check_triangle("triu_indices", row, col, dtype, layout)
    return placed_indices(np.triu_indices(row, offset, col), dtype, device, pin_memory)


def check_triangle(name: str, row: int, col: int, dtype: dtype | None, layout: layout | None) -> None:
    """Refuse a negative number of rows or columns, and dtypes other than index dtypes."""
    for word, size in (("row", row), ("col", col)):
        if size < 0:
            raise ShapeError(f"{word} must be non-negative, got{size}")
    if dtype not in (None, int32, int64):
        assert dtype is not None
        raise not_implemented_for(name, dtype)


def placed_indices(
    indices: tuple[Array, ...], dtype: dtype | None, device: device | None, pin_memory: bool | None
) -> Tensor:
    """Rows and columns as a tensor of sizes (2, n)."""
    found = wrap(np.stack(indices).astype(np.int64, copy=False), int64).to(int64 if dtype is None else dtype)
    if pin_memory:
        found = found.pin_memory()
    return found if device is None else found.to(device)
