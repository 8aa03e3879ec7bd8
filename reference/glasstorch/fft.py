"""Which Fourier transforms are there?

Mirrors: torch/fft/__init__.py
"""

from __future__ import annotations

from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.operators.generated.functions import fft_fft as fft
from glasstorch.operators.generated.functions import fft_fft2 as fft2
from glasstorch.operators.generated.functions import fft_fftfreq as fftfreq
from glasstorch.operators.generated.functions import fft_fftn as fftn
from glasstorch.operators.generated.functions import fft_fftshift as fftshift
from glasstorch.operators.generated.functions import fft_hfft as hfft
from glasstorch.operators.generated.functions import fft_hfft2 as hfft2
from glasstorch.operators.generated.functions import fft_hfftn as hfftn
from glasstorch.operators.generated.functions import fft_ifft as ifft
from glasstorch.operators.generated.functions import fft_ifft2 as ifft2
from glasstorch.operators.generated.functions import fft_ifftn as ifftn
from glasstorch.operators.generated.functions import fft_ifftshift as ifftshift
from glasstorch.operators.generated.functions import fft_ihfft as ihfft
from glasstorch.operators.generated.functions import fft_ihfft2 as ihfft2
from glasstorch.operators.generated.functions import fft_ihfftn as ihfftn
from glasstorch.operators.generated.functions import fft_irfft as irfft
from glasstorch.operators.generated.functions import fft_irfft2 as irfft2
from glasstorch.operators.generated.functions import fft_irfftn as irfftn
from glasstorch.operators.generated.functions import fft_rfft as rfft
from glasstorch.operators.generated.functions import fft_rfft2 as rfft2
from glasstorch.operators.generated.functions import fft_rfftfreq as rfftfreq
from glasstorch.operators.generated.functions import fft_rfftn as rfftn

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

__getattr__ = refuse_unknown_names(__name__)
