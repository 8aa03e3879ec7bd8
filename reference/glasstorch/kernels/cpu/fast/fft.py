"""How are the lines of an array distributed among threads for a Fourier transform?

Mirrors: aten/src/ATen/native/mkl/SpectralOps.cpp (whose library has threads of its own)
Differs: SciPy starts the threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch.core.parallel import get_num_threads
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu import fft as plain
from glasstorch.kernels.cpu.fast import thresholds


@fast(plain.transformed, when="32,768 elements or more in several lines", benchmark="fast: rfft of rows", exact="bits")
def transformed(name: str, array: Array, sizes: Sequence[int] | None, axes: Sequence[int], norm: str) -> Array:
    """Each thread transforms some of the lines."""
    if array.size < thresholds.FFT_THREADS_FROM or array.ndim == 1:
        return plain.transformed.plain(name, array, sizes, axes, norm)
    from scipy import fft  # type: ignore[import-untyped,unused-ignore]

    return getattr(fft, name)(array, sizes, axes, norm, workers=get_num_threads())  # type: ignore[no-any-return]
