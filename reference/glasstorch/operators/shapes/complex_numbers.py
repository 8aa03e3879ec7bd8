"""What shape and dtype does a complex tensor made of two real ones have?

Mirrors: aten/src/ATen/native/TensorFactories.cpp (complex_check_floating, complex_check_dtype)
Differs: two tensors of float16 are refused, as complex32 is.
"""

from __future__ import annotations

from glasstorch.core.dtype import NO_COMPLEX_HALF, dtype, float16, float32, float64
from glasstorch.core.errors import DtypeError, DtypeNotImplementedError
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.operators.shapes.pointwise.broadcast import broadcast, unary
from glasstorch.operators.shapes.result import Result

PARTS = frozenset((float16, float32, float64))


def from_parts(real: TensorImpl, imag: TensorImpl) -> Result:
    """The complex dtype that belongs to both parts, which must have the same floating-point dtype."""
    _check_parts(real.dtype, imag.dtype)
    if real.dtype is float16:
        raise DtypeError(NO_COMPLEX_HALF)
    result = broadcast(real.dtype, real, imag)
    return result._replace(dtype=real.dtype.to_complex(), check_out=_same_complex)


def from_polar(abs: TensorImpl, angle: TensorImpl) -> Result:
    """As `from_parts`."""
    _check_parts(abs.dtype, angle.dtype)
    if abs.dtype is float16:
        raise DtypeNotImplementedError("\"polar_cpu\" not implemented for 'Half'")
    return from_parts(abs, angle)


def _check_parts(first: dtype, second: dtype) -> None:
    if not {first, second} <= PARTS:
        raise DtypeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {first.scalar_name} and "
            f"{second.scalar_name}"
        )
    if first is not second:
        raise DtypeError(
            f"Expected object of scalar type {first.scalar_name} but got scalar type {second.scalar_name} for second "
            f"argument"
        )


def _same_complex(result: dtype, out: dtype) -> None:
    if result is not out:
        raise DtypeError(
            f"Expected object of scalar type {result.scalar_name} but got scalar type {out.scalar_name} for argument "
            f"'out'"
        )


conj_physical = unary  # the conjugate has the shape and dtype of its input
