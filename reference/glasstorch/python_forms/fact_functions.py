"""Which functions return what a method or attribute of a tensor also returns?

Mirrors: torch/functional.py, aten/src/ATen/native/TensorProperties.cpp
Differs: Python functions that call the methods; PyTorch has operators for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.core.errors import ArgumentTypeError
from glasstorch.outside_data.from_data import is_tensor as is_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

__all__ = [
    "detach_",
    "get_device",
    "is_complex",
    "is_floating_point",
    "is_inference",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_tensor",
    "numel",
]


def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is floating point."""
    return _tensor("is_floating_point", input).dtype.is_floating_point


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex."""
    return _tensor("is_complex", input).dtype.is_complex


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not 0."""
    return bool(_tensor("is_nonzero", input))


def is_signed(input: Tensor) -> bool:
    """Whether the dtype is signed."""
    return bool(_tensor("is_signed", input).is_signed())


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made under inference mode."""
    return bool(_tensor("is_inference", input).is_inference())


def detach_(input: Tensor) -> Tensor:
    """Forget in place how the tensor was computed; refused for a view."""
    return _tensor("detach_", input).detach_()


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes."""
    return bool(_tensor("is_same_size", input).is_same_size(other))


def get_device(input: Tensor) -> int:
    """The index of the tensor's device; -1 for the CPU."""
    return int(_tensor("get_device", input).get_device())


def numel(input: Tensor) -> int:
    """The number of elements."""
    return _tensor("numel", input).numel()


def _tensor(function: str, value: Any) -> Tensor:
    if is_tensor(value):
        return value
    raise ArgumentTypeError(f"{function}(): argument 'input' (position 1) must be Tensor, not {type(value).__name__}")
