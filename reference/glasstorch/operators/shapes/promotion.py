"""What is the common dtype of several operands?

Mirrors: aten/src/ATen/native/TypeProperties.cpp (result_type, update_result_type_state, combine_categories)
Differs: a Python number may stand for a tensor.

Operands fall into three classes, strongest first: tensors with dimensions, 0-dim tensors, Python numbers.
Within a class, dtypes are promoted. A weaker class matters only if its dtype is of a higher category (bool, integer,
floating point, complex) than the stronger one's: an int64 number does not widen a uint8 tensor, but a float makes it
float32. A complex number makes a floating tensor complex and leaves it its width: float64 becomes complex128.
"""

from __future__ import annotations

from glasstorch.core.dtype import FLOATING, PROMOTE, Number, dtype, dtype_of_operand, get_default_dtype
from glasstorch.core.tensor_impl import TensorImpl


def result_type(*operands: TensorImpl | Number) -> dtype:
    """The common dtype in which operands are computed; a Python number counts as a wrapped number.

    >>> result_type(True, 2), result_type(2, 0.5)
    (torch.int64, torch.float32)
    """
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


def _widen(so_far: dtype | None, one_more: dtype) -> dtype:
    return one_more if so_far is None else PROMOTE[so_far, one_more]


def _combine_categories(stronger: dtype | None, weaker: dtype | None) -> dtype | None:
    if stronger is None:
        return weaker
    if weaker is None or weaker.category <= stronger.category:
        return stronger
    if stronger.is_floating_point:
        return stronger.to_complex()
    return weaker if weaker.is_complex else PROMOTE[stronger, weaker]


def float_result_type(*operands: TensorImpl | Number) -> dtype:
    """As `result_type`; integers and bool become the default floating dtype, complex stays complex."""
    common = result_type(*operands)
    return common if common.category >= FLOATING else get_default_dtype()
