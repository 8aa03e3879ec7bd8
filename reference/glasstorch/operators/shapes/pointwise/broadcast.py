"""What shape, dtype and strides does the result of a pointwise operator have?

Mirrors: TensorIteratorBase::compute_shape, compute_types and compute_strides in aten/src/ATen/TensorIterator.cpp; the
    TORCH_META_FUNCs in aten/src/ATen/native/BinaryOps.cpp, UnaryOps.cpp, PointwiseOps.cpp, Pow.cpp, TensorCompare.cpp
Differs: these three steps return a `Result`; the steps that follow are in kernels/iterator.py. What PyTorch
    refuses inside a kernel ("not implemented for 'Bool'") is refused there here too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from glasstorch.core.dtype import FLOATING, Number, bool_, dtype, uint8
from glasstorch.core.errors import ArgumentError, DeviceError, DtypeError, DtypeNotImplementedError
from glasstorch.core.geometry import (
    Shape,
    broadcast_shapes,
    channels_last_strides,
    is_channels_last,
    is_contiguous,
    is_non_overlapping_and_dense,
    iterated_strides,
    memory_order,
    strides_like,
)
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.core.warn_once import warn_once
from glasstorch.operators.shapes.promotion import float_result_type, result_type
from glasstorch.operators.shapes.result import C_NAMES, Result
from glasstorch.operators.shapes.scalars import number_as

# The common rule ------------------------------------------------------------------------------------------------


def broadcast(
    dtype: dtype, *tensors: TensorImpl, common: dtype | None = None, mask: TensorImpl | None = None
) -> Result:
    """The result of an operator on tensors broadcast together, laid out in memory as they are.

    `common` is the dtype in which they are computed, where it is not the result's; `mask` is one that keeps its own.
    """
    shape, keys = tensors[0]._shape, tensors[0].key_set
    row_major = True
    for tensor in tensors:
        if tensor._shape != shape:
            shape = broadcast_shapes(shape, tensor._shape)
            row_major = row_major and 0 not in shape
        if tensor._strides is not None:
            row_major = False
        if tensor.key_set != keys:
            _check_same_device(tensors)
    return Result(shape, dtype, None if row_major else compute_strides(shape, tensors, common or dtype, mask))


def compute_strides(
    shape: Shape, tensors: Sequence[TensorImpl], common: dtype, mask: TensorImpl | None = None, number: bool = False
) -> Shape | None:
    """Strides that keep the order in memory that the inputs agree on; None for row-major.

    A tensor that PyTorch would first cast to the common dtype counts with the strides of its copy. `number` says that
    a Python number is an input too, as a 0-dim tensor: then not all inputs have the result's shape.

    Mirrors: TensorIteratorBase::compute_strides, fast_set_up, reorder_dimensions
    """
    own_strides = [
        t.strides() if t.dtype is common or t is mask else strides_like(t._shape, t.strides()) for t in tensors
    ]
    # Tuples of other lengths are compared element by element too, which symbols would take for a question.
    if not number and all(len(t._shape) == len(shape) and t._shape == shape for t in tensors):
        all_strides = own_strides
        if all(is_contiguous(shape, strides) for strides in all_strides):
            return None
        if len(shape) == 4 and all(is_channels_last(shape, strides) for strides in all_strides):
            return channels_last_strides(shape)
        first = all_strides[0]
        if all(strides == first for strides in all_strides) and is_non_overlapping_and_dense(shape, first):
            return first
    else:
        pairs = zip(tensors, own_strides, strict=True)
        all_strides = [_broadcast_strides(tensor._shape, strides, shape) for tensor, strides in pairs]
    order = memory_order(all_strides, shape)
    if order == list(range(len(shape) - 1, -1, -1)):
        return None
    return iterated_strides(shape, order)


def strides_beside_number(self: TensorImpl, other: Number, result: Result) -> Shape | None:
    """The strides of an out= tensor that is resized for one of BESIDE_NUMBER; None for row-major."""
    common = result_type(self, other) if result.dtype is bool_ else result.dtype
    return compute_strides(self._shape, (self,), common, number=True)


def _broadcast_strides(shape: Shape, strides: Shape, target: Shape) -> Shape:
    """A tensor's strides under the broadcast shape; an expanded dimension has stride 0."""
    added = len(target) - len(shape)
    own = zip(shape, strides, target[added:], strict=True)
    return (*[0] * added, *(0 if size == 1 and size != wanted else stride for size, stride, wanted in own))


