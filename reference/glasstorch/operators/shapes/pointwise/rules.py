"""Which pointwise operators refuse inputs or promote dtypes in their own way?

Mirrors: aten/src/ATen/native/UnaryOps.cpp (angle, frexp, nan_to_num_out), aten/src/ATen/native/BinaryOps.cpp (fmax,
    fmin, heaviside), aten/src/ATen/native/TensorCompare.cpp (clamp_max, clamp_min),
    aten/src/ATen/native/Lerp.cpp
"""

from __future__ import annotations

from functools import partial

from glasstorch.core.dtype import Number, dtype, int32
from glasstorch.core.errors import DtypeError
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.operators.shapes.pointwise.broadcast import binary, broadcast, clamp, keeps_dtype, unary, unary_float
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.result import C_NAMES, Result

# One tensor -----------------------------------------------------------------------------------------------------


def angle(self: TensorImpl) -> Result:
    """The same shape, floating point; a complex dtype becomes that of its parts, row-major."""
    return Result(self._shape, self.dtype.to_real()) if self.dtype.is_complex else unary_float(self)


def frexp(self: TensorImpl) -> tuple[Result, Result]:
    """Two results of the same shape: one of this dtype and one of int32."""
    if not self.dtype.is_floating_point:
        raise DtypeError(f"torch.frexp() only supports floating-point dtypes, but got {self.dtype}")
    mantissa = unary(self)
    return tuple(  # type: ignore[return-value]
        mantissa._replace(dtype=made, check_out=partial(_check_part, part))
        for part, made in (("mantissa", self.dtype), ("exponent", int32))
    )


def _check_part(part: str, result: dtype, out: dtype) -> None:
    if result is not out:
        wanted, given = C_NAMES[result.name], C_NAMES[out.name]
        wanted = f"{wanted} dtype" if result is int32 else f"dtype {wanted}"
        raise DtypeError(f"torch.frexp() expects {part} to have {wanted} but got {given}")


def nan_to_num(self: TensorImpl, nan: float | None, posinf: float | None, neginf: float | None) -> Result:
    """The same shape and dtype."""
    return unary(self)._replace(check_out=_check_cleaned)


def _check_cleaned(result: dtype, out: dtype) -> None:
    if result is not out:
        raise DtypeError(f"nan_to_num: dtype of out: {out.scalar_name} should be same as input: {result.scalar_name}")


def clamp_max(self: TensorImpl, max: Number) -> Result:
    """The same shape; the dtype is promoted with the bound's."""
    return clamp(self, None, max)


def clamp_min(self: TensorImpl, min: Number) -> Result:
    """The same shape; the dtype is promoted with the bound's."""
    return clamp(self, min, None)


# Two tensors ----------------------------------------------------------------------------------------------------


def _real_only(message: str, self: TensorImpl, other: TensorImpl) -> Result:
    """Broadcast shape, promoted dtype; complex inputs are refused."""
    if self.dtype.is_complex or other.dtype.is_complex:
        raise DtypeError(message)
    return binary(self, other)


fmax, fmin = (partial(_real_only, f"{name} not implemented for complex tensors.") for name in ("fmax", "fmin"))


def heaviside(self: TensorImpl, values: TensorImpl) -> Result:
    """Broadcast shape; both dtypes, and that of an out= tensor, must be equal."""
    result = _real_only("heaviside is not yet implemented for complex tensors.", self, values)
    _check_alike(self.dtype, values.dtype)
    return result._replace(check_out=_check_alike)


def _check_alike(one: dtype, other: dtype) -> None:
    if one is not other:
        raise DtypeError(f"heaviside is not yet implemented for tensors with different dtypes; found {one} and {other}")


# Three tensors --------------------------------------------------------------------------------------------------


def lerp(self: TensorImpl, end: TensorImpl, weight: TensorImpl) -> Result:
    """Broadcast shape; all dtypes must be equal, but a 0-dim weight is promoted."""
    others = {"end": end} if not weight._shape else {"end": end, "weight": weight}
    for name, other in others.items():
        if other.dtype is not self.dtype:
            raise DtypeError(
                f"expected dtype {C_NAMES[self.dtype.name]} for `{name}` but got dtype {C_NAMES[other.dtype.name]}"
            )
    result = broadcast(result_type(self, end, weight), self, end, weight)
    return keeps_dtype(result) if weight._shape else result
