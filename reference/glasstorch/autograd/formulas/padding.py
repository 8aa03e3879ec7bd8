"""Which helper does the formula of padding call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (constant_pad_nd_backward)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.operators.generated.functions import constant_pad_nd

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def constant_pad_nd_backward(grad: Tensor, pad: Sequence[int]) -> Tensor:
    """The gradient without the padding, or with zeros where the tensor was cropped."""
    return constant_pad_nd(grad, [-number for number in pad], 0)
