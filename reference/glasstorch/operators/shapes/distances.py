"""What shape and dtype do distances between the rows of matrices have?

Mirrors: aten/src/ATen/native/Distance.cpp (cdist_impl, _cdist_backward)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import dtype
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.operators.shapes.result import Result

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def check_cdist(x1: Tensor, x2: Tensor, p: float) -> None:
    """Refuse inputs that are not two batches of rows of equal length, and a negative order."""
    for number, tensor in enumerate((x1, x2), 1):
        if len(tensor._shape) < 2:
            raise ShapeError(f"cdist only supports at least 2D tensors, X{number} got: {len(tensor._shape)}D")
    if x1._shape[-1] != x2._shape[-1]:
        raise ShapeError(f"X1 and X2 must have the same number of columns. X1: {x1._shape[-1]} X2: {x2._shape[-1]}")
    if not p >= 0:
        raise ArgumentError("cdist only supports non-negative p values")


def check_floating(x1: Tensor, x2: Tensor) -> None:
    """Refuse integers, bool and complex numbers."""
    for number, tensor in enumerate((x1, x2), 1):
        if not tensor.dtype.is_floating_point:
            raise DtypeError(f"cdist only supports floating-point dtypes, X{number} got: {tensor.dtype.scalar_name}")


def cdist_forward(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Result:
    """(..., n, k) with (..., m, k) gives (..., n, m); the batch dimensions broadcast."""
    check_cdist(x1, x2, p)
    check_floating(x1, x2)
    if x1.dtype is not x2.dtype:
        raise DtypeError(f"expected scalar type {x1.dtype.scalar_name} but found {x2.dtype.scalar_name}")
    batch = broadcast_shapes(x1._shape[:-2], x2._shape[:-2])
    shape = (*batch, x1._shape[-2], x2._shape[-2])
    if 0 not in shape and x1._shape[-1]:
        _check_implemented("cdist", x1.dtype)
    return Result(shape, x1.dtype)


def cdist_backward(grad: Tensor, x1: Tensor, x2: Tensor, p: float, cdist: Tensor) -> Result:
    """The shape of `x1`, expanded to the batch dimensions of the distances."""
    if grad.numel() and x1._shape[-1]:
        _check_implemented("cdist_backward", x1.dtype)
    return Result((*grad._shape[:-2], *x1._shape[-2:]), x1.dtype)


def _check_implemented(kernel: str, dtype: dtype) -> None:
    """Refuse all but float32 and float64."""
    if dtype.name not in ("float32", "float64"):
        raise not_implemented_for(kernel, dtype)
