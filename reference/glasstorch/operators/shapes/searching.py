"""What shape and dtype do searchsorted, bucketize and isin return?

Mirrors: aten/src/ATen/native/BucketizationUtils.h, TORCH_META_FUNC2(isin, Tensor_Tensor) in
    aten/src/ATen/native/TensorCompare.cpp
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import Number, bool_, complex128, dtype, dtype_of_number, int32, int64
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.operators.shapes.result import Result

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def searchsorted(
    sorted_sequence: Tensor, self: Tensor, out_int32: bool, right: bool, side: str | None, sorter: Tensor | None
) -> Result:
    """An index for each value; the sequence is 1-D, or matches the values in all dimensions but the last."""
    sequence, values = sorted_sequence._shape, self._shape
    if len(sequence) != 1 and not values:
        raise ShapeError(
            f"torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we "
            f"got boundaries tensor dim({len(sequence)}) and input value's dim(0) numel(1)"
        )
    if sorter is not None and sorter._shape != sequence:
        raise ShapeError(
            f"torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{list(sequence)}and got sorter tensor {list(sorter._shape)}"
        )
    if not sequence:
        raise ShapeError("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension")
    if len(sequence) != 1 and sequence[:-1] != values[:-1]:
        raise ShapeError(
            f"torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries "
            f"tensor and input value tensor must match, but we got boundaries tensor {list(sequence)} and input value "
            f"tensor {list(values)}"
        )
    if self._shape and self.dtype is not sorted_sequence.dtype and sorted_sequence.dtype.is_complex:
        raise DtypeError("torch.searchsorted(): complex numbers have no order")
    to_the_right(right, side)
    if sorter is not None and sorter.dtype is not int64:
        raise DtypeError(
            f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {sorter.dtype.scalar_name}"
        )
    return Result(values, int32 if out_int32 else int64, None, _check_out_dtype)


def searchsorted_scalar(
    sorted_sequence: Tensor, self: Number, out_int32: bool, right: bool, side: str | None, sorter: Tensor | None
) -> Result:
    """One index; the sequence is 1-D."""
    if len(sorted_sequence._shape) != 1:
        raise ShapeError(
            f"torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got "
            f"boundaries tensor dim({len(sorted_sequence._shape)}) and input value's dim(0) numel(1)"
        )
    to_the_right(right, side)
    return Result((), int32 if out_int32 else int64, None, _check_out_dtype)


def bucketize(self: Tensor, boundaries: Tensor, out_int32: bool, right: bool) -> Result:
    """An index for each element; the boundaries are 1-D."""
    _check_boundaries(boundaries)
    return Result(self._shape, int32 if out_int32 else int64, None, _check_out_dtype)


def bucketize_scalar(self: Number, boundaries: Tensor, out_int32: bool, right: bool) -> Result:
    """One index."""
    _check_boundaries(boundaries)
    return Result((), int32 if out_int32 else int64, None, _check_out_dtype)


def _check_boundaries(boundaries: Tensor) -> None:
    if len(boundaries._shape) != 1:
        raise ShapeError(f"boundaries tensor must be 1 dimension, but got dim({len(boundaries._shape)})")


def to_the_right(right: bool, side: str | None) -> bool:
    """Whether to insert to the right of equal elements; `right` and `side` must agree."""
    if side is None:
        return right
    if side not in ("left", "right"):
        raise ArgumentError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise ArgumentError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True"
        )
    return side == "right"


def _check_out_dtype(result: dtype, out: dtype) -> None:
    if result is not out:
        raise DtypeError(
            f"torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending "
            f"on whether out_int32 flag is True, but we got output tensor's dtype {out.scalar_name} and out_int32 flag "
            f"is {'True' if result is int32 else 'False'}"
        )


def isin(elements: Tensor, test_elements: Tensor, assume_unique: bool, invert: bool) -> Result:
    """A bool for each element."""
    for tensor in (elements, test_elements):
        _check_isin(tensor.dtype)
    return Result(elements._shape, bool_)


def isin_number(elements: Tensor, test_element: Number, assume_unique: bool, invert: bool) -> Result:
    """As `isin`, with a Python number as the test elements."""
    _check_isin(elements.dtype)
    _check_isin(_dtype_in_words(test_element))
    return Result(elements._shape, bool_)


def number_isin(element: Number, test_elements: Tensor, assume_unique: bool, invert: bool) -> Result:
    """One bool."""
    _check_isin(_dtype_in_words(element))
    _check_isin(test_elements.dtype)
    return Result((), bool_)


def _dtype_in_words(number: Number) -> dtype:
    """A Python number's type as the error names it."""
    return complex128 if isinstance(number, complex) else dtype_of_number(number)


def _check_isin(dtype: dtype) -> None:
    if dtype is bool_ or dtype.is_complex:
        raise DtypeError(f"Unsupported input type encountered for isin(): {dtype.scalar_name}")
