"""How do other libraries access a tensor's memory?

Mirrors: torch/csrc/utils/tensor_numpy.cpp (tensor_to_numpy), torch/_tensor.py (__array__, __array_wrap__, __dlpack__,
    __cuda_array_interface__), aten/src/ATen/DLConvertor.cpp (toDLPack)
Differs: `__array__` takes NumPy's `copy`; PyTorch's does not, so NumPy warns and copies there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from glasstorch.core import hooks
from glasstorch.core.device import CPU, device
from glasstorch.core.dtype import NUMPY_DTYPES
from glasstorch.core.errors import ArgumentError, ArgumentTypeError, ArgumentValueError, AutogradError
from glasstorch.core.keys import PYTHON, SPARSE
from glasstorch.core.tensor_impl import Array
from glasstorch.outside_data import dlpack

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def numpy(self: Tensor, *, force: bool = False) -> Array:
    """A NumPy array over the same memory: writing to one is seen by the other.

    The storage can no longer be resized. A dtype that NumPy lacks (bfloat16, float8) is refused. `force=True` first
    detaches, copies to the CPU and resolves the conjugate and the negative bit.
    """
    if not isinstance(force, bool):
        raise ArgumentTypeError(f"numpy(): argument 'force' must be bool, not {type(force).__name__}")
    if force:
        return self.detach().cpu().resolve_conj().resolve_neg().numpy()
    if self.key_set & PYTHON:
        raise ArgumentError(".numpy() is not supported for tensor subclasses.")
    if self.device is not CPU:
        raise ArgumentTypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
            f"memory first."
        )
    if self.key_set & SPARSE:
        said = self.layout.name.removesuffix("_coo").title().replace("_", "")  # Sparse, SparseCsr ...
        raise ArgumentTypeError(f"can't convert {said} layout tensor to numpy. Use Tensor.to_dense() first.")
    if self._autograd_meta is not None and hooks.variable_hooks.is_recorded(self):
        raise AutogradError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
    for bit, name in ((self.is_conj(), "conj"), (self.is_neg(), "neg")):
        if bit:
            raise AutogradError(
                f"Can't call numpy() on Tensor that has {'conjugate' if name == 'conj' else 'negative'} bit set. Use "
                f"tensor.resolve_{name}().numpy() instead."
            )
    if self.dtype not in NUMPY_DTYPES:
        raise ArgumentTypeError(
            f"Got unsupported ScalarType {self.dtype.scalar_name}: NumPy has no such dtype; use x.float().numpy()"
        )
    if hooks.trace_hooks is not None:
        hooks.trace_hooks.value_read(self)
    return shown_array(self).view()


def shown_array(self: Tensor) -> Array:
    """A CPU tensor's own array, for a caller that may keep it and write to it."""
    storage = self.untyped_storage()
    storage.materialize()
    storage.may_resize = False
    return self.array()


def array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> Array:
    """The elements as a NumPy array, in another dtype if requested; without a copy where possible."""
    shown = self.numpy()
    if dtype is not None and shown.dtype != dtype:
        if copy is False:
            raise ArgumentValueError(
                f"Unable to avoid copy while creating an array as requested: a {self.dtype} tensor cannot be seen as "
                f"{np.dtype(dtype)} without a copy"
            )
        return shown.astype(dtype)
    return shown.copy() if copy else shown


def array_wrap(self: Tensor, array: Array, context: Any = None, return_scalar: Any = False) -> Tensor:
    """What NumPy computed from the tensor, as a tensor over the same memory."""
    if array.dtype == np.bool_:
        array = array.astype(np.uint8)  # as PyTorch, which had no bool tensors when it wrote this
    return hooks.tensor_hooks.from_array(array)


# DLPack ---------------------------------------------------------------------------------------------------------


