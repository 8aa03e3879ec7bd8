"""What is the common dtype of two operands, and which kinds of tensors are there not?

Mirrors: aten/src/ATen/native/TypeProperties.cpp (result_type, is_distributed)
Differs: the rule is in operators/shapes/promotion.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import Number, dtype
from glasstorch.operators.shapes import promotion

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def result_type(first: Tensor | Number, second: Tensor | Number) -> dtype:
    """The dtype in which two tensors, or a tensor and a Python number, are computed."""
    return promotion.result_type(first, second)


def is_distributed(self: Tensor) -> bool:
    """False: no tensor is spread over several devices."""
    return False
