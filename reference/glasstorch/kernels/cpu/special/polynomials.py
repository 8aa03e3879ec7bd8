"""How are orthogonal polynomials computed on the CPU?

Each family is given by its values at degree 0 (always 1) and degree 1, and by a recurrence for the next degree.

Mirrors: aten/src/ATen/native/Math.h (chebyshev_polynomial_t_forward and its neighbours)
Differs: one loop over the degrees serves all elements. Chebyshev polynomials are computed in float64, because the
    errors of their recurrence grow with the square of the degree; inside (-1, 1) PyTorch uses closed forms. Near 1 and
    -1 it returns the endpoint value for those of the third and fourth kind, which is wrong for large degrees, and for
    the shifted ones of the fourth kind with the sign of the other endpoint; here they are computed as elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.pointwise.loops import BINARY, Row, register_row
from glasstorch.kernels.cpu.special.functions import FULL_PRECISION
from glasstorch.kernels.pointwise.dtypes import DIRECT_FLOATS
from glasstorch.operators.shapes.promotion import float_result_type

Values = Callable[[Array, Array], Array]  # (x, degrees from 0) -> the polynomials
First = Callable[[Array], Any]  # x -> p of degree 1
Step = Callable[[Array, Array, Array, int], Any]  # (x, p of degree k - 1, q of degree k, k) -> that of degree k + 1


@slot
def climb(x: Array, degrees: Array, first: Array, step: Step) -> Array:
    """The polynomials of the given degrees at x, by recurrence; `first` is that of degree 1."""
    below, here = np.ones_like(x), first
    result = np.where(degrees == 1, here, below)
    for k in range(1, int(degrees.max(initial=0))):
        below, here = here, step(x, below, here, k)
        np.copyto(result, here, where=degrees == k + 1)
    return result


@slot
def chebyshev(kind: str, shifted: bool, x: Array, degrees: Array) -> Array:
    """The Chebyshev polynomials of one kind at x, or the shifted ones: those at 2x - 1."""
    wide = x.astype(np.float64)
    point = 2 * wide - 1 if shifted else wide
    return climb.run(point, degrees, KINDS[kind](point), lambda x, p, q, k: 2 * x * q - p)


def of_kind(kind: str, shifted: bool) -> Values:
    """`chebyshev` for one kind."""
    return lambda x, degrees: chebyshev.run(kind, shifted, x, degrees)


def by_recurrence(first: First, step: Step) -> Values:
    """The values of another family."""
    return lambda x, degrees: climb.run(x, degrees, first(x), step)


def hermite(first: First, step: Step) -> Values:
    """The values of a Hermite polynomial, which is NaN above some degree, as in PyTorch."""

    def values(x: Array, degrees: Array) -> Array:
        beyond = degrees > (128 if x.dtype == np.float32 else 512)
        return np.where(beyond, np.nan, climb.run(x, np.where(beyond, 0, degrees), first(x), step))

    return values


# The tables ----------------------------------------------------------------------------------------------------------

KINDS: dict[str, First] = {  # the Chebyshev polynomials of degree 1
    "t": lambda x: x,
    "u": lambda x: 2 * x,
    "v": lambda x: 2 * x - 1,
    "w": lambda x: 2 * x + 1,
}

FAMILIES: dict[str, Values] = {
    **{f"chebyshev_polynomial_{kind}": of_kind(kind, shifted=False) for kind in KINDS},
    **{f"shifted_chebyshev_polynomial_{kind}": of_kind(kind, shifted=True) for kind in KINDS},
    "hermite_polynomial_h": hermite(lambda x: 2 * x, lambda x, p, q, k: 2 * x * q - 2 * k * p),
    "hermite_polynomial_he": hermite(lambda x: x, lambda x, p, q, k: x * q - k * p),
    "laguerre_polynomial_l": by_recurrence(
        lambda x: 1 - x, lambda x, p, q, k: ((2 * k + (1 - x)) * q - k * p) / (k + 1)
    ),
    "legendre_polynomial_p": by_recurrence(lambda x: x, lambda x, p, q, k: ((2 * k + 1) * x * q - k * p) / (k + 1)),
}


def register_family(name: str, values: Values) -> None:
    """Register a family of polynomials: 0 for negative degrees, and for NaN and infinite ones, as in C."""

    def loop(out: Array, x: Array, n: Array) -> None:
        degrees = np.where(np.isfinite(n), n, -1).astype(np.int64)
        out[...] = np.where(degrees < 0, 0, values(x, degrees))

    row = Row(loop, DIRECT_FLOATS, FULL_PRECISION, f"{name}_cpu", float_result_type)
    register_row(BINARY, f"special_{name}", row)


for name, values in FAMILIES.items():
    register_family(name, values)
