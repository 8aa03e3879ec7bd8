"""When does `a + b` return NotImplemented, so that Python asks the other operand?

Mirrors: TypeError_to_NotImplemented_ in tools/autograd/templates/python_variable_methods.cpp
Differs: in PyTorch any TypeError becomes NotImplemented, even one that an internal mistake raised. Here it must be that
    of arguments, or of a call that a mode or a class of tensors was asked about.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch.calls.overloaded import (
    UNASKED,
    ask,
    handle_torch_function,
    has_torch_function_unary,
    has_torch_function_variadic,
)
from glasstorch.core import hooks
from glasstorch.core.dtype import INTEGRAL
from glasstorch.core.errors import ArgumentTypeError
from glasstorch.core.keys import PYTHON
from glasstorch.core.plain_types import SILENT
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.dispatch.python_fallback import is_seen

# The operators that are written in Python in PyTorch, where a dictionary of keywords is passed though it is empty.
WITH_KEYWORDS = frozenset(
    ("__floordiv__", "__pow__", "__ipow__", "__rsub__", "__rdiv__", "__rtruediv__", "__rpow__", "__rfloordiv__")
    + ("__rmod__", "__rmatmul__", "__rlshift__", "__rrshift__")
)


def method_operator(function: Callable[..., Any], self: Any, other: Any) -> Any:
    """A binary operator of Python; NotImplemented if the function does not accept the other operand's type."""
    try:
        return function(self, other)
    except ArgumentTypeError:
        return NotImplemented


def asked_operator(function: Callable[..., Any], self: Any, other: Any, public: Any = None) -> Any:
    """As `method_operator`, where an operand or a mode may answer: it is asked about `public`, or else by the function.

    NotImplemented, too, if everyone who was asked refused.
    """
    try:
        if public is not None and not SILENT.issuperset((type(self), type(other))):
            name = public.__qualname__.rpartition(".")[2]
            if name in WITH_KEYWORDS:
                if has_torch_function_variadic(self, other):
                    return handle_torch_function(public, (self, other), self, other)
            elif (answer := ask(public, f"torch.Tensor.{name}", (self, other), None)) is not UNASKED:
                return answer
        return method_operator(function, self, other)
    except TypeError:
        # Nobody did answer, or an answer went wrong.
        if has_torch_function_variadic(self, other) or _is_seen(self) or _is_seen(other):
            return NotImplemented
        raise


def _is_seen(operand: Any) -> bool:
    """Whether a mode of operators, or the class of an operand, is asked about what is done to it."""
    return isinstance(operand, TensorImpl) and is_seen(operand)


def reflected_operator(function: Callable[..., Any], self: Any, other: Any, public: Any = None) -> Any:
    """As `asked_operator`, for a tensor on the right; a direct call may pass something else as `self`."""
    if not isinstance(self, TensorImpl):
        raise ArgumentTypeError(
            f"a reflected operator of Tensor doesn't apply to a '{type(self).__name__}' object; expected a Tensor first"
        )
    return asked_operator(function, self, other, public)


def equality_operator(function: Callable[..., Any], self: Any, other: Any, public: Any = None) -> Any:
    """`==`, which as in PyTorch is the only operator that converts an array to a tensor."""
    if isinstance(other, np.ndarray) and other.dtype.kind in "biufc":
        other = hooks.tensor_hooks.from_array(np.ascontiguousarray(other))
    return asked_operator(function, self, other, public if has_torch_function_unary(self) else None)


def not_implemented(keys: int) -> Any:
    """What an operator returns after a TypeError: that of a mode or an operand; without one, the error is raised."""
    if keys & PYTHON:  # a mode or a class of tensors was
        return NotImplemented
    raise  # noqa: PLE0704  # what the operator that calls this has caught


def inverting(bitwise_not: Callable[..., Any]) -> Callable[[Any], Any]:
    """`~x` as a method; floating-point and complex tensors are refused with a message of its own."""

    def __invert__(self: Any) -> Any:
        if self.dtype.category > INTEGRAL:
            raise ArgumentTypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
        return bitwise_not(self)

    return __invert__


def part(view: Any) -> property:
    """A property that is a view of a part of the tensor; assigning a tensor or a number to it writes to the view."""

    def write(self: Any, value: Any) -> None:
        seen = view(self)
        seen.copy_(value) if isinstance(value, TensorImpl) else seen.fill_(value)

    return property(view, write, doc=view.__doc__)
