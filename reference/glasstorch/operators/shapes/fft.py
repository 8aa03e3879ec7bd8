"""What shape, dtype and strides does a Fourier transform have?

Mirrors: aten/src/ATen/native/mkl/SpectralOps.cpp (_exec_fft), aten/src/ATen/native/SpectralOpsUtils.h
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from glasstorch.core.errors import DtypeError, ShapeError
from glasstorch.core.geometry import Shape, strides_in_order, wrap_dim
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

NONE, BY_ROOT, BY_POINTS = 0, 1, 2  # fft_norm_mode: what the sum is divided by
SINGLE_AND_DOUBLE: Final = ("float32", "float64", "complex64", "complex128")


def c2c(self: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> Result:
    """The input's shape; complex."""
    if not self.dtype.is_complex:
        raise DtypeError(f"_fft_c2c expects a complex tensor, but got {self.dtype.scalar_name}")
    dims, strides = _wrapped(self, dim), self.strides()
    return Result(self._shape, self.dtype, _laid_out(strides, _by_stride(dims, strides), self._shape), same_dtype)


def r2c(self: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> Result:
    """Complex; with `onesided`, the last transformed dimension has n // 2 + 1 elements."""
    if not self.dtype.is_floating_point:
        raise DtypeError(f"_fft_r2c expects a floating point tensor, but got {self.dtype.scalar_name}")
    if self.dtype.name not in SINGLE_AND_DOUBLE:
        raise DtypeError(f"MKL FFT doesn't support tensors of type: {self.dtype.scalar_name}; expected Float or Double")
    shape, dims, strides = list(self._shape), _wrapped(self, dim), self.strides()
    if onesided:
        shape[dims[-1]] = shape[dims[-1]] // 2 + 1
    laid_out = _laid_out(strides, [*_by_stride(dims[:-1], strides), dims[-1]], tuple(shape))
    return Result(tuple(shape), self.dtype.to_complex(), laid_out, same_dtype)


def c2r(self: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int) -> Result:
    """Real, with the given size of the last transformed dimension."""
    if not self.dtype.is_complex:
        raise DtypeError(f"_fft_c2r expects a complex tensor, but got {self.dtype.scalar_name}")
    if last_dim_size < 1:
        raise ShapeError(f"Invalid number of data points ({last_dim_size}) specified")
    shape, dims, strides = list(self._shape), _wrapped(self, dim), self.strides()
    if len(dims) > 1:  # the other dimensions are transformed first
        strides = _laid_out(strides, _by_stride(dims[:-1], strides), self._shape)
    shape[dims[-1]] = last_dim_size
    return Result(tuple(shape), self.dtype.to_real(), _laid_out(strides, dims[-1:], tuple(shape)), same_dtype)


def _wrapped(self: Tensor, dim: Sequence[int]) -> list[int]:
    return [wrap_dim(d, len(self._shape)) for d in dim]


def _laid_out(strides: Shape, dims: Sequence[int], shape: Shape) -> Shape:
    """A result's strides: transformed dimensions innermost, the last of them fastest; the others keep their order."""
    order = list(range(len(strides)))
    left, right = 0, len(order) - 1
    while True:  # std::partition is not stable: its swaps decide the order among equal strides
        while left < right and order[left] not in dims:
            left += 1
        while left < right and order[right] in dims:
            right -= 1
        if left >= right:
            break
        order[left], order[right] = order[right], order[left]
    outer = _by_stride([d for d in order if d not in dims], strides)
    return strides_in_order(shape, [*reversed(dims), *reversed(outer)])


def _by_stride(dims: Sequence[int], strides: Shape) -> list[int]:
    return sorted(dims, key=lambda d: -strides[d])
