"""Pointwise operators made of others.

Mirrors: aten/src/ATen/native/BinaryOps.cpp (rsub), aten/src/ATen/native/TensorCompare.cpp (where),
    aten/src/ATen/native/UnaryOps.cpp (positive)
Differs: `rsub` is implicit, because `sub` differentiates itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core import hooks
from glasstorch.core.dtype import HALF_PRECISION, Number, bool_
from glasstorch.core.errors import DtypeError
from glasstorch.operators.generated.functions import nonzero, sub, unbind
from glasstorch.operators.generated.functions import where as where_self
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.scalars import number_as

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def rsub(self: Tensor, other: Tensor | Number, alpha: Number = 1) -> Tensor:
    """`other - alpha * self`."""
    return sub(_tensor(other), self, alpha=alpha)


def positive(self: Tensor) -> Tensor:
    """The tensor itself."""
    if self.dtype is bool_:
        raise DtypeError("The `+` operator, on a bool tensor is not supported.")
    return self


def where_numbers(condition: Tensor, self: Tensor | Number, other: Tensor | Number) -> Tensor:
    """`where` with a number on either side or on both; refused where the common dtype cannot hold the number."""
    sides = _tensor(self), _tensor(other)
    common = result_type(*sides)
    for side in sides:
        if side._number is not None and common not in HALF_PRECISION:  # there it becomes infinite, as in PyTorch
            number_as(side._number, common)
    return where_self(condition, *sides)


def where_indices(condition: Tensor) -> tuple[Tensor, ...]:
    """`where` of a condition alone: for each dimension, the indices of the elements that are not 0."""
    if not condition._shape:
        condition = condition.unsqueeze(0)
    return unbind(nonzero(condition), 1)


def _tensor(value: Tensor | Number) -> Tensor:
    return value if not isinstance(value, bool | int | float) else hooks.tensor_hooks.wrapped_number(value)
