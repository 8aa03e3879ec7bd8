"""What does `2 - x` compute, for the operators that do not commute?

Mirrors: torch/_tensor.py (__rdiv__, __rpow__, __rfloordiv__ ...)
Differs: the rest are generated, with the methods.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from glasstorch.calls.python_operators import asked_operator
from glasstorch.core import hooks
from glasstorch.core.plain_types import PLAIN_NUMBERS
from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def __rdiv__(self: Tensor, other: Any) -> Tensor:
    quotient: Tensor = asked_operator(_times_inverse, self, other, __rdiv__)
    return quotient


def _times_inverse(self: Tensor, other: Any) -> Any:
    inverse = self.reciprocal()
    return inverse * other if isinstance(other, np.ndarray) else inverse.__mul__(other)


def __rpow__(self: Tensor, other: Any) -> Any:
    return asked_operator(_pow, self, other, __rpow__)


def __rfloordiv__(self: Tensor, other: Any) -> Any:
    return asked_operator(_floor_divide, self, other, __rfloordiv__)


def __rmod__(self: Tensor, other: Any) -> Any:
    return asked_operator(_remainder, self, other, __rmod__)


def __rmatmul__(self: Tensor, other: Any) -> Any:
    return asked_operator(_matmul, self, other, __rmatmul__)


def __rlshift__(self: Tensor, other: Any) -> Any:
    return asked_operator(_bitwise_left_shift, self, other, __rlshift__)


def __rrshift__(self: Tensor, other: Any) -> Any:
    return asked_operator(_bitwise_right_shift, self, other, __rrshift__)


def _swapped(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda self, other: function(other, self)


_pow, _remainder, _matmul = map(_swapped, (functions.pow, functions.remainder, functions.matmul))
_bitwise_left_shift, _bitwise_right_shift = map(_swapped, (functions.bitwise_left_shift, functions.bitwise_right_shift))


def _floor_divide(self: Tensor, other: Any) -> Tensor:
    if type(other) in PLAIN_NUMBERS:  # which `floor_divide` makes a tensor of only on the right
        other = hooks.tensor_hooks.wrapped_number(other)
    return functions.floor_divide(other, self)
