"""When is a copy needed, and when is the tensor itself returned?

Mirrors: aten/src/ATen/native/TensorConversions.cpp (to), TensorProperties.cpp (contiguous), Fill.cpp, Scalar.cpp (item)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from glasstorch.core import private_use
from glasstorch.core.device import CPU
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import Number
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.core.geometry import looks_channels_last
from glasstorch.core.layout import channels_last, channels_last_3d, contiguous_format, preserve_format
from glasstorch.core.layout import layout as Layout
from glasstorch.core.layout import memory_format as MemoryFormat
from glasstorch.operators.composite.creation import empty_like
from glasstorch.operators.direct import on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

ALONE = ("cpu", "meta")  # the kinds of which there is one device, whatever index a program gives it

clone = on_tensor("clone")
_to_copy = on_tensor("_to_copy")
local_scalar_dense: Callable[..., Number] = on_tensor("_local_scalar_dense")


def contiguous(self: Tensor, memory_format: MemoryFormat) -> Tensor:
    """The tensor itself if it is laid out so, else a copy that is."""
    if memory_format is contiguous_format or memory_format is preserve_format:
        if self.is_row_major():
            return self
        if memory_format is preserve_format:
            raise ShapeError("preserve memory format is unsupported by the contiguous operator")
    elif self.is_contiguous(memory_format=memory_format):
        return self
    return clone(self, memory_format)


def suggested_memory_format(tensor: Tensor) -> MemoryFormat:
    """The memory format that a tensor's strides suggest; contiguous if they suggest none."""
    if tensor._strides is None or not looks_channels_last(tensor._shape, tensor._strides):
        return contiguous_format
    return channels_last if len(tensor._shape) == 4 else channels_last_3d


# Another dtype or device ----------------------------------------------------------------------------------------


def to_options(
    self: Tensor,
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    copy: bool,
    memory_format: MemoryFormat | None,
) -> Tensor:
    """The tensor itself if it is of that dtype, device and layout already, else a copy that is."""
    if device is not None and device is not CPU:
        device = private_use.with_index(device)
    if (
        not copy
        and (dtype is None or dtype is self.dtype)
        and (device is None or device is self.device or (device.type == self.device.type and device.type in ALONE))
        and memory_format in (None, preserve_format, suggested_memory_format(self))
    ):
        return self
    return _to_copy(self, dtype, layout, device, pin_memory, non_blocking, memory_format)


def to_copy(
    self: Tensor,
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    memory_format: MemoryFormat | None,
) -> Tensor:
    """A copy of another dtype or on another device: an empty tensor there, and copy_.

    A non-blocking copy to the CPU goes to pinned memory.
    """
    if non_blocking and device is not None and device.type == "cpu" and self.device.type == "cuda":
        pin_memory = True
    return empty_like(self.key_set, self, dtype, layout, device, pin_memory, memory_format).copy_(self, non_blocking)


def to_dtype(self: Tensor, dtype: Dtype, non_blocking: bool, copy: bool, memory_format: MemoryFormat | None) -> Tensor:
    """`to` with a dtype."""
    return to_options(self, dtype, None, None, None, non_blocking, copy, memory_format)


def to_device(
    self: Tensor, device: Device, dtype: Dtype, non_blocking: bool, copy: bool, memory_format: MemoryFormat | None
) -> Tensor:
    """`to` with a device and a dtype."""
    return to_options(self, dtype, None, device, None, non_blocking, copy, memory_format)


def to_other(self: Tensor, other: Tensor, non_blocking: bool, copy: bool, memory_format: MemoryFormat | None) -> Tensor:
    """`to` with another tensor's dtype and device."""
    return to_options(self, other.dtype, None, other.device, None, non_blocking, copy, memory_format)


def type_as(self: Tensor, other: Tensor) -> Tensor:
    """`to` with another tensor's dtype and device."""
    return to_options(self, other.dtype, None, other.device, None, False, False, None)


# Another geometry in place ---------------------------------------------------------------------------------------


def resize_as_(self: Tensor, the_template: Tensor, memory_format: MemoryFormat | None) -> Tensor:
    """Resize to another tensor's shape; with `preserve_format`, also to its memory format."""
    if self.is_sparse and the_template.is_sparse:
        if memory_format is not None:
            word = str(memory_format).rpartition(".")[2].removesuffix("_format").title()
            raise ArgumentError(f"Unsupported memory format for sparse tensor resize_as_ :{word}")
        return self.resize_as_sparse_(the_template)
    self.resize_(the_template._shape)
    if memory_format is None:
        return self
    if memory_format is preserve_format:
        memory_format = suggested_memory_format(the_template)
    return self.resize_(the_template._shape, memory_format=memory_format)


def set_tensor_geometry(
    self: Tensor, source: Tensor, storage_offset: int, size: Sequence[int], stride: Sequence[int]
) -> Tensor:
    """`set_` with the storage of a contiguous tensor; the offset counts from its first element."""
    if not source.is_row_major():
        raise ShapeError(
            f"passed in tensor to be used as storage must be contiguous, it has sizes {list(source._shape)} and "
            f"strides {list(source.strides())}"
        )
    return self.set_(source.untyped_storage(), storage_offset + source._offset, size, stride)


# One value ------------------------------------------------------------------------------------------------------


def fill(self: Tensor, value: Number | Tensor) -> Tensor:
    """A new tensor of this one's shape, dtype and memory format, filled."""
    return empty_like(self.key_set, self, None, None, None, None, None).fill_(value)


def copy(self: Tensor, src: Tensor, non_blocking: bool) -> Tensor:
    """What `copy_` would make of a tensor, as a new one."""
    return empty_like(self.key_set, self, None, None, None, None, None).copy_(src)


def zero(self: Tensor) -> Tensor:
    """What `zero_` would make of a tensor, as a new one."""
    return empty_like(self.key_set, self, None, None, None, None, None).zero_()


def fill_tensor_(self: Tensor, value: Tensor) -> Tensor:
    """Every element set to a 0-dim tensor's value."""
    if value._shape:
        raise ShapeError(
            f"fill_ only supports 0-dimension value tensor but got tensor with {len(value._shape)} dimensions."
        )
    if value.untyped_storage() is self.untyped_storage():
        value = clone(value, None)  # `value` may be one of the elements that are about to be overwritten
    return self.copy_(value)


def item(self: Tensor) -> Number:
    """The one element as a Python number."""
    if self.numel() != 1:
        raise ShapeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
    return local_scalar_dense(self)
