"""How are Fourier transforms computed on the CPU?

Mirrors: aten/src/ATen/native/mkl/SpectralOps.cpp (_fft_c2c_mkl, _fft_r2c_mkl, _fft_c2r_mkl)
Differs: NumPy's pocketfft computes; the result lies in memory as there, with the transformed dimensions innermost.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod, sqrt
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import fft as shapes
from glasstorch.operators.shapes.result import Result

CPU = KernelTable("CPU")


def scaled(values: Any, sizes: Sequence[int], normalization: int, result: Result, out: Tensor | None) -> Tensor:
    """What was summed, divided by nothing, by the root of the number of points, or by that number."""
    written = allocate_output(result) if out is None else out
    points = prod(sizes)
    factor = {shapes.NONE: 1.0, shapes.BY_ROOT: 1 / sqrt(points or 1), shapes.BY_POINTS: 1 / (points or 1)}
    quietly(np.multiply, values, np.array(factor[normalization], values.real.dtype), out=written.array())
    return written


def c2c(
    keys: int, self: Tensor, dim: Sequence[int], normalization: int, forward: bool, out: Tensor | None = None
) -> Tensor:
    """Complex to complex."""
    result = shapes.c2c(self, dim, normalization, forward)
    array, sizes = self.array(), [self._shape[d] for d in dim]
    if dim:
        array = np.fft.fftn(array, axes=dim) if forward else np.fft.ifftn(array, axes=dim, norm="forward")
    return scaled(array, sizes, normalization, result, out)


def r2c(
    keys: int, self: Tensor, dim: Sequence[int], normalization: int, onesided: bool, out: Tensor | None = None
) -> Tensor:
    """Real to complex: half of the result tells all, the rest is its mirror image."""
    result = shapes.r2c(self, dim, normalization, onesided)
    transform = np.fft.rfftn if onesided else np.fft.fftn
    return scaled(transform(self.array(), axes=dim), [self._shape[d] for d in dim], normalization, result, out)


def c2r(
    keys: int, self: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int, out: Tensor | None = None
) -> Tensor:
    """Half of a mirrored complex spectrum to real."""
    result = shapes.c2r(self, dim, normalization, last_dim_size)
    sizes = [result.shape[d] for d in dim]
    values = np.fft.irfftn(self.array(), sizes, axes=dim, norm="forward")
    return scaled(values, sizes, normalization, result, out)


structured(CPU, "_fft_c2c", c2c)
structured(CPU, "_fft_r2c", r2c)
structured(CPU, "_fft_c2r", c2r)
