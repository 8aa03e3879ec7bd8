"""What do the formulas of derivatives.yaml call for pointwise operators?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (angle_backward)
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
