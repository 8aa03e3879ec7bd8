"""What do the formulas of derivatives.yaml call for pointwise operators?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (angle_backward, atan2_backward)
Differs: nothing in substance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.operators.generated.functions import eq, where, zeros_like

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def angle_backward(grad: Tensor, self: Tensor) -> Tensor:
    """The angle of a real number is flat; that of a complex one grows across the line to the origin."""
    if not self.dtype.is_complex:
        return zeros_like(self)
    return where(eq(self, 0), 0.0, grad * 1j * self / self.abs().pow(2))


def atan2_self_backward(grad: Tensor, self: Tensor, other: Tensor) -> Tensor:
    """The gradient of y in `atan2(y, x)`: `x / (y^2 + x^2)`, and 0 where that would divide by 0."""
    return grad * other * inverse_square_distance(self, other)


def atan2_other_backward(grad: Tensor, self: Tensor, other: Tensor) -> Tensor:
    """The gradient of x in `atan2(y, x)`: `-y / (y^2 + x^2)`, and 0 where that would divide by 0."""
    return grad * -self * inverse_square_distance(self, other)


def inverse_square_distance(y: Tensor, x: Tensor) -> Tensor:
    """`1 / (y^2 + x^2)`; 0 at the origin, and so near to it that the squares are 0."""
    square = y * y + x * x
    return square.reciprocal().masked_fill(eq(square, 0), 0.0)
