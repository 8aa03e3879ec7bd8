"""Which Fourier transforms are composed of the three that have kernels?

Mirrors: aten/src/ATen/native/SpectralOps.cpp
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import dtype, get_default_dtype
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.core.geometry import existing_dim, wrap_dim
from glasstorch.operators.direct import on_tensor
from glasstorch.operators.generated import functions
from glasstorch.operators.shapes.fft import BY_POINTS, BY_ROOT, NONE, SINGLE_AND_DOUBLE

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

complex_to_complex = on_tensor("_fft_c2c")
real_to_complex = on_tensor("_fft_r2c")
complex_to_real = on_tensor("_fft_c2r")
pad = on_tensor("constant_pad_nd")
roll = on_tensor("roll")

# Arguments ------------------------------------------------------------------------------------------------------


def _normalization(norm: str | None, forward: bool) -> int:
    """The divisor of the sums; by default only the inverse transform is divided, by the number of points."""
    if norm in (None, "backward"):
        return NONE if forward else BY_POINTS
    if norm == "forward":
        return BY_POINTS if forward else NONE
    if norm == "ortho":
        return BY_ROOT
    raise ArgumentError(f'Invalid normalization mode: "{norm}"')


def _promoted(self: Tensor, to_complex: bool) -> Tensor:
    """The tensor in a dtype that can be transformed; integers become the default floating dtype."""
    wanted = self.dtype
    if not (wanted.is_floating_point or wanted.is_complex):
        wanted = get_default_dtype()
    if wanted.name not in SINGLE_AND_DOUBLE:
        raise DtypeError(f"Unsupported dtype {wanted.scalar_name}")
    if to_complex:
        wanted = wanted.to_complex()
    return self if wanted is self.dtype else self.to(wanted)


def _resized(self: Tensor, dims: Sequence[int], sizes: Sequence[int]) -> Tensor:
    """Dimensions cut or padded with zeros; -1 leaves one as it is."""
    padding = [0] * (2 * self.dim())
    must_pad = False
    for d, size in zip(dims, sizes, strict=True):
        if size == -1:
            continue
        if size < 1:
            raise ShapeError(f"Invalid number of data points ({size}) specified")
        if self._shape[d] < size:
            padding[2 * (self.dim() - 1 - d) + 1] = size - self._shape[d]
            must_pad = True
        elif self._shape[d] > size:
            self = self.narrow(d, 0, size)
    return pad(self, padding, 0) if must_pad else self


def _one_dim(self: Tensor, n: int | None, dim: int) -> tuple[Tensor, int]:
    """The tensor with the number of points asked for, and the dimension."""
    d = existing_dim(dim, self.dim())
    if n is not None and n < 1:
        raise ShapeError(f"Invalid number of data points ({n}) specified")
    if not self._shape[d] and n is None:
        raise ShapeError(f"Invalid number of data points ({self._shape[d]}) specified")
    return (self if n is None else _resized(self, [d], [n])), d


def _many_dims(self: Tensor, s: Sequence[int] | None, dim: Sequence[int] | None) -> tuple[list[int], list[int]]:
    """Sizes and dimensions: by default as many of the last ones as there are sizes, or all."""
    ndim = self.dim()
    if dim is not None:
        dims = [existing_dim(d, ndim) for d in dim]
        if len(set(dims)) != len(dims):
            raise ArgumentError("FFT dims must be unique")
        if s is not None and len(s) != len(dims):
            raise ArgumentError("When given, dim and shape arguments must have the same length")
    elif s is not None and len(s) > ndim:
        raise ShapeError(f"Got shape with {len(s)} values but input tensor only has {ndim} dimensions.")
    else:
        dims = list(range(ndim - len(s) if s is not None else 0, ndim))
    sizes = [self._shape[d] if s is None or s[i] == -1 else s[i] for i, d in enumerate(dims)]
    for size in sizes:
        if size < 1:
            raise ShapeError(f"Invalid number of data points ({size}) specified")
    return sizes, dims


# One dimension --------------------------------------------------------------------------------------------------


def _c2c(self: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    source, d = _one_dim(_promoted(self, False), n, dim)
    mode = _normalization(norm, forward)
    if source.dtype.is_complex:
        return complex_to_complex(source, [d], mode, forward)
    spectrum: Tensor = real_to_complex(source, [d], mode, False)
    return spectrum if forward else spectrum.conj()


def _r2c(name: str, self: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    if self.dtype.is_complex:
        raise DtypeError(f"{name} expects a real input tensor, but got {self.dtype.scalar_name}")
    source, d = _one_dim(_promoted(self, False), n, dim)
    spectrum: Tensor = real_to_complex(source, [d], _normalization(norm, forward), True)
    return spectrum if forward else spectrum.conj()


def _c2r(self: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    source = _promoted(self, True)
    d = existing_dim(dim, source.dim())
    points = 2 * (source._shape[d] - 1) if n is None else n
    if points < 1:
        raise ShapeError(f"Invalid number of data points ({points}) specified")
    if n is not None:
        source = _resized(source, [d], [n // 2 + 1])
    source = source.conj() if forward else source
    return complex_to_real(source, [d], _normalization(norm, forward), points)


def fft(self: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    """Complex or real to complex."""
    return _c2c(self, n, dim, norm, True)


def ifft(self: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    """The inverse of `fft`."""
    return _c2c(self, n, dim, norm, False)


def rfft(self: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    """The half of `fft` that determines the rest for real input."""
    return _r2c("rfft", self, n, dim, norm, True)


def irfft(self: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    """The inverse of `rfft`."""
    return _c2r(self, n, dim, norm, False)


def hfft(self: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    """`fft` of a Hermitian-symmetric signal, given its first half."""
    return _c2r(self, n, dim, norm, True)


def ihfft(self: Tensor, n: int | None, dim: int, norm: str | None) -> Tensor:
    """The inverse of `hfft`."""
    return _r2c("ihfft", self, n, dim, norm, False)


# Several dimensions ---------------------------------------------------------------------------------------------


def _c2c_many(
    self: Tensor, s: Sequence[int] | None, dim: Sequence[int] | None, norm: str | None, forward: bool
) -> Tensor:
    sizes, dims = _many_dims(self, s, dim)
    source = _resized(_promoted(self, True), dims, sizes)
    return complex_to_complex(source, dims, _normalization(norm, forward), forward)


def fftn(self: Tensor, s: Sequence[int] | None, dim: Sequence[int] | None, norm: str | None) -> Tensor:
    """`fft` over several dimensions."""
    return _c2c_many(self, s, dim, norm, True)


def ifftn(self: Tensor, s: Sequence[int] | None, dim: Sequence[int] | None, norm: str | None) -> Tensor:
    """The inverse of `fftn`."""
    return _c2c_many(self, s, dim, norm, False)


def rfftn(self: Tensor, s: Sequence[int] | None, dim: Sequence[int] | None, norm: str | None) -> Tensor:
    """`rfft` over the last of several dimensions, `fft` over the others."""
    if self.dtype.is_complex:
        raise DtypeError(f"rfftn expects a real-valued input tensor, but got {self.dtype.scalar_name}")
    sizes, dims = _many_dims(self, s, dim)
    if not dims:
        raise ArgumentError("rfftn must transform at least one axis")
    source = _resized(_promoted(self, False), dims, sizes)
    return real_to_complex(source, dims, _normalization(norm, True), True)


def irfftn(self: Tensor, s: Sequence[int] | None, dim: Sequence[int] | None, norm: str | None) -> Tensor:
    """The inverse of `rfftn`."""
    source, dims, points = _half_spectrum("irfftn", self, s, dim)
    return complex_to_real(source, dims, _normalization(norm, False), points)


def _half_spectrum(
    name: str, self: Tensor, s: Sequence[int] | None, dim: Sequence[int] | None
) -> tuple[Tensor, list[int], int]:
    """The tensor cut to half of the last dimension; the dimensions; the output size of the last one."""
    sizes, dims = _many_dims(self, s, dim)
    if not dims:
        raise ArgumentError(f"{name} must transform at least one axis")
    given = s is not None and s[-1] != -1
    points = sizes[-1] if given else 2 * (self._shape[dims[-1]] - 1)
    if points < 1:
        raise ShapeError(f"Invalid number of data points ({points}) specified")
    return _resized(_promoted(self, True), dims, [*sizes[:-1], points // 2 + 1]), dims, points


def hfftn(self: Tensor, s: Sequence[int] | None, dim: Sequence[int] | None, norm: str | None) -> Tensor:
    """`hfft` over the last of several dimensions, `fft` over the others."""
    source, dims, points = _half_spectrum("hfftn", self, s, dim)
    mode = _normalization(norm, True)
    if len(dims) > 1:
        source = complex_to_complex(source, dims[:-1], mode, True)
    return complex_to_real(source.conj(), dims[-1:], mode, points)


def ihfftn(self: Tensor, s: Sequence[int] | None, dim: Sequence[int] | None, norm: str | None) -> Tensor:
    """The inverse of `hfftn`."""
    if self.dtype.is_complex:
        raise DtypeError(f"Only supports floating-point dtypes, but found: {self.dtype.scalar_name}")
    sizes, dims = _many_dims(self, s, dim)
    if not dims:
        raise ArgumentError("ihfftn must transform at least one axis")
    source = _resized(_promoted(self, False), dims, sizes)
    mode = _normalization(norm, False)
    spectrum: Tensor = real_to_complex(source, dims[-1:], mode, True)
    if len(dims) == 1:
        return spectrum.conj()
    return complex_to_complex(spectrum.conj_physical(), dims[:-1], mode, False)


# Two dimensions -------------------------------------------------------------------------------------------------


def fft2(self: Tensor, s: Sequence[int] | None, dim: Sequence[int], norm: str | None) -> Tensor:
    """`fftn` over two dimensions."""
    return fftn(self, s, dim, norm)


def ifft2(self: Tensor, s: Sequence[int] | None, dim: Sequence[int], norm: str | None) -> Tensor:
    """`ifftn` over two dimensions."""
    return ifftn(self, s, dim, norm)


def rfft2(self: Tensor, s: Sequence[int] | None, dim: Sequence[int], norm: str | None) -> Tensor:
    """`rfftn` over two dimensions."""
    return rfftn(self, s, dim, norm)


def irfft2(self: Tensor, s: Sequence[int] | None, dim: Sequence[int], norm: str | None) -> Tensor:
    """`irfftn` over two dimensions."""
    return irfftn(self, s, dim, norm)


def hfft2(self: Tensor, s: Sequence[int] | None, dim: Sequence[int], norm: str | None) -> Tensor:
    """`hfftn` over two dimensions."""
    return hfftn(self, s, dim, norm)


def ihfft2(self: Tensor, s: Sequence[int] | None, dim: Sequence[int], norm: str | None) -> Tensor:
    """`ihfftn` over two dimensions."""
    return ihfftn(self, s, dim, norm)


# Frequencies ----------------------------------------------------------------------------------------------------


def fftfreq(n: int, d: float, dtype: dtype | None, layout: Any, device: Any, pin_memory: bool | None) -> Tensor:
    """The positive frequencies from 0, then the negative ones."""
    wanted = _frequency_dtype("fftfreq", dtype)
    result = functions.arange(n, dtype=wanted, layout=layout, device=device, pin_memory=pin_memory)
    result.narrow(0, (n + 1) // 2, n // 2).sub_(n)
    return result.mul_(_distance(n, d))


def rfftfreq(n: int, d: float, dtype: dtype | None, layout: Any, device: Any, pin_memory: bool | None) -> Tensor:
    """The frequencies from 0 up."""
    wanted = _frequency_dtype("rfftfreq", dtype)
    result = functions.arange(int(n / 2) + 1, dtype=wanted, layout=layout, device=device, pin_memory=pin_memory)
    return result.mul_(_distance(n, d))


def _distance(n: int, d: float) -> float:
    """The spacing of the frequencies; infinite for zero points."""
    return 1.0 / (n * d) if n * d else math.copysign(math.inf, n * d)


def _frequency_dtype(name: str, given: dtype | None) -> dtype:
    wanted = get_default_dtype() if given is None else given
    if not (wanted.is_floating_point or wanted.is_complex):
        raise DtypeError(f"{name} requires a floating point or complex dtype")
    return wanted


def fftshift(self: Tensor, dim: Sequence[int] | None) -> Tensor:
    """The spectrum with frequency 0 moved to the middle."""
    dims = list(range(self.dim())) if dim is None else [wrap_dim(d, self.dim()) for d in dim]
    return roll(self, [self._shape[d] // 2 for d in dims], dims) if dims else self.clone()


def ifftshift(self: Tensor, dim: Sequence[int] | None) -> Tensor:
    """The inverse of `fftshift`."""
    dims = list(range(self.dim())) if dim is None else [wrap_dim(d, self.dim()) for d in dim]
    return roll(self, [(self._shape[d] + 1) // 2 for d in dims], dims) if dims else self.clone()
