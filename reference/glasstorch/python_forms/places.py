"""On which device is a tensor, and how is it moved to another?

Mirrors: tools/autograd/templates/python_variable_methods.cpp (THPVariable_cpu, THPVariable_cuda,
    THPVariable_get_device, THPVariable_record_stream)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.core.device import device as Device
from glasstorch.core.errors import ArgumentTypeError, DeviceError

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def cpu(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor on the CPU; itself if it is there."""
    return self.to("cpu", memory_format=memory_format)


def cuda(self: Tensor, device: Any = None, non_blocking: Any = False, memory_format: Any = None) -> Tensor:
    """The tensor on a CUDA device, the current one unless another is given; itself if it is there."""
    on = Device("cuda" if device is None else device)
    if on.type != "cuda":
        raise DeviceError(f"Invalid device, must be cuda device; got {on}")
    return self.to(on, non_blocking=non_blocking, memory_format=memory_format)


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
