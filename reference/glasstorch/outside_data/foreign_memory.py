"""How does another library's memory become a tensor without a copy?

It imports buffers, NumPy's arrays, CUDA arrays of other libraries, and DLPack capsules.

Mirrors: torch/csrc/utils/tensor_numpy.cpp (tensor_from_numpy, tensor_from_cuda_array_interface),
    torch/csrc/utils/tensor_new.cpp (tensor_frombuffer), torch/utils/dlpack.py (from_dlpack)
Differs: memory that its owner marked read-only stays read-only: an in-place write fails where PyTorch's succeeds.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from glasstorch.calls.arguments import PYTHON_TYPES
from glasstorch.core import hooks, private_use
from glasstorch.core.device import CPU, device_from
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import from_numpy_dtype, get_default_dtype
from glasstorch.core.errors import (
    ArgumentError,
    ArgumentTypeError,
    ArgumentValueError,
    StorageError,
)
from glasstorch.core.storage import Storage
from glasstorch.core.tensor_impl import Array
from glasstorch.outside_data import dlpack, exchange
from glasstorch.outside_data.from_data import over_array, warn_of_read_only

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

__all__ = ["from_dlpack", "from_file", "from_numpy", "frombuffer", "to_dlpack"]


# NumPy ----------------------------------------------------------------------------------------------------------


def from_numpy(ndarray: Array) -> Tensor:
    """A tensor over an array's memory: writing to one is seen by the other."""
    if hooks.trace_hooks is not None:
        hooks.trace_hooks.made_from_data("torch.from_numpy")
    result = over_array(ndarray)
    if not ndarray.flags.writeable:
        warn_of_read_only(stacklevel=2)
    return result


# Python's buffer protocol ---------------------------------------------------------------------------------------


def frombuffer(
    buffer: Any, *, dtype: Dtype | type, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """A one-dimensional tensor over the bytes of an object (bytearray, memoryview, array, mmap ...).

    `offset` counts bytes, `count` elements; a negative `count` means all that follow.
    """
    if hooks.trace_hooks is not None:
        hooks.trace_hooks.made_from_data("torch.frombuffer")
    wanted = checked_dtype("frombuffer", dtype)
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ArgumentValueError("object does not implement Python buffer protocol.") from None
    if not view.c_contiguous:
        raise ArgumentError("could not retrieve buffer from object: its bytes do not lie next to each other")
    available, itemsize = view.nbytes, wanted.itemsize
    if not available or not count:
        raise ArgumentValueError(f"both buffer length ({available}) and count ({count}) must not be 0")
    if not 0 <= offset < available:
        raise ArgumentValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({available} bytes) "
            f"minus 1"
        )
    if count < 0:
        if (available - offset) % itemsize:
            raise ArgumentValueError(
                f"buffer length ({available - offset} bytes) after offset ({offset} bytes) must be a multiple of "
                f"element size ({itemsize})"
            )
        count = (available - offset) // itemsize
    if offset + count * itemsize > available:
        raise ArgumentValueError(
            f"requested buffer length ({count} * {itemsize} bytes) after offset ({offset} bytes) must not be greater "
            f"than actual buffer length ({available} bytes)"
        )
    if view.readonly:
        warnings.warn(
            "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can "
            "write to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the "
            "buffer to protect its data or make it writable before converting it to a tensor.",
            UserWarning,
            stacklevel=2,
        )
    result = hooks.tensor_hooks.over(np.frombuffer(view.cast("B"), wanted.numpy, count, offset), wanted)
    return hooks.required(result, requires_grad)


def checked_dtype(function: str, given: Any) -> Dtype:
    """A dtype, also given as a Python type; TypeError for anything else."""
    found = given if isinstance(given, Dtype) else PYTHON_TYPES.get(given) if isinstance(given, type) else None
    if found is None:
        raise ArgumentTypeError(f"{function}(): argument 'dtype' must be torch.dtype, not {type(given).__name__}")
    return found


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int = 0,
    *,
    dtype: Dtype | None = None,
    device: Device | str | None = None,
    requires_grad: bool = False,
) -> Tensor:
    """A one-dimensional CPU tensor over the first `size` elements of a file.

    With `shared`, writes reach the file, which is created and extended as needed; else they stay in memory.
    """
    wanted = get_default_dtype() if dtype is None else checked_dtype("from_file", dtype)
    if device is not None and device_from(device) is not CPU:
        raise ArgumentError(f"from_file: a file's bytes are in main memory; device must be cpu, got {device}")
    storage = Storage.from_file(filename, bool(shared), size * wanted.itemsize)
    return hooks.required(hooks.tensor_hooks.make(storage, wanted, (size,), None, 0), requires_grad)


# DLPack ---------------------------------------------------------------------------------------------------------


