"""What does gradcheck take as inputs and outputs of a function?

Mirrors: torch/autograd/gradcheck.py (_as_tuple, _iter_tensors, _differentiable_outputs, _check_inputs)
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, TypeGuard

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import FLOATING, complex128, float64
from glasstorch.core.errors import AutogradError


class GradcheckError(RuntimeError):
    """The gradients from autograd and from finite differences do not agree."""


def as_tuple(values: Any) -> tuple[Any, ...]:
    """Several values of a tuple or list, or the one there is."""
    return tuple(values) if isinstance(values, tuple | list) else (values,)


def requires_grad(value: Any) -> TypeGuard[Tensor]:
    """Whether this is a tensor that requires grad."""
    return isinstance(value, Tensor) and value.requires_grad


def is_inexact(value: Any) -> TypeGuard[Tensor]:
    """Whether this is a tensor of floating-point or complex numbers."""
    return isinstance(value, Tensor) and value.dtype.category >= FLOATING


def checked(inputs: Any) -> list[Tensor]:
    """The tensors that require grad, of arguments that may be nested."""
    return list(_tensors(inputs))


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        if value.requires_grad:
            yield value
    elif hasattr(value, "__iter__") and not isinstance(value, str):
        for element in value:
            yield from _tensors(element)


def differentiable(outputs: Any) -> tuple[Tensor, ...]:
    """The outputs that require grad."""
    return tuple(o for o in as_tuple(outputs) if o.requires_grad)


def check_inputs(inputs: Sequence[Any]) -> None:
    """Refuse inputs none of which requires grad, and those whose elements share memory; warn of less than float64."""
    found = False
    for index, value in enumerate(inputs):
        if not requires_grad(value):
            continue
        found = True
        if value.dtype not in (float64, complex128):
            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or complex. This check "
                f"will likely fail if all the inputs are not of double precision floating point or complex. ",
                stacklevel=3,
            )
        is_shared = any(stride == 0 and size > 1 for stride, size in zip(value.stride(), value.size(), strict=True))
        if is_shared and value.numel():
            raise AutogradError(
                f"The {index}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous "
                "on the input before passing it to gradcheck."
            )
    if not found:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
        )
