"""What sizes, dtype and order in memory has a Fourier transform?

Mirrors: aten/src/ATen/native/mkl/SpectralOps.cpp (_exec_fft), aten/src/ATen/native/SpectralOpsUtils.h
Differs: nothing in substance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from glasstorch.core.dtype import dtype
from glasstorch.core.errors import DtypeError, ShapeError
from glasstorch.core.geometry import Shape, strides_in_order, wrap_dim
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

NONE, BY_ROOT, BY_POINTS = 0, 1, 2  # fft_norm_mode: what the sum is divided by
SINGLE_AND_DOUBLE: Final = ("float32", "float64", "complex64", "complex128")


def c2c(self: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Result:
    """The tensor's own sizes; complex."""
    if not self.dtype.is_complex:
        raise DtypeError(f"_fft_c2c expects a complex tensor, but got {self.dtype.scalar_name}")
    return _transformed(self, dim, self._shape, self.dtype)


def r2c(self: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Result:
    """Complex; one-sided, half of the last transformed dimension and one more."""
    if not self.dtype.is_floating_point:
        raise DtypeError(f"_fft_r2c expects a floating point tensor, but got {self.dtype.scalar_name}")
    shape = list(self._shape)
    if onesided:
        shape[dim[-1]] = shape[dim[-1]] // 2 + 1
    return _transformed(self, dim, tuple(shape), self.dtype.to_complex())


def c2r(self: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int) -> Result:
    """Real, with the given size of the last transformed dimension."""
    if not self.dtype.is_complex:
        raise DtypeError(f"_fft_c2r expects a complex tensor, but got {self.dtype.scalar_name}")
    if last_dim_size < 1:
        raise ShapeError(f"Invalid number of data points ({last_dim_size}) specified")
    shape = list(self._shape)
    shape[dim[-1]] = last_dim_size
    return _transformed(self, dim, tuple(shape), self.dtype.to_real())


def _transformed(self: Tensor, dim: Sequence[int], shape: Shape, dtype: dtype) -> Result:
    """Transformed dimensions lie innermost; all dimensions keep their order otherwise."""
    strides = self.strides()
    dim = [wrap_dim(d, len(shape)) for d in dim]
    outer = sorted((d for d in range(len(shape)) if d not in dim), key=lambda d: -strides[d])
    inner = sorted(dim, key=lambda d: -strides[d])
    return Result(shape, dtype, strides_in_order(shape, [*reversed(inner), *reversed(outer)]), same_dtype)
