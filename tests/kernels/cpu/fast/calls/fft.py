"""Which random calls reach the Fourier transforms of several threads?"""

from __future__ import annotations

import numpy as np

from glasstorch import fft
from tests.kernels.cpu.fast.calls.drawing import laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call


def transform(rng: np.random.Generator) -> Call:
    shape = sizes_of(rng, one_of(rng, [100, 40_000, 70_000, 70_000]), int(rng.integers(1, 4)))
    if rng.integers(3):
        name, dtypes = one_of(rng, ["fft", "ifft", "hfft", "irfft", "fftn"]), ["complex64", "complex128"]
    else:
        name, dtypes = one_of(rng, ["rfft", "ihfft", "rfftn"]), ["float32", "float64"]
    x = laid_out(rng, [max(size, 2) for size in shape], one_of(rng, dtypes))
    return Call(getattr(fft, name), (x,) if name.endswith("n") else (x, None, int(rng.integers(len(shape)))))


CALLS = {"cpu.fft.transformed": transform}
