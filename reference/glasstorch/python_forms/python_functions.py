"""How is a Python function applied to each element of a tensor?

Mirrors: torch/csrc/utils/tensor_apply.cpp (apply_, map_, map2_)
Differs: a function that does not return a number is refused by our own message, not by that of Python's converters.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from glasstorch.core.dtype import BOOL, INTEGRAL
from glasstorch.core.errors import ArgumentTypeError, AutogradError
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.operators.shapes.scalars import number_as

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def apply_(self: Tensor, callable: Callable[[Any], Any]) -> Tensor:
    """Replace each element, in place, by a function's result for it; slow, and only for CPU tensors.

    >>> import glasstorch as torch
    >>> torch.tensor([1.0, 2.0]).apply_(lambda x: 10 * x)
    tensor([10., 20.])
    """
    return _computed("apply_", self, (), callable)


def map_(self: Tensor, other: Tensor, callable: Callable[[Any, Any], Any]) -> Tensor:
    """Replace each element, in place, by a function's result for it and another tensor's element.

    The other tensor has this one's dtype and is broadcast to its sizes.
    """
    return _computed("map_", self, (other,), callable)


def map2_(self: Tensor, x: Tensor, y: Tensor, callable: Callable[[Any, Any, Any], Any]) -> Tensor:
    """As `map_`, with the elements of two other tensors."""
    return _computed("map2_", self, (x, y), callable)


def _computed(name: str, self: Tensor, others: tuple[Any, ...], function: Callable[..., Any]) -> Tensor:
    for position, other in enumerate(others, 1):
        if not isinstance(other, TensorImpl):
            found = type(other).__name__
            raise ArgumentTypeError(f"{name}(): argument {position} must be Tensor, not {found}")
    if any(tensor.requires_grad for tensor in (self, *others)):
        raise AutogradError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")
    if not callable(function):
        raise ArgumentTypeError(f"{name}: expected a function of {1 + len(others)} number(s), got {function!r}")
    for other in others:
        if other.dtype is not self.dtype or other.device != self.device:
            raise ArgumentTypeError(f"{name}: expected {self.type()} for the other tensors, got {other.type()}")
    if self.is_cuda:
        raise ArgumentTypeError(f"{name} is only implemented on CPU tensors, got one on {self.device}")
    if self.is_meta:
        return self
    array = self.array()
    sources = [array, *(other.expand(self._shape).array() for other in others)]
    category = self.dtype.category
    kind: Any = bool if category == BOOL else int if category == INTEGRAL else float
    kind = complex if self.dtype.is_complex else kind
    for index in np.ndindex(*self._shape):
        number = function(*(kind(source[index]) for source in sources))
        if isinstance(number, TensorImpl | np.generic):
            number = number.item()  # type: ignore[union-attr]
        if not isinstance(number, bool | int | float | complex):
            raise ArgumentTypeError(f"{name}: the function must give a number, got {type(number).__name__}")
        array[index] = number_as(number, self.dtype)
    return self