class Exporter(Protocol):
    """An object that can export a tensor: an array of NumPy, CuPy, JAX or PyTorch."""

    def __dlpack__(self, **kwargs: Any) -> object: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


def from_dlpack(
    ext_tensor: Exporter | object, *, device: Device | str | None = None, copy: bool | None = None
) -> Tensor:
    """A tensor over the memory of another library's array, or of a DLPack capsule.

    `device` requests the memory on another device, which needs a copy; `copy` says whether there must be a copy (True),
    may be one (None) or must not be one (False).
    """
    if hooks.trace_hooks is not None:
        hooks.trace_hooks.made_from_data("torch.from_dlpack")
    if not hasattr(ext_tensor, "__dlpack__"):
        result, _ = _over(ext_tensor)
        return result if device is None else result.to(device)
    exporter: Any = ext_tensor
    lies_at = tuple(map(int, exporter.__dlpack_device__()))
    wanted = None if device is None else _checked_device(device)
    elsewhere = wanted is not None and exchange.numbers_of(wanted) != lies_at
    if elsewhere and copy is False:
        raise ArgumentValueError(
            f"cannot move DLPack tensor from device {lies_at} to {wanted} without copying. Set copy=None or copy=True."
        )
    asked: dict[str, Any] = {"max_version": dlpack.VERSION}
    if copy is not None and not elsewhere:
        asked["copy"] = copy
    if wanted is not None and not elsewhere:
        asked["dl_device"] = lies_at
    if lies_at[0] == dlpack.DLDeviceType.kDLCUDA:
        current = hooks.memory_hooks.current_stream(device_from("cuda", lies_at[1]))
        asked["stream"] = current or 1  # the protocol's value for the default stream
    result, copied = _over(_capsule_of(exporter, asked))
    if elsewhere:
        assert wanted is not None
        return result.to(wanted)
    return result.clone() if copy and not copied and "copy" not in asked else result


def _checked_device(device: Device | str) -> Device:
    on = device if isinstance(device, Device) else device_from(device)
    if on.type == "meta":
        raise BufferError("Cannot pack tensors on meta")
    return private_use.with_index(on)


def _capsule_of(exporter: Any, asked: dict[str, Any]) -> object:
    """The exporter's capsule; keywords that an older exporter does not accept are dropped, also from `asked`."""
    for name in ("max_version", "copy", "dl_device"):
        try:
            return exporter.__dlpack__(**asked)
        except TypeError:
            asked.pop(name, None)
    return exporter.__dlpack__(**asked)


def _over(capsule: object) -> tuple[Tensor, bool]:
    """A tensor over the memory of a capsule, which is consumed, and whether that memory is an owned copy."""
    held = dlpack.consume(capsule)
    if held.on.type == "cuda":
        storage = Storage.over_block(held.memory, hooks.cuda_hooks.indexed(held.on))
    else:
        storage = Storage.over(np.asarray(held.memory))
    return hooks.tensor_hooks.make(storage, held.dtype, held.shape, held.strides, 0), held.copied


def to_dlpack(tensor: Tensor) -> object:
    """An unversioned DLPack capsule over the tensor's memory."""
    return tensor.__dlpack__()


# CUDA's array interface -----------------------------------------------------------------------------------------


class _ForeignBlock:
    """CUDA memory owned by another library, and that library's object that keeps it alive."""

    __slots__ = ("address", "nbytes", "owner")

    def __init__(self, address: int, nbytes: int, owner: object) -> None:
        self.address = address
        self.nbytes = nbytes
        self.owner = owner

    def record_stream(self, stream: int) -> None:
        """Do nothing: the owner's allocator decides when the memory is reused."""


def over_cuda_interface(obj: Any) -> Tensor:
    """A CUDA tensor over the memory that an object's `__cuda_array_interface__` describes, on the current device."""
    described = obj.__cuda_array_interface__
    wanted = from_numpy_dtype(np.dtype(described["typestr"]))
    shape = tuple(described["shape"])
    address, _ = described["data"]
    steps = described.get("strides")
    strides = tuple(_whole_steps(steps, wanted)) if steps is not None else None
    on = hooks.cuda_hooks.indexed(device_from("cuda"))
    reach = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, strides or (), strict=False))
    count = int(np.prod(shape, dtype=np.int64)) if strides is None else reach
    storage = Storage.over_block(_ForeignBlock(address, count * wanted.itemsize, obj), on)
    return hooks.tensor_hooks.make(storage, wanted, shape, strides, 0)


def _whole_steps(steps: Any, wanted: Dtype) -> Iterator[int]:
    for step in steps:
        if step % wanted.itemsize or step < 0:
            raise StorageError(
                f"given array strides not a multiple of the element byte size or negative: strides {tuple(steps)}, "
                f"elements of {wanted.itemsize} bytes. Make a copy of the array to reallocate the memory."
            )
        yield step // wanted.itemsize
