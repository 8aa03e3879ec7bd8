"""Which functions return what a method or attribute of a tensor also returns?

Mirrors: torch/functional.py, aten/src/ATen/native/TensorProperties.cpp
Differs: Python functions that call the methods; PyTorch has operators for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.calls import overloaded
from glasstorch.calls.overloaded import UNASKED
from glasstorch.core.errors import ArgumentTypeError
from glasstorch.core.plain_types import PLAIN
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
    if type(input) not in PLAIN:
        answer = ask(is_floating_point, input)
        if answer is not UNASKED:
            return answer  # type: ignore[no-any-return]
    return _tensor("is_floating_point", input).dtype.is_floating_point


def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex."""
    if type(input) not in PLAIN:
        answer = ask(is_complex, input)
        if answer is not UNASKED:
            return answer  # type: ignore[no-any-return]
    return _tensor("is_complex", input).dtype.is_complex


def is_nonzero(input: Tensor) -> bool:
    """Whether the one element is not 0."""
    if type(input) not in PLAIN:
        answer = ask(is_nonzero, input)
        if answer is not UNASKED:
            return answer  # type: ignore[no-any-return]
    return bool(_tensor("is_nonzero", input))


def is_signed(input: Tensor) -> bool:
    """Whether the dtype is signed."""
    if type(input) not in PLAIN:
        answer = ask(is_signed, input)
        if answer is not UNASKED:
            return answer  # type: ignore[no-any-return]
    return bool(_tensor("is_signed", input).is_signed())


def is_inference(input: Tensor) -> bool:
    """Whether the tensor was made under inference mode."""
    if type(input) not in PLAIN:
        answer = ask(is_inference, input)
        if answer is not UNASKED:
            return answer  # type: ignore[no-any-return]
    return bool(_tensor("is_inference", input).is_inference())


def detach_(input: Tensor) -> Tensor:
    """Forget in place how the tensor was computed; refused for a view."""
    if type(input) not in PLAIN:
        answer = ask(detach_, input)
        if answer is not UNASKED:
            return answer  # type: ignore[no-any-return]
    return _tensor("detach_", input).detach_()


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have the same sizes."""
    if not PLAIN.issuperset((type(input), type(other))):
        answer = ask(is_same_size, input, other)
        if answer is not UNASKED:
            return answer  # type: ignore[no-any-return]
    return bool(_tensor("is_same_size", input).is_same_size(other))


def get_device(input: Tensor) -> int:
    """The index of the tensor's device; -1 for the CPU."""
    if type(input) not in PLAIN:
        answer = ask(get_device, input)
        if answer is not UNASKED:
            return answer  # type: ignore[no-any-return]
    return int(_tensor("get_device", input).get_device())


def numel(input: Tensor) -> int:
    """The number of elements."""
    if type(input) not in PLAIN:
        answer = ask(numel, input)
        if answer is not UNASKED:
            return answer  # type: ignore[no-any-return]
    return _tensor("numel", input).numel()


def _tensor(function: str, value: Any) -> Tensor:
    if is_tensor(value):
        return value
    raise ArgumentTypeError(f"{function}(): argument 'input' (position 1) must be Tensor, not {type(value).__name__}")


def ask(function: Any, input: Any, *more: Any) -> Any:
    """The answer of a mode or an argument to a function of a tensor; anything else is refused before they are asked."""
    if not overloaded.answers(type(input)):
        _tensor(function.__name__, input)
    return overloaded.ask(function, f"torch.{function.__name__}", (input, *more), None)
