"""Is Intel's MKL used?

Mirrors: torch/backends/mkl/__init__.py
Differs: it is not; matrix products are those of the BLAS that NumPy came with.
"""

from __future__ import annotations

from glasstorch.backends._verbose import Verbose as _Verbose

VERBOSE_OFF, VERBOSE_ON = 0, 1


class verbose(_Verbose):
    """What MKL prints inside a `with` block: nothing, because it is not used."""

    levels = (VERBOSE_OFF, VERBOSE_ON)

    def __init__(self, enable: int) -> None:
        super().__init__(enable)


def is_available() -> bool:
    """Whether MKL is used: no."""
    return False
