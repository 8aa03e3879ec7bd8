"""Which Fourier transforms are there?

Mirrors: nothing in torch; the standard's `fft` extension
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from glasstorch.array_api._scalars import Array
from glasstorch.core.device import device as Device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.operators.generated import functions as f

__all__ = [
    "fft",
    "ifft",
    "fftn",
    "ifftn",
    "rfft",
    "irfft",
    "rfftn",
    "irfftn",
    "hfft",
    "ihfft",
    "fftfreq",
    "rfftfreq",
    "fftshift",
    "ifftshift",
]

Norm = Literal["backward", "ortho", "forward"]


def fft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The Fourier transform along a dimension."""
    return f.fft_fft(x, n, axis, norm)


def ifft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The inverse of `fft`."""
    return f.fft_ifft(x, n, axis, norm).resolve_conj()


def fftn(
    x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Array:
    """`fft` over several dimensions."""
    return f.fft_fftn(x, s, axes, norm)


def ifftn(
    x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Array:
    """The inverse of `fftn`."""
    return f.fft_ifftn(x, s, axes, norm)


def rfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The Fourier transform of real numbers, without the redundant negative frequencies."""
    return f.fft_rfft(x, n, axis, norm)


def irfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The inverse of `rfft`; `n` is the length of the result, which is even by default."""
    return f.fft_irfft(x, n, axis, norm)


def rfftn(
    x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Array:
    """`rfft` over the last of several dimensions, `fft` over the others."""
    return f.fft_rfftn(x, s, axes, norm)


def irfftn(
    x: Array, /, *, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = "backward"
) -> Array:
    """The inverse of `rfftn`."""
    return f.fft_irfftn(x, s, axes, norm)


def hfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The Fourier transform of a Hermitian-symmetric signal, given its half; the result is real."""
    return f.fft_hfft(x, n, axis, norm)


def ihfft(x: Array, /, *, n: int | None = None, axis: int = -1, norm: Norm = "backward") -> Array:
    """The inverse of `hfft`."""
    return f.fft_ihfft(x, n, axis, norm).resolve_conj()


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """The sample frequencies of `fft`: from 0 upwards, then the negative ones."""
    return f.fft_fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Dtype | None = None, device: Device | None = None) -> Array:
    """The sample frequencies of `rfft`."""
    return f.fft_rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """The spectrum with frequency 0 moved to the middle."""
    return f.fft_fftshift(x, [axes] if isinstance(axes, int) else axes)


def ifftshift(x: Array, /, *, axes: int | Sequence[int] | None = None) -> Array:
    """The inverse of `fftshift`."""
    return f.fft_ifftshift(x, [axes] if isinstance(axes, int) else axes)
