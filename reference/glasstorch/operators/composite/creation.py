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
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.operator import registry

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

_EMPTY = registry.find("aten::empty.memory_format").table
_EMPTY_STRIDED = registry.find("aten::empty_strided").table
_ARANGE = registry.find("aten::arange.start_step").table


def empty_of_size(size: Sequence[int], *options: Any) -> Tensor:  # hot path: benchmarks/eager.py
    """`empty` with dtype, layout, device, pin_memory and memory_format in place, past the parser of Python calls."""
    included, allowed = active_keys.get()
    keys = included & allowed
    return _EMPTY[keys](keys, size, *options)  # type: ignore[no-any-return]


# Of a given size ------------------------------------------------------------------------------------------------


def zeros(
    size: Sequence[int], dtype: Dtype | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> Tensor:
    """A tensor of 0."""
    return empty_of_size(size, dtype, layout, device, pin_memory, None).zero_()


def ones(
    size: Sequence[int], dtype: Dtype | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> Tensor:
    """A tensor of 1."""
    return empty_of_size(size, dtype, layout, device, pin_memory, None).fill_(1)


def full(
    size: Sequence[int],
    fill_value: Number,
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    """A tensor of one value, in the value's dtype unless another is given."""
    dtype = dtype_of_number(fill_value) if dtype is None else dtype
    return empty_of_size(size, dtype, layout, device, pin_memory, None).fill_(fill_value)


def scalar_tensor(
    s: Number, dtype: Dtype | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> Tensor:
    """A 0-dim tensor of one number, in the default dtype unless another is given."""
    return empty_of_size((), dtype, layout, device, pin_memory, None).fill_(s)


def arange_end(
    end: Number, dtype: Dtype | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> Tensor:
    """The numbers from 0 up to `end`."""
    return _arange(0, end, dtype, layout, device, pin_memory)


def arange_start(
    start: Number,
    end: Number,
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
) -> Tensor:
    """The numbers from `start` up to `end`."""
    return _arange(start, end, dtype, layout, device, pin_memory)


def _arange(start: Number, end: Number, *options: Any) -> Tensor:
    included, allowed = active_keys.get()
    keys = included & allowed
    return _ARANGE[keys](keys, start, end, 1, *options)  # type: ignore[no-any-return]


# Like another tensor --------------------------------------------------------------------------------------------


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
    if (memory_format is None or memory_format is preserve_format) and self._strides is not None:
        included, allowed = active_keys.get()
        keys = included & allowed
        strides = strides_like(self._shape, self._strides)
        return _EMPTY_STRIDED[keys](  # type: ignore[no-any-return]
            keys, self._shape, strides, dtype, layout, device, pin_memory
        )
    return empty_of_size(self._shape, dtype, layout, device, pin_memory, memory_format)


def zeros_like(self: Tensor, *options: Any) -> Tensor:
    """A tensor of 0; `options` are those of `empty_like`."""
    return empty_like(self, *options).zero_()


def ones_like(self: Tensor, *options: Any) -> Tensor:
    """A tensor of 1; `options` are those of `empty_like`."""
    return empty_like(self, *options).fill_(1)


def full_like(self: Tensor, fill_value: Number, *options: Any) -> Tensor:
    """A tensor of one value; `options` are those of `empty_like`."""
    return empty_like(self, *options).fill_(fill_value)


# Of this tensor's dtype and device, in another size -------------------------------------------------------------


def _options(
    self: Tensor, dtype: Dtype | None, layout: Layout | None, device: Device | None, pin_memory: bool | None
) -> tuple[Dtype, Layout | None, Device, bool | None]:
    """Options with this tensor's own where none is given."""
    return (
        self.dtype if dtype is None else dtype,
        layout,
        self.device if device is None else device,
        pin_memory,
    )


def new_empty(self: Tensor, size: Sequence[int], *options: Any) -> Tensor:
    """An uninitialised tensor."""
    return empty_of_size(size, *_options(self, *options), None)


def new_empty_strided(self: Tensor, size: Sequence[int], stride: Sequence[int], *options: Any) -> Tensor:
    """An uninitialised tensor of the given strides."""
    included, allowed = active_keys.get()
    keys = included & allowed
    return _EMPTY_STRIDED[keys](keys, size, stride, *_options(self, *options))  # type: ignore[no-any-return]


def new_zeros(self: Tensor, size: Sequence[int], *options: Any) -> Tensor:
    """A tensor of 0."""
    return empty_of_size(size, *_options(self, *options), None).zero_()


def new_ones(self: Tensor, size: Sequence[int], *options: Any) -> Tensor:
    """A tensor of 1."""
    return empty_of_size(size, *_options(self, *options), None).fill_(1)


def new_full(self: Tensor, size: Sequence[int], fill_value: Number, *options: Any) -> Tensor:
    """A tensor of one value."""
    return empty_of_size(size, *_options(self, *options), None).fill_(fill_value)
