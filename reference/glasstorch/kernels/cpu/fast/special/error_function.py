"""How is the error function of many float32 numbers computed fast?

It is the number, or 1 where the number is above, and a small rest: `erf(x) = min(x, 1) + x * rest(x)`, on the left with
the other sign. The rest is between -0.16 and 0.13, so that its last place in float32 is far below that of the sum.

Mirrors: Sleef_erff16_u10, which aten/src/ATen/cpu/vec calls
Differs: lines between samples, as in Note [Lines between samples] (special/functions.py), but in float32.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Final

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.special.functions import STEPS
from glasstorch.kernels.cpu.special import error_function
from glasstorch.kernels.cpu.special.functions import ufunc
from glasstorch.kernels.halves import SINGLE

ONE: Final = np.float32(1)
END: Final = np.float32(4)  # from there on the function is 1 in float32
PER_UNIT: Final = np.float32(STEPS / END)  # positions from one integer to the next: a power of 2, so that it is exact


@cache
def lines_of_rest() -> tuple[Array, Array]:
    """Where the line at each position begins, and by how much it rises to the next position.

    It is as far from the rest at its ends as in its middle. The bend at 1 is at a position.
    """
    sizes = np.linspace(0, float(END), 2 * STEPS + 1)
    sizes[0] = 1  # replaced
    rest = (ufunc("erf")(sizes) - np.minimum(sizes, 1)) / sizes
    rest[0] = 2 / math.sqrt(math.pi) - 1
    samples, middles = rest[::2], rest[1::2]
    rises = np.diff(samples)
    begins = (samples[:-1] + middles - rises / 2) / 2
    return np.append(begins, samples[-1]).astype(SINGLE), np.append(rises, 0).astype(SINGLE)


@fast(error_function.erf, when="float32", benchmark="1e6: erf", exact=1.0)
def erf(out: Array, x: Array) -> None:
    """The number, up to 1, and the line at its absolute value times the number."""
    if x.dtype != SINGLE or x.size < thresholds.SAMPLED_FROM:
        error_function.erf.plain(out, x)
        return
    begins, rises = lines_of_rest()
    inside = np.clip(x, -END, END)
    position = np.abs(inside)
    position *= PER_UNIT
    below = position.astype(np.int32).astype(np.intp)  # in two steps, for which NumPy has vectors
    position -= np.floor(position)
    position *= rises.take(below, mode="clip")
    position += begins.take(below, mode="clip")
    position *= inside
    np.add(np.clip(inside, -ONE, ONE, out=inside), position, out=out)
