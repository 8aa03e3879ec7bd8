"""What are max and min of two tensors?

Mirrors: aten/src/ATen/native/BinaryOps.cpp (max, min)
Differs: nothing in substance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.operators.generated.functions import maximum, minimum

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def max_other(self: Tensor, other: Tensor) -> Tensor:
    """The larger of two elements."""
    return maximum(self, other)


def min_other(self: Tensor, other: Tensor) -> Tensor:
    """The smaller of two elements."""
    return minimum(self, other)
