"""How are the frequencies of a Fourier transform written to the tensor given as out=?

Mirrors: aten/src/ATen/native/SpectralOps.cpp (fft_fftfreq_out, fft_rfftfreq_out)
Differs: the result is also right if `out` is non-contiguous or a matrix, where PyTorch writes wrong numbers.
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.creation.ranges import resize_range
from glasstorch.operators.direct import factory

COMPOSED = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)


def frequencies(name: str) -> None:
    """Register the out= form of an operator that returns the frequencies of a spectrum."""
    operator = factory(name)

    @COMPOSED.impl(f"{name}.out")
    def with_out(n: int, d: float, out: Tensor) -> Tensor:
        made: Tensor = operator(n, d, out.dtype, None, out.device, None)
        resize_range(out, made.numel())
        return out.copy_(made.view(out._shape))


for _name in ("fft_fftfreq", "fft_rfftfreq"):
    frequencies(_name)