def _check_same_device(tensors: Sequence[TensorImpl]) -> None:
    """Refuse tensors on different devices; a 0-dim CPU tensor goes with any device."""
    devices = [str(t.device) for t in tensors if t._shape or t.device.type != "cpu"]
    other = next((device for device in devices if device != devices[0]), None)
    if other is not None:
        raise DeviceError(
            f"Expected all tensors to be on the same device, but found at least two devices, {devices[0]} and {other}!"
        )


def keeps_dtype(result: Result) -> Result:
    """A result that only an out= tensor of exactly its dtype can hold.

    Mirrors: check_all_same_dtype in aten/src/ATen/TensorIterator.h
    """
    return result._replace(check_out=_check_same_dtype)


def _check_same_dtype(result: dtype, out: dtype) -> None:
    if result is not out:
        raise DtypeError(f"Found dtype {out.scalar_name} but expected {result.scalar_name}")


# One tensor -----------------------------------------------------------------------------------------------------


def unary(self: TensorImpl) -> Result:
    """The same shape and dtype."""
    return keeps_dtype(broadcast(self.dtype, self))


def unary_float(self: TensorImpl) -> Result:
    """The same shape; integers and bool become the default floating dtype."""
    return broadcast(float_result_type(self), self)


def negate(self: TensorImpl) -> Result:
    """The same shape and dtype; bool is refused."""
    if self.dtype is bool_:
        raise DtypeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        )
    return unary(self)


bitwise_unary = unary


def absolute(self: TensorImpl) -> Result:
    """The same shape; a complex dtype becomes that of its parts."""
    if not self.dtype.is_complex:
        return unary(self)
    # As empty_like lays it out (unary_op_impl_with_complex_to_float_out in aten/src/ATen/native/UnaryOps.cpp).
    strides = None if self._strides is None else strides_like(self._shape, self._strides)
    return Result(self._shape, self.dtype.to_real(), strides)


def relu(self: TensorImpl) -> Result:
    """The same shape and dtype; bool is refused."""
    if self.dtype is bool_:
        raise DtypeError("Boolean inputs not supported for relu")
    _check_clamped(self.dtype)
    return broadcast(self.dtype, self)


# Two tensors ----------------------------------------------------------------------------------------------------


def binary(self: TensorImpl, other: TensorImpl) -> Result:
    """Broadcast shape, promoted dtype."""
    dtype = self.dtype if self.dtype is other.dtype else result_type(self, other)
    return broadcast(dtype, self, other)


def binary_alpha(self: TensorImpl, other: TensorImpl, alpha: Number) -> Result:
    """As `binary`; `alpha` must be of a category that the dtype can represent."""
    result = binary(self, other)
    _check_alpha(result.dtype, alpha)
    return result


def _check_alpha(dtype: dtype, alpha: Number) -> None:
    """Mirrors: alpha_check in aten/src/ATen/native/BinaryOps.h"""
    if isinstance(alpha, bool) and dtype is not bool_:
        raise DtypeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, float | complex) and dtype.category < FLOATING:
        raise DtypeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and not dtype.is_complex:
        raise DtypeError("For non-complex input tensors, argument alpha must not be a complex number.")


def subtract(self: TensorImpl, other: TensorImpl, alpha: Number) -> Result:
    """As `binary_alpha`; bool on either side is refused."""
    if self.dtype is bool_ and other.dtype is bool_:
        raise DtypeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead."
        )
    if self.dtype is bool_ or other.dtype is bool_:
        raise DtypeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, "
            "use the `~` or `logical_not()` operator instead."
        )
    return binary_alpha(self, other, alpha)


def true_divide(self: TensorImpl, other: TensorImpl) -> Result:
    """As `binary`; integers and bool become the default floating dtype."""
    return broadcast(float_result_type(self, other), self, other)


