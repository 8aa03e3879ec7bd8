"""Keeps the dtype of tensors without dimensions apart from that of tensors with dimensions."""

from __future__ import annotations

from glasstorch.core.dtype import Number, dtype, dtype_of_operand
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.operators.shapes.promotion import _combine_categories, _widen

FILE = "operators/shapes/promotion.py"
LINE = 31


def mended(*operands: TensorImpl | Number) -> dtype:
    """The common dtype in which operands are computed; a Python number counts as a wrapped number."""
    dimensioned = zero_dim = number = None
    for operand in operands:
        if not isinstance(operand, TensorImpl):
            number = _widen(number, dtype_of_operand(operand))
        elif operand._shape:
            dimensioned = _widen(dimensioned, operand.dtype)
        elif operand._number is None:
            zero_dim = _widen(zero_dim, operand.dtype)
        else:
            number = _widen(number, operand.dtype)
    # PyTorch's order; the result does not depend on it.
    result = _combine_categories(dimensioned, _combine_categories(zero_dim, number))
    assert result is not None, "result_type needs an operand"
    return result
