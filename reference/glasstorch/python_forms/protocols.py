"""What do Python's own functions give for a tensor: bool, int, float, complex, len, iter, reversed?

Mirrors: torch/_tensor.py (__len__, __iter__, __contains__, __reversed__),
    tools/autograd/templates/python_variable_methods.cpp (THPVariable_bool_scalar, THPVariable_float_scalar,
    THPVariable_integral_scalar, THPVariable_index_scalar), aten/src/ATen/native/TensorProperties.cpp (is_nonzero)

The functions have the names that Python asks for, by which `jit/tracer.py` finds on the stack what a tensor is
converted to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from glasstorch.core import hooks
from glasstorch.core.dtype import INTEGRAL, float64, int64
from glasstorch.core.errors import ArgumentValueError
from glasstorch.core.keys import WRAPPED
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.operators.generated import functions
from glasstorch.operators.shapes.scalars import number_as

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# The one element as a Python number -----------------------------------------------------------------------------


def __bool__(self: Tensor) -> bool:
    """Whether the one element is not 0; a tensor of more elements, or none, is refused."""
    if self.numel() != 1:
        many = "no" if self.numel() == 0 else "more than one"
        raise RuntimeError(f"Boolean value of Tensor with {many} value{'s' if many == 'no' else ''} is ambiguous")
    if self.key_set & WRAPPED and hooks.transform_hooks is not None:
        hooks.transform_hooks.check_truth(self)
    return bool(self.item())


def is_nonzero(self: Tensor) -> bool:
    """Whether the one element is not 0; a tensor of more elements, or none, is refused."""
    return bool(self)


def __int__(self: Tensor) -> Any:
    """The one element as an int; a fraction is cut off."""
    value = _one_element(self)
    return number_as(value, int64) if isinstance(value, complex) else int(value)


def __float__(self: Tensor) -> Any:
    """The one element as a float. One that requires grad is warned of, since a float has no gradient."""
    hooks.variable_hooks.becomes_number(self)
    return number_as(_one_element(self), float64)


def __complex__(self: Tensor) -> complex:
    """The one element as a complex number. One that requires grad is warned of."""
    hooks.variable_hooks.becomes_number(self)
    return complex(_one_element(self))


def __index__(self: Tensor) -> int:
    """The one element as an index; one that is not an integer or a bool is refused."""
    if self.dtype.category > INTEGRAL or self.numel() != 1:
        raise TypeError(
            f"only integer tensors of a single element can be converted to an index, this one has sizes "
            f"{list(self._shape)} and dtype {self.dtype}"
        )
    element: Any = self.item()  # an int or a bool
    return int(element)


def _one_element(tensor: Tensor) -> Any:
    """The element as a Python number; ValueError where there are more or none."""
    if tensor.numel() != 1:
        raise ArgumentValueError(
            f"only one element tensors can be converted to Python scalars, this one has sizes {list(tensor._shape)}"
        )
    return tensor.item()


# The first dimension --------------------------------------------------------------------------------------------


def __len__(self: Tensor) -> int:
    """The size of the first dimension."""
    if not self._shape:
        raise TypeError("len() of a 0-d tensor")
    if hooks.trace_hooks is not None:
        hooks.trace_hooks.length_read(self)
    return self._shape[0]


def __iter__(self: Tensor) -> Iterator[Tensor]:
    """The parts of the tensor along its first dimension, as views. Others are asked about `dim` and `unbind`."""
    if not self.dim():
        raise TypeError("iteration over a 0-d tensor")
    if hooks.trace_hooks is not None:
        hooks.trace_hooks.iterated(self)
    return iter(self.unbind(0))


def __reversed__(self: Tensor) -> Tensor:
    """A copy with the order of the first dimension reversed; a 0-dim tensor itself."""
    return functions.flip(self, (0,)) if self._shape else self


def __contains__(self: Tensor, value: Any) -> bool:
    """Whether an element equals a number, or one of another tensor's after broadcasting."""
    if not issubclass(type(value), TensorImpl | bool | int | float | complex | np.number):
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(value)}.")
    return bool(functions.any(functions.eq(self, value)).item())
