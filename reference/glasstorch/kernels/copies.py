"""Which strides, checks and storages do copies share on every backend?

Mirrors: aten/src/ATen/native/Copy.cpp, TensorConversions.cpp (_to_copy), Resize.cpp
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor, make
from glasstorch.core import geometry, inference
from glasstorch.core.dtype import dtype
from glasstorch.core.errors import DeviceError, DtypeError, ShapeError, StorageError
from glasstorch.core.geometry import Shape
from glasstorch.core.keys import CONJUGATE, NEGATIVE
from glasstorch.core.layout import contiguous_format, memory_format, preserve_format
from glasstorch.core.storage import Storage
from glasstorch.core.symbols import has_symbols
from glasstorch.core.typed_storage import TypedStorage
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.creation.factories import checked_shape, strides_of_format
from glasstorch.kernels.structured import check_sizes, check_writable
from glasstorch.operators.direct import on_pair

EVERY_BACKEND = KernelTable("CompositeExplicitAutograd")
CALLING_OPERATORS = KernelTable("CompositeExplicitAutograd", calls_operators=True)

_copy_from = on_pair("_copy_from")

# Layouts --------------------------------------------------------------------------------------------------------


def strides_of_copy(source: Tensor, format: memory_format | None) -> Shape | None:
    """The strides of a copy: the source's memory order unless a format is given; None for row-major."""
    if format is None or format is preserve_format:
        return None if source._strides is None else geometry.strides_like(source._shape, source._strides)
    return None if format is contiguous_format else strides_of_format(source._shape, format)


def same_elements(target: Tensor, source: Tensor) -> bool:
    """Whether two tensors are the same, or view the same elements in the same order, so that a copy does nothing."""
    return target is source or (
        target.dtype is source.dtype
        and target._storage is not None
        and target._storage is source._storage
        and (target._shape, target.strides(), target._offset) == (source._shape, source.strides(), source._offset)
    )


def check_copy(target: Tensor, source: Tensor) -> None:
    """Refuse a copy whose memory overlaps, or whose source does not broadcast to the target."""
    check_writable(target, (source,))
    if source._shape != target._shape:
        check_sizes(target, geometry.broadcast_shapes(target._shape, source._shape))


@CALLING_OPERATORS.impl("copy_")
def copy_(keys: int, self: Tensor, src: Tensor, non_blocking: bool) -> Tensor:
    """Overwrite with another tensor's elements, one of the two being on a device that a program brings.

    That device's own `_copy_from` does it, in either direction.
    """
    if not same_elements(self, src):
        check_copy(self, src)
        _copy_from(src, self, non_blocking)
    return self


# Another storage ------------------------------------------------------------------------------------------------


@EVERY_BACKEND.impl("resize_")
def resize_(keys: int, self: Tensor, size: Sequence[int], memory_format: memory_format | None) -> Tensor:
    """Resize in place; the storage grows where it must and never shrinks."""
    shape = checked_shape(size)
    if memory_format is preserve_format:
        raise ShapeError("Unsupported memory formatPreserve")
    strides = strides_of_format(shape, memory_format)
    if shape != self._shape or memory_format is not None:
        look_at(self, self.untyped_storage(), shape, strides, self._offset)
    return self


@EVERY_BACKEND.impl("set_.source_Storage_storage_offset")
def set_(
    keys: int, self: Tensor, source: Storage, storage_offset: int, size: Sequence[int], stride: Sequence[int]
) -> Tensor:
    """Point a tensor at another storage through the given geometry; the storage grows where it must."""
    source = untyped(source, self.dtype)
    if source.device is not self.device:
        raise DeviceError(
            f'Attempted to set the storage of a tensor on device "{self.device}" to a storage on different device '
            f'"{source.device}".  This is no longer allowed; the devices must match.'
        )
    if storage_offset < 0:
        raise StorageError(f"Tensor: invalid storage offset {storage_offset}")
    if stride and len(stride) != len(size):
        raise ShapeError(f"unequal size length ({len(size)}) and stride length ({len(stride)})")
    if any(step < 0 for step in stride):
        raise StorageError(f"Storage size calculation overflowed with sizes={list(size)} and strides={list(stride)}")
    if self.is_inference():
        source.clone_at_once()  # writing to this tensor would not materialize it
    look_at(self, source, checked_shape(size), tuple(stride) or None, storage_offset)
    return self


def untyped(storage: Storage | TypedStorage, wanted: dtype) -> Storage:
    """The untyped storage of a storage; a typed one must have the expected dtype."""
    if isinstance(storage, TypedStorage) and storage.dtype is not wanted:
        raise DtypeError(
            f"Expected a Storage of type {wanted.scalar_name} or an UntypedStorage, but got type "
            f"{storage.dtype.scalar_name} for argument 1 'storage'"
        )
    return storage.untyped()


@EVERY_BACKEND.impl("set_.source_Storage")
def set_storage(keys: int, self: Tensor, source: Storage) -> Tensor:
    """Point a tensor at the whole of another storage, as one dimension."""
    source = untyped(source, self.dtype)
    return set_(keys, self, source, 0, (source.nbytes() // self.dtype.itemsize,), ())


@EVERY_BACKEND.impl("set_.source_Tensor")
def set_tensor(keys: int, self: Tensor, source: Tensor) -> Tensor:
    """Point a tensor at another tensor's storage, with that tensor's geometry."""
    if source.dtype is not self.dtype:
        raise DtypeError(f"Could not set tensor of type {source.dtype} to a tensor of type {self.dtype}")
    if source.is_inference():
        source.untyped_storage().clone_at_once()
    return set_(keys, self, source.untyped_storage(), source._offset, source._shape, source.strides())


@EVERY_BACKEND.impl("set_")
def set_nothing(keys: int, self: Tensor) -> Tensor:
    """Point a tensor at a fresh empty storage."""
    look_at(self, Storage.allocate(0, self.device), (0,), None, 0)
    return self


@EVERY_BACKEND.impl("is_set_to")
def is_set_to(keys: int, self: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors share a storage, an offset, sizes and strides."""
    return (
        self.untyped_storage() is tensor.untyped_storage()
        and self._offset == tensor._offset
        and self._shape == tensor._shape
        and self.strides() == tensor.strides()
    )


@EVERY_BACKEND.impl("_lazy_clone")
def lazy_clone(keys: int, self: Tensor) -> Tensor:
    """A copy-on-write clone: its storage is copied when either tensor is first written to.

    Writes to an inference tensor pass no ADInplaceOrView kernel: its storage is copied at once.
    """
    storage = self.untyped_storage()
    at_once = self.is_inference() or inference.is_inference_mode_enabled()
    held = storage.clone() if at_once else storage.lazy_clone()
    result = make(held, self.dtype, self._shape, self._strides, self._offset)
    result.key_set |= self.key_set & (CONJUGATE | NEGATIVE)
    return result


def look_at(tensor: Tensor, storage: Storage, shape: Shape, strides: Shape | None, offset: int) -> None:
    """Point a tensor at a storage through a geometry; the storage grows to hold it."""
    steps = geometry.row_major(shape) if strides is None else strides
    strides = steps if has_symbols(shape) else strides
    if 0 not in shape:
        needed = (offset + geometry.span(shape, steps)) * tensor.dtype.itemsize
        if needed > storage.nbytes():
            storage.resize_(needed)
    tensor.set_storage(storage, shape, strides, offset)
