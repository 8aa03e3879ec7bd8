"""How are new tensors with known contents made of `empty` and `fill_`?

Mirrors: aten/src/ATen/native/TensorFactories.cpp
Differs: nothing in substance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core import hooks
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import Number, dtype_of_number
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.geometry import strides_like
from glasstorch.core.keys import BELOW_ADINPLACEORVIEW, KEYS_OF_DEVICE
from glasstorch.core.layout import layout as Layout
from glasstorch.core.layout import memory_format as MemoryFormat
from glasstorch.core.layout import preserve_format
from glasstorch.operators.direct import factory
from glasstorch.operators.generated.registry import table

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

empty = factory("empty.memory_format")
empty_strided = factory("empty_strided")
arange = factory("arange.start_step")
zeros_operator = factory("zeros")
ones_operator = factory("ones")
full_operator = factory("full")

EMPTY, EMPTY_STRIDED, ARANGE = table("empty.memory_format"), table("empty_strided"), table("arange.start_step")
FILL_, ZERO_ = table("fill_.Scalar"), table("zero_")


def _zeroed(tensor: Tensor) -> Tensor:
    """A fresh tensor set to 0; as it is fresh, neither autograd nor its version need hear of it."""
    keys = tensor.key_set & BELOW_ADINPLACEORVIEW
    return ZERO_[keys](keys, tensor)  # type: ignore[no-any-return]


def _filled(tensor: Tensor, value: Number) -> Tensor:
    """As `_zeroed`, set to a number."""
    keys = tensor.key_set & BELOW_ADINPLACEORVIEW
    return FILL_[keys](keys, tensor, value)  # type: ignore[no-any-return]


# Of a given size ------------------------------------------------------------------------------------------------
# `options` are dtype, layout, device and pin_memory, in this order.


def zeros(keys: int, size: Sequence[int], *options: Any) -> Tensor:  # hot path: benchmarks/eager.py
    """A tensor of 0."""
    return _zeroed(EMPTY[keys](keys, size, *options, None))


def ones(keys: int, size: Sequence[int], *options: Any) -> Tensor:
    """A tensor of 1."""
    return _filled(EMPTY[keys](keys, size, *options, None), 1)


def full(keys: int, size: Sequence[int], fill_value: Number, dtype: Dtype | None, *options: Any) -> Tensor:
    """A tensor of one value, in the value's dtype unless another is given."""
    dtype = dtype_of_number(fill_value) if dtype is None else dtype
    return _filled(EMPTY[keys](keys, size, dtype, *options, None), fill_value)


def scalar_tensor(keys: int, s: Number, *options: Any) -> Tensor:
    """A 0-dim tensor of one number, in the default dtype unless another is given."""
    return _filled(EMPTY[keys](keys, (), *options, None), s)


def arange_end(keys: int, end: Number, *options: Any) -> Tensor:
    """The numbers from 0 up to `end`."""
    return ARANGE[keys](keys, 0, end, 1, *options)  # type: ignore[no-any-return]


def arange_start(keys: int, start: Number, end: Number, *options: Any) -> Tensor:
    """The numbers from `start` up to `end`."""
    return ARANGE[keys](keys, start, end, 1, *options)  # type: ignore[no-any-return]


# Like another tensor --------------------------------------------------------------------------------------------
# `options` are those of empty_like: dtype, layout, device, pin_memory and memory_format. On which keys they dispatch
# is said by the new tensor's device, as in BackendSelect.


def empty_like(
    keys: int,
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
    if device.type == "cuda":
        device = hooks.cuda_hooks.indexed(device)
    below = KEYS_OF_DEVICE[device.type] & BELOW_ADINPLACEORVIEW
    if memory_format is preserve_format:
        memory_format = None
    if memory_format is None and self._strides is not None:
        strides = strides_like(self._shape, self._strides)
        strided: Tensor = EMPTY_STRIDED[below](below, self._shape, strides, dtype, layout, device, pin_memory)
        return strided
    result: Tensor = EMPTY[below](below, self._shape, dtype, layout, device, pin_memory, memory_format)
    return result


def zeros_like(keys: int, self: Tensor, *options: Any) -> Tensor:
    """A tensor of 0."""
    return _zeroed(empty_like(keys, self, *options))


def ones_like(keys: int, self: Tensor, *options: Any) -> Tensor:
    """A tensor of 1."""
    return _filled(empty_like(keys, self, *options), 1)


def full_like(keys: int, self: Tensor, fill_value: Number, *options: Any) -> Tensor:
    """A tensor of one value."""
    return _filled(empty_like(keys, self, *options), fill_value)


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
    return zeros_operator(size, *_like(self, *options))  # type: ignore[no-any-return]


def new_ones(self: Tensor, size: Sequence[int], *options: Any) -> Tensor:
    """A tensor of 1."""
    return ones_operator(size, *_like(self, *options))  # type: ignore[no-any-return]


def new_full(self: Tensor, size: Sequence[int], fill_value: Number, *options: Any) -> Tensor:
    """A tensor of one value."""
    return full_operator(size, fill_value, *_like(self, *options))  # type: ignore[no-any-return]