def to_dlpack(
    self: Tensor,
    *,
    stream: int | None = -1,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> object:
    """A DLPack capsule, through which another library takes the tensor over without a copy.

    `stream` is the consumer's, which then waits for the work queued here: on CUDA -1 for no synchronisation, None or 1
    for the default stream; on the CPU there is none. `max_version` is the newest layout that the consumer reads.
    `dl_device`, a pair of DLPack's numbers, asks for the memory elsewhere. `copy` says whether it must (True), may
    (None) or must not (False) be copied.
    """
    refuse_export(self)
    if stream is not None and type(stream) is not int:
        raise ArgumentTypeError("stream must be ``int`` or ``none``")
    if self.is_cuda:
        _let_wait(self.device, stream)
    else:
        assert stream in (None, -1), f"stream should be None on cpu, got {stream}"
    source = self
    if dl_device is not None and tuple(dl_device) != dlpack_device(self):
        wanted = dlpack.described_device(*dl_device)
        if copy is False:
            raise ArgumentValueError(
                f"cannot move (i.e. copy=False) tensor from {self.device} to {wanted} without copying."
            )
        source = self.to(wanted, copy=True)
    elif copy:
        source = self.clone()
    if hooks.trace_hooks is not None:
        hooks.trace_hooks.value_read(self)
    versioned = max_version is not None and max_version[0] >= 1
    lies_at = dlpack_device(source)
    array = _lent_array(source)
    return dlpack.produce(array, source.dtype, lies_at, versioned, source is not self, source.strides())


def refuse_export(self: Tensor) -> None:
    """Refuse tensors that a capsule cannot describe."""
    if self.is_meta:
        raise BufferError("Cannot pack tensors on meta")
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if self.is_conj():
        raise BufferError("Can't export tensors with the conjugate bit set")
    if self.is_neg():
        raise BufferError("Can't export tensors with the negative bit set")
    if self.is_cuda and self.device.index != hooks.cuda_hooks.current_device():
        raise BufferError(
            f"Can't export tensors on a different CUDA device index. Expected: {self.device.index}. Current device: "
            f"{hooks.cuda_hooks.current_device()}."
        )


def dlpack_device(self: Tensor) -> tuple[dlpack.DLDeviceType, int]:
    """Where the tensor is, as DLPack numbers it: (1, 0) for the CPU, (3, 0) in pinned memory, (2, index) on CUDA."""
    if self.device is CPU and self.is_pinned():
        return dlpack.DLDeviceType.kDLCUDAHost, 0
    return numbers_of(self.device)


def numbers_of(on: device) -> tuple[dlpack.DLDeviceType, int]:
    """A device as DLPack's pair of device type and index; ValueError for a device that DLPack lacks."""
    if on.type == "cuda":
        assert on.index is not None, "the CUDA device has no index"
        return dlpack.DLDeviceType.kDLCUDA, on.index
    if on is not CPU:
        raise ArgumentValueError(f"Unknown device type {on.type} for Dlpack; expected cpu or cuda")
    return dlpack.DLDeviceType.kDLCPU, 0


def _let_wait(on: device, stream: int | None) -> None:
    """Make the consumer's stream wait for the work on the current stream."""
    if stream == -1:
        return
    if stream == 2:
        raise BufferError("per-thread default stream is not supported.")
    assert stream != 0, "unsupported stream on CUDA: 0, which may mean two streams; use 1 for the default stream"
    hooks.memory_hooks.let_wait(on, 0 if stream is None or stream == 1 else stream)


def _lent_array(self: Tensor) -> Array:
    """An array over the tensor's memory, which it keeps alive.

    The array of a CUDA tensor must not be read: its addresses are on the device.
    """
    if not self.is_cuda:
        return shown_array(self)
    itemsize = self.dtype.itemsize
    steps = tuple(step * itemsize for step in self.strides())
    storage = self.untyped_storage()
    storage.may_resize = False
    typestr = f"|u{itemsize}" if itemsize == 1 else f"<{'c' if itemsize == 16 else 'u'}{itemsize}"
    return np.asarray(_OnDevice(storage, self.data_ptr(), self._shape, steps, typestr))


class _OnDevice:
    """Device addresses presented through NumPy's array interface, and the storage that they belong to."""

    def __init__(
        self, storage: Any, address: int, shape: tuple[int, ...], steps: tuple[int, ...], typestr: str
    ) -> None:
        self.storage = storage
        self.__array_interface__ = {
            "data": (address, False),
            "shape": shape,
            "strides": steps,
            "typestr": typestr,
            "version": 3,
        }


# CUDA's array interface -----------------------------------------------------------------------------------------


def cuda_array_interface(self: Tensor) -> dict[str, Any]:
    """Version 2 of the protocol by which Numba, CuPy and others access a CUDA tensor without a copy.

    AttributeError for a tensor that is not on CUDA.
    """
    if not self.is_cuda:
        raise AttributeError(
            f"Can't get __cuda_array_interface__ on non-CUDA tensor type: torch.{'meta.' if self.is_meta else ''}"
            f"{self.dtype.scalar_name}Tensor If CUDA data is required use tensor.cuda() to copy tensor to device "
            f"memory."
        )
    if self.requires_grad:
        raise AutogradError(
            "Can't get __cuda_array_interface__ on Variable that requires grad. If gradients aren't required, use "
            "var.detach() to get Variable that doesn't require grad."
        )
    itemsize = self.dtype.itemsize
    self.untyped_storage().may_resize = False
    return {
        "typestr": typestr(self),
        "shape": tuple(self.shape),
        "strides": None if self.is_row_major() else tuple(step * itemsize for step in self.strides()),
        "data": (self.data_ptr() if self.numel() else 0, False),
        "version": 2,
    }


def typestr(self: Tensor) -> str:
    """The dtype in the array interface's notation; bfloat16 and float8, which that lacks, as raw bytes."""
    if self.dtype in NUMPY_DTYPES:
        return self.dtype.numpy.str
    return f"<V{self.dtype.itemsize}" if self.dtype.itemsize > 1 else "|V1"
