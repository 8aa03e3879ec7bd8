"""What does `2 - x` compute, for the operators that do not commute?

Mirrors: torch/_tensor.py (__rdiv__, __rpow__, __rfloordiv__ ...)
Differs: the rest are generated, with the methods.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from glasstorch.calls.python_operators import method_operator
from glasstorch.operators.generated import functions

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def rtruediv(self: Tensor, other: Any) -> Tensor:
    inverse = self.reciprocal()
    return inverse * other if isinstance(other, np.ndarray) else inverse.__mul__(other)


def rpow(self: Tensor, other: Any) -> Any:
    return method_operator(_swapped(functions.pow), self, other)


def rfloordiv(self: Tensor, other: Any) -> Any:
    return method_operator(_swapped(functions.floor_divide), self, other)


def rmod(self: Tensor, other: Any) -> Any:
    return method_operator(_swapped(functions.remainder), self, other)


def rmatmul(self: Tensor, other: Any) -> Any:
    return method_operator(_swapped(functions.matmul), self, other)


def rlshift(self: Tensor, other: Any) -> Any:
    return method_operator(_swapped(functions.bitwise_left_shift), self, other)


def rrshift(self: Tensor, other: Any) -> Any:
    return method_operator(_swapped(functions.bitwise_right_shift), self, other)


def _swapped(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    return lambda self, other: function(other, self)