def divide_mode(self: TensorImpl, other: TensorImpl, rounding_mode: str | None) -> Result:
    """As `true_divide` without a rounding mode, as `binary` with one."""
    if rounding_mode is None:
        return true_divide(self, other)
    if rounding_mode not in ("trunc", "floor"):
        raise ArgumentError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    return binary(self, other)


def _larger_or_smaller(name: str, self: TensorImpl, other: TensorImpl) -> Result:
    """As `binary`; complex inputs are refused."""
    if self.dtype.is_complex or other.dtype.is_complex:
        raise DtypeError(f"{name} not implemented for complex tensors.")
    return binary(self, other)


maximum, minimum = (partial(_larger_or_smaller, name) for name in ("maximum", "minimum"))


def comparison(self: TensorImpl, other: TensorImpl) -> Result:
    """Broadcast shape; bool."""
    return broadcast(bool_, self, other, common=result_type(self, other))


def comparison_scalar(self: TensorImpl, other: Number) -> Result:
    """The same shape; bool."""
    return broadcast(bool_, self, common=result_type(self, other))


bitwise = binary


def bitwise_scalar(self: TensorImpl, other: Number) -> Result:
    """The same shape; the dtype is promoted with the number's."""
    return broadcast(result_type(self, other), self)


def threshold_backward(grad_output: TensorImpl, self: TensorImpl, threshold: Number) -> Result:
    """As `binary`; the input's strides take precedence over the gradient's."""
    return binary(self, grad_output)


# Powers ---------------------------------------------------------------------------------------------------------


def power(self: TensorImpl, exponent: TensorImpl) -> Result:
    """As `binary`."""
    return binary(self, exponent)


def power_scalar(self: TensorImpl, exponent: Number) -> Result:
    """The same shape; the dtype is promoted with the exponent's; integers have no negative integer powers."""
    if self.dtype.category < FLOATING and isinstance(exponent, int) and exponent < 0:
        raise DtypeError("Integers to negative integer powers are not allowed.")
    return broadcast(result_type(self, exponent), self)


def power_scalar_base(self: Number, exponent: TensorImpl) -> Result:
    """The exponent's shape, row-major; its dtype is promoted with the base's."""
    return Result(exponent._shape, result_type(exponent, self))


# Several tensors ------------------------------------------------------------------------------------------------


def where(condition: TensorImpl, self: TensorImpl, other: TensorImpl) -> Result:
    """Broadcast shape; the promoted dtype of the two values."""
    if condition.dtype is uint8:
        warn_once(UINT8_CONDITION)
    elif condition.dtype is not bool_:
        raise DtypeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{condition.dtype.scalar_name}"
        )
    mask = condition if condition.dtype is bool_ else None
    result = broadcast(result_type(self, other), condition, self, other, mask=mask)
    return result._replace(check_out=_check_where_out)


def _check_where_out(result: dtype, out: dtype) -> None:
    if result is not out:
        raise DtypeError(f"Expected out type to be {result.scalar_name} but got {out.scalar_name}")


UINT8_CONDITION = (
    "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version of "
    "PyTorch. Use a boolean condition instead."
)


def clamp(self: TensorImpl, min: Number | None, max: Number | None) -> Result:
    """The same shape; the dtype is promoted with those of the bounds."""
    bounds = [bound for bound in (min, max) if bound is not None]
    dtype = _clamped(self, *bounds)
    for bound in bounds:
        number_as(bound, dtype)
    return keeps_dtype(broadcast(dtype, self))


def clamp_tensor(self: TensorImpl, min: TensorImpl | None, max: TensorImpl | None) -> Result:
    """Broadcast shape, promoted dtype."""
    bounds = [bound for bound in (min, max) if bound is not None]
    return broadcast(_clamped(self, *bounds), self, *bounds)


def _clamped(self: TensorImpl, *bounds: Number | TensorImpl) -> dtype:
    """The common dtype of a tensor and its bounds; there must be at least one bound."""
    if not bounds:
        raise ArgumentError("torch.clamp: At least one of 'min' or 'max' must not be None")
    dtype = result_type(self, *bounds)
    _check_clamped(dtype)
    return dtype


def _check_clamped(dtype: dtype) -> None:
    if dtype.is_complex:
        raise DtypeNotImplementedError("clamp is not supported for complex types")


