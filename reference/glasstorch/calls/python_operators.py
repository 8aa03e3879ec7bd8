"""When does `a + b` return NotImplemented, so that Python asks the other operand?

Mirrors: TypeError_to_NotImplemented_ in tools/autograd/templates/python_variable_methods.cpp
Differs: in PyTorch any TypeError becomes NotImplemented, even one that an internal mistake raised.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch.core import hooks
from glasstorch.core.errors import ArgumentTypeError
from glasstorch.core.tensor_impl import TensorImpl


def method_operator(function: Callable[..., Any], self: Any, other: Any) -> Any:
    """A binary operator of Python; NotImplemented if the function does not accept the other operand's type."""
    try:
        return function(self, other)
    except ArgumentTypeError:
        return NotImplemented


def reflected_operator(function: Callable[..., Any], self: Any, other: Any) -> Any:
    """As `method_operator`, for a tensor on the right; a direct call may pass something else as `self`."""
    if not isinstance(self, TensorImpl):
        raise ArgumentTypeError(
            f"a reflected operator of Tensor doesn't apply to a '{type(self).__name__}' object; expected a Tensor first"
        )
    return method_operator(function, self, other)


def equality_operator(function: Callable[..., Any], self: Any, other: Any) -> Any:
    """`==`, which as in PyTorch is the only operator that converts an array to a tensor."""
    if isinstance(other, np.ndarray) and other.dtype.kind in "biufc":
        other = hooks.tensor_hooks.from_array(np.ascontiguousarray(other))
    return method_operator(function, self, other)
