"""Which helpers do the formulas of transformations call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (repeat_backward; the formula of roll)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.geometry import Shape
from glasstorch.operators.generated.functions import sum

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def roll_backward(grad: Tensor, shifts: Sequence[int], dims: Sequence[int]) -> Tensor:
    """The gradient rolled back, beginning with the last roll."""
    return grad.roll([-shift for shift in reversed(shifts)], list(reversed(dims)))


def repeat_backward(grad: Tensor, repeats: Sequence[int], shape: Shape) -> Tensor:
    """The sum over the repetitions."""
    if 0 in repeats:
        return grad.new_zeros(shape)
    sizes = (*[1] * (len(repeats) - len(shape)), *shape)
    apart = grad.reshape([n for pair in zip(repeats, sizes, strict=True) for n in pair])  # each as (times, size)
    repeated = [2 * dim for dim, times in enumerate(repeats) if times != 1]
    return (sum(apart, repeated) if repeated else apart).reshape(shape)