def ternary(self: TensorImpl, tensor1: TensorImpl, tensor2: TensorImpl, value: Number) -> Result:
    """Broadcast shape, promoted dtype."""
    dtype = result_type(self, tensor1, tensor2)
    number_as(value, dtype)
    return broadcast(dtype, self, tensor1, tensor2)


def ternary_divide(self: TensorImpl, tensor1: TensorImpl, tensor2: TensorImpl, value: Number) -> Result:
    """As `ternary`; the quotient of two integers is refused."""
    if tensor1.dtype.category < FLOATING and tensor2.dtype.category < FLOATING:
        raise DtypeError(
            f"Integer division with addcdiv is no longer supported; tensor1 is {tensor1.dtype} and tensor2 is "
            f"{tensor2.dtype}. Use (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for a whole "
            f"quotient and (input + value * tensor1 / tensor2) for a true one"
        )
    return ternary(self, tensor1, tensor2, value)


def lerp_scalar(self: TensorImpl, end: TensorImpl, weight: Number) -> Result:
    """Broadcast shape; both dtypes must be equal."""
    if self.dtype is not end.dtype:
        raise DtypeError(f"expected dtype {C_NAMES[self.dtype.name]} for `end` but got dtype {C_NAMES[end.dtype.name]}")
    return broadcast(self.dtype, self, end)


def masked_fill(self: TensorImpl, mask: TensorImpl, value: Number) -> Result:
    """Broadcast shape, row-major, in this tensor's dtype, which must hold the value; the mask must be bool."""
    shape = broadcast(self.dtype, mask, self).shape
    if mask.dtype is not bool_:
        raise DtypeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {C_NAMES[mask.dtype.name]}"
        )
    number_as(value, self.dtype)
    return Result(shape, self.dtype)


# Rounding, signs and logic --------------------------------------------------------------------------------------


def _rounding(name: str, self: TensorImpl) -> Result:
    """The same shape and dtype; complex inputs are refused."""
    if self.dtype.is_complex:
        raise DtypeNotImplementedError(f"{name} is not supported for complex inputs")
    return unary(self)


ceil = partial(_rounding, "ceil")
floor = partial(_rounding, "floor")
trunc = partial(_rounding, "trunc")


def round_decimals(self: TensorImpl, decimals: int) -> Result:
    """The same shape and dtype."""
    return unary(self)


def sign(self: TensorImpl) -> Result:
    """The same shape and dtype; complex inputs are refused."""
    if self.dtype.is_complex:
        raise DtypeNotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."
        )
    return unary(self)


def signbit(self: TensorImpl) -> Result:
    """The same shape; bool. Complex inputs and out= tensors of other dtypes are refused."""
    if self.dtype.is_complex:
        raise DtypeNotImplementedError("signbit is not implemented for complex tensors.")
    return truth(self)._replace(check_out=partial(_check_bool_out, "signbit"))


def _infinity(name: str, self: TensorImpl) -> Result:
    """As `signbit`."""
    if self.dtype.is_complex:
        raise DtypeError(f"{name} does not support complex inputs.")
    return truth(self)._replace(check_out=partial(_check_bool_out, name))


isposinf, isneginf = (partial(_infinity, name) for name in ("isposinf", "isneginf"))


def _check_bool_out(name: str, result: dtype, out: dtype) -> None:
    """The out= rule of predicates: only bool."""
    if out is not bool_:
        raise DtypeError(f"{name} does not support non-boolean outputs.")


def truth(self: TensorImpl) -> Result:
    """The same shape; bool."""
    return broadcast(bool_, self, common=self.dtype)


def copysign_scalar(self: TensorImpl, other: Number) -> Result:
    """The same shape; integers and bool become the default floating dtype."""
    return broadcast(float_result_type(self, other), self)


def number_first(self: Number, other: TensorImpl) -> Result:
    """The tensor's shape; its dtype is promoted with the number's."""
    return broadcast(result_type(self, other), other)


# Shape functions of operators on a tensor and a number. Where strides are chosen for an out= tensor that is resized,
# the number counts as a 0-dim tensor; it does not where a new tensor is made (as observed with torch 2.13).
BESIDE_NUMBER = frozenset((comparison_scalar, bitwise_scalar, copysign_scalar))
