"""How is the error function of many float32 numbers computed fast?

Mirrors: Sleef_erff16_u10, which aten/src/ATen/cpu/vec calls
Differs: lines between samples: see Note [Lines between samples] (special/functions.py).
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.special.functions import STEPS, Lines, at, lines
from glasstorch.kernels.cpu.special import error_function
from glasstorch.kernels.cpu.special.functions import ufunc
from glasstorch.kernels.halves import SINGLE

END: Final = np.float32(4)  # from there on the function is 1 in float32
PER_UNIT: Final = np.float32(STEPS / END)  # positions from one integer to the next: a power of 2, so that it is exact


@cache
def lines_of_erf() -> Lines:
    """`erf(a) / a`."""
    sizes = np.linspace(0, float(END), STEPS + 1)
    sizes[0] = 1  # replaced
    return lines(ufunc("erf")(sizes) / sizes, first=2 / math.sqrt(math.pi))


@fast(error_function.erf, when="float32", benchmark="1e6: erf", exact=1.0)
def erf(out: Array, x: Array) -> None:
    """`x` times the line at its absolute value."""
    if x.dtype != SINGLE or x.size < thresholds.SAMPLED_FROM:
        error_function.erf.plain(out, x)
        return
    inside = np.clip(x, -END, END)
    position = np.abs(inside)
    position *= PER_UNIT
    np.multiply(at(position, lines_of_erf()), inside, out=out)
