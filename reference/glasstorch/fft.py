"""Which Fourier transforms are there?

Mirrors: torch/fft/__init__.py
Differs: the two-dimensional ones (fft2 ...) are left out: `fftn` with two dimensions is the same.
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.operators.generated.functions import fft_fft as fft
from glasstorch.operators.generated.functions import fft_fftfreq as fftfreq
from glasstorch.operators.generated.functions import fft_fftn as fftn
from glasstorch.operators.generated.functions import fft_fftshift as fftshift
from glasstorch.operators.generated.functions import fft_hfft as hfft
from glasstorch.operators.generated.functions import fft_ifft as ifft
from glasstorch.operators.generated.functions import fft_ifftn as ifftn
from glasstorch.operators.generated.functions import fft_ifftshift as ifftshift
from glasstorch.operators.generated.functions import fft_ihfft as ihfft
from glasstorch.operators.generated.functions import fft_irfft as irfft
from glasstorch.operators.generated.functions import fft_irfftn as irfftn
from glasstorch.operators.generated.functions import fft_rfft as rfft
from glasstorch.operators.generated.functions import fft_rfftfreq as rfftfreq
from glasstorch.operators.generated.functions import fft_rfftn as rfftn

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

__getattr__ = refuse_unknown_names(__name__)
