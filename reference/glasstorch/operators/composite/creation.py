"""How are new tensors with known contents made of `empty` and `fill_`?

Mirrors: aten/src/ATen/native/TensorFactories.cpp
Differs: nothing in substance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core.device import device as Device
from glasstorch.core.dtype import Number, dtype_of_number
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.geometry import strides_like
from glasstorch.core.layout import layout as Layout
from glasstorch.core.layout import memory_format as MemoryFormat
from glasstorch.core.layout import preserve_format
from glasstorch.operators.direct import factory

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

empty = factory("empty.memory_format")
empty_strided = factory("empty_strided")
arange = factory("arange.start_step")

# Of a given size ------------------------------------------------------------------------------------------------
# `options` are dtype, layout, device and pin_memory, in this order.


def zeros(size: Sequence[int], *options: Any) -> Tensor:
    """A tensor of 0."""
    return empty(size, *options, None).zero_()  # type: ignore[no-any-return]


def ones(size: Sequence[int], *options: Any) -> Tensor:
    """A tensor of 1."""
    return empty(size, *options, None).fill_(1)  # type: ignore[no-any-return]


def full(size: Sequence[int], fill_value: Number, dtype: Dtype | None, *options: Any) -> Tensor:
    """A tensor of one value, in the value's dtype unless another is given."""
    dtype = dtype_of_number(fill_value) if dtype is None else dtype
    return empty(size, dtype, *options, None).fill_(fill_value)  # type: ignore[no-any-return]


def scalar_tensor(s: Number, *options: Any) -> Tensor:
    """A 0-dim tensor of one number, in the default dtype unless another is given."""
    return empty((), *options, None).fill_(s)  # type: ignore[no-any-return]


def arange_end(end: Number, *options: Any) -> Tensor:
    """The numbers from 0 up to `end`."""
    return arange(0, end, 1, *options)  # type: ignore[no-any-return]


def arange_start(start: Number, end: Number, *options: Any) -> Tensor:
    """The numbers from `start` up to `end`."""
    return arange(start, end, 1, *options)  # type: ignore[no-any-return]


# Like another tensor --------------------------------------------------------------------------------------------
# `options` are those of empty_like: dtype, layout, device, pin_memory and memory_format.


def empty_like(
    self: Tensor,
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    memory_format: MemoryFormat | None,
) -> Tensor:
    """An uninitialised tensor of the same size, which also keeps the order of dimensions in memory."""
    dtype = self.dtype if dtype is None else dtype
    device = self.device if device is None else device
    if memory_format is preserve_format:
        memory_format = None
    if memory_format is None and self._strides is not None:
        strides = strides_like(self._shape, self._strides)
        return empty_strided(  # type: ignore[no-any-return]
            self._shape, strides, dtype, layout, device, pin_memory
        )
    return empty(self._shape, dtype, layout, device, pin_memory, memory_format)  # type: ignore[no-any-return]


def zeros_like(self: Tensor, *options: Any) -> Tensor:
    """A tensor of 0."""
    return empty_like(self, *options).zero_()


def ones_like(self: Tensor, *options: Any) -> Tensor:
    """A tensor of 1."""
    return empty_like(self, *options).fill_(1)


def full_like(self: Tensor, fill_value: Number, *options: Any) -> Tensor:
    """A tensor of one value."""
    return empty_like(self, *options).fill_(fill_value)


# Of this tensor's dtype and device, in another size -------------------------------------------------------------
# `options` are dtype, layout, device and pin_memory; where none is given, dtype and device are this tensor's.


def _like(
    self: Tensor, dtype: Dtype | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> tuple[Dtype, Layout | None, Device, bool | None]:
    return (
        self.dtype if dtype is None else dtype,
        layout,
        self.device if device is None else device,
        pin_memory,
    )


def new_empty(self: Tensor, size: Sequence[int], *options: Any) -> Tensor:
    """An uninitialised tensor."""
    return empty(size, *_like(self, *options), None)  # type: ignore[no-any-return]


def new_empty_strided(self: Tensor, size: Sequence[int], stride: Sequence[int], *options: Any) -> Tensor:
    """An uninitialised tensor of the given strides."""
    return empty_strided(size, stride, *_like(self, *options))  # type: ignore[no-any-return]


def new_zeros(self: Tensor, size: Sequence[int], *options: Any) -> Tensor:
    """A tensor of 0."""
    return empty(size, *_like(self, *options), None).zero_()  # type: ignore[no-any-return]


def new_ones(self: Tensor, size: Sequence[int], *options: Any) -> Tensor:
    """A tensor of 1."""
    return empty(size, *_like(self, *options), None).fill_(1)  # type: ignore[no-any-return]


def new_full(self: Tensor, size: Sequence[int], fill_value: Number, *options: Any) -> Tensor:
    """A tensor of one value."""
    return empty(size, *_like(self, *options), None).fill_(fill_value)  # type: ignore[no-any-return]
