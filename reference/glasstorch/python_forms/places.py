"""On which device is a tensor, and how is it moved to another, or to pinned memory?

Mirrors: tools/autograd/templates/python_variable_methods.cpp (THPVariable_cpu, THPVariable_cuda,
    THPVariable_get_device, THPVariable_record_stream), aten/src/ATen/native/Memory.cpp (pin_memory, is_pinned)
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NoReturn

from glasstorch.core import geometry, hooks
from glasstorch.core.device import CPU, device_from
from glasstorch.core.errors import ArgumentTypeError, DeviceError
from glasstorch.core.layout import strided

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor on the CPU; itself if it is there."""
    return self.to("cpu", memory_format=memory_format)


def cuda(self: Tensor, device: Any = None, non_blocking: Any = False, memory_format: Any = None) -> Tensor:
    """The tensor on a CUDA device, the current one unless another is given; itself if it is there."""
    on = device_from("cuda" if device is None else device)
    if on.type != "cuda":
        raise DeviceError(f"Invalid device, must be cuda device; got {on}")
    return self.to(on, non_blocking=non_blocking, memory_format=memory_format)


def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """The tensor in pinned main memory, from which a copy to a device need not block; itself if it is there.

    There is one kind of device to pin for; naming it is deprecated.
    """
    _warn_of_device("pin_memory", device)
    if self.device is not CPU:
        raise DeviceError(f"cannot pin a tensor on {self.device}, only dense CPU tensors can be pinned")
    if self.is_pinned():
        return self
    strides = geometry.strides_like(self._shape, self.strides())
    return hooks.tensor_hooks.empty_pinned(self._shape, strides, self.dtype).copy_(self)


def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether the tensor is in pinned main memory. Naming a device is deprecated."""
    _warn_of_device("is_pinned", device)
    if self.layout is not strided:
        return False
    return self.untyped_storage().is_pinned()


def _warn_of_device(method: str, given: Any) -> None:
    if given is not None:
        warnings.warn(
            f"The argument 'device' of Tensor.{method}() is deprecated. Please do not pass this argument.",
            DeprecationWarning,
            stacklevel=3,
        )


def record_stream(self: Tensor, s: Any) -> None:
    """Declare that the stream `s` uses the tensor, so that its memory is not reused before the work there is done."""
    block = self.untyped_storage().block
    if block is None:
        raise DeviceError(f"record_stream: expected a CUDA tensor, this one is on {self.device}")
    handle = getattr(s, "cuda_stream", None)
    if handle is None:
        raise ArgumentTypeError(f"record_stream: expected Stream, got {s!r}")
    block.record_stream(handle)


def get_device(self: Tensor) -> Any:
    """The index of the device; -1 for the CPU."""
    return -1 if self.device.index is None else self.device.index


# On devices that a build of PyTorch for this computer does not know ----------------------------------------------


def xpu(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> NoReturn:
    """Refused, as by a PyTorch that was built without Intel's GPUs."""
    raise AssertionError("Torch not compiled with XPU enabled")


def mtia(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> NoReturn:
    """Refused, as by a PyTorch that was built without MTIA."""
    raise AssertionError("Torch not compiled with MTIA enabled")


def ipu(self: Tensor, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> NoReturn:
    """Refused, as by a PyTorch that was built without Graphcore's processors."""
    raise DeviceError("PyTorch is not linked with support for ipu devices")
