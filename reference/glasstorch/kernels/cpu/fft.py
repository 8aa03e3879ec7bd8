"""How are Fourier transforms computed on the CPU?

Mirrors: aten/src/ATen/native/mkl/SpectralOps.cpp (_fft_c2c_mkl, _fft_r2c_mkl, _fft_c2r_mkl)
Differs: SciPy's pocketfft computes the transforms. An empty batch gives an empty result; PyTorch with MKL raises an
    error.

The result has PyTorch's strides, with the transformed dimensions innermost.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from glasstorch._tensor import Tensor, make
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.storage import Storage
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import Out, structured
from glasstorch.operators.shapes import fft as shapes
from glasstorch.operators.shapes.result import Result

CPU = KernelTable("CPU")

# The normalization -> SciPy's name for it in a forward transform, and in an inverse one.
FORWARDS: Final = {shapes.NONE: "backward", shapes.BY_ROOT: "ortho", shapes.BY_POINTS: "forward"}
INVERSE: Final = {shapes.NONE: "forward", shapes.BY_ROOT: "ortho", shapes.BY_POINTS: "backward"}


@slot
def transformed(name: str, array: Array, sizes: Sequence[int] | None, axes: Sequence[int], norm: str) -> Array:
    """The result of a function of `scipy.fft`, which is row-major."""
    from scipy import fft  # type: ignore[import-untyped,unused-ignore]

    return getattr(fft, name)(array, sizes, axes, norm)  # type: ignore[no-any-return]


def transform(name: str, self: Tensor, norm: str, dim: Sequence[int], result: Result, out: Out) -> Tensor:
    """The transform over some dimensions: a copy if there are none. They are first put in the result's memory order."""
    array = self.array()
    strides = result.strides or ()
    order = sorted(range(array.ndim), key=lambda d: (-strides[d], d))
    axes = [order.index(wrap_dim(d, array.ndim)) for d in dim]
    sizes = [result.shape[d] for d in dim] if name == "irfftn" else None  # half of a spectrum does not tell
    ordered = array.transpose(order)
    values = quietly(transformed.run, name, ordered, sizes, axes, norm) if dim else ordered.copy()
    if name == "rfftn" and dim and values.shape[axes[-1]] < result.shape[dim[-1]]:
        values = whole(values, axes, result.shape[dim[-1]])
    if out is None:  # the result's own strides: NumPy's are arbitrary in dimensions of size 1
        return make(Storage.over(np.ascontiguousarray(values)), result.dtype, result.shape, strides, 0)
    out.array()[...] = values.transpose(np.argsort(order))
    return out


def whole(half: Array, axes: Sequence[int], points: int) -> Array:
    """The spectrum of a real signal, given its first half along the last of the axes.

    SciPy's `fftn` would mirror the frequency 0 as well, which gives its imaginary part, a zero, the other sign.
    """
    mirrored = half[(*[slice(None)] * axes[-1], slice(points - half.shape[axes[-1]], 0, -1))].conj()
    for axis in axes[:-1]:
        mirrored = np.roll(np.flip(mirrored, axis), 1, axis)
    return np.concatenate([half, mirrored], axes[-1])


@structured(CPU, "_fft_c2c")
def c2c(keys: int, self: Tensor, dim: Sequence[int], normalization: int, forward: bool, out: Out = None) -> Tensor:
    """Complex to complex."""
    result = shapes.c2c(self, dim, normalization, forward)
    norm = (FORWARDS if forward else INVERSE)[normalization]
    return transform("fftn" if forward else "ifftn", self, norm, dim, result, out)


@structured(CPU, "_fft_r2c")
def r2c(keys: int, self: Tensor, dim: Sequence[int], normalization: int, onesided: bool, out: Out = None) -> Tensor:
    """Real to complex. Half of the spectrum suffices, because the other half is its mirrored conjugate."""
    result = shapes.r2c(self, dim, normalization, onesided)
    return transform("rfftn", self, FORWARDS[normalization], dim, result, out)


@structured(CPU, "_fft_c2r")
def c2r(keys: int, self: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int, out: Out = None) -> Tensor:
    """Complex to real, from half of a Hermitian spectrum."""
    result = shapes.c2r(self, dim, normalization, last_dim_size)
    return transform("irfftn", self, INVERSE[normalization], dim, result, out)
