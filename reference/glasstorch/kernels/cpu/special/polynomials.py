"""How are orthogonal polynomials computed on the CPU?

Each family is given by its values at degree 0 (always 1) and degree 1, and by a recurrence for the next degree. The
Chebyshev polynomials have a closed form inside (-1, 1), which is used from some degree on.

Mirrors: aten/src/ATen/native/Math.h (chebyshev_polynomial_t_forward and its neighbours)
Differs: one loop over the degrees serves a block of elements. Near 1 and -1 PyTorch returns the endpoint value for the
    Chebyshev polynomials of the third and fourth kind, which is wrong for large degrees, and for the shifted ones of
    the fourth kind with the sign of the other endpoint; here they are computed as elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise.loops import BINARY, DIRECT_FLOATS, Row, register_row
from glasstorch.kernels.cpu.special.unary import FULL_PRECISION
from glasstorch.kernels.iterator import Loop
from glasstorch.operators.shapes.promotion import float_result_type

Step = Callable[[Array, Array, Array, int], Any]  # (x, p of degree k - 1, q of degree k, k) -> that of degree k + 1
CHECKED_EVERY = 64  # degrees between checks whether all remaining values are NaN, and stay so


def climb(x: Array, degrees: Array, first: Array, step: Step) -> Array:
    """The polynomials of the given degrees at x, by recurrence; `first` is that of degree 1.

    Costs as many passes over a block as its highest degree: a single element of degree 100,000 takes about a second.
    """
    x, degrees, first = np.broadcast_arrays(x, degrees, first)
    result = np.where(degrees == 1, first, np.array(1, x.dtype))
    below, here = np.ones_like(x), first
    for k in range(1, int(degrees.max(initial=0))):
        below, here = here, step(x, below, here, k)
        np.copyto(result, here, where=degrees == k + 1)
        if k % CHECKED_EVERY == 0 and np.isnan(here[degrees > k]).all():
            np.copyto(result, np.nan, where=degrees > k)
            break
    return result


def whole(n: Array) -> Any:
    """Degrees as integers; NaN and infinity count as negative, as in C."""
    return np.where(np.isfinite(n), n, -1).astype(np.int64)


# Chebyshev -----------------------------------------------------------------------------------------------------------


def alternating(degrees: Array) -> Any:
    """1 for an even degree and -1 for an odd one."""
    return 1 - 2 * (degrees & 1)


def cosine_of_half(n: Array, angle: Array) -> Any:
    """`cos((n + 1/2) a) / cos(a / 2)`, at angles below pi."""
    return np.cos((n + 0.5).astype(angle.dtype) * angle) / np.cos(angle / 2)


def sine_of_half(n: Array, angle: Array) -> Any:
    """`sin((n + 1/2) a) / sin(a / 2)`, at angles above 0."""
    return np.sin((n + 0.5).astype(angle.dtype) * angle) / np.sin(angle / 2)


class Kind(NamedTuple):
    """One kind of Chebyshev polynomial."""

    first: Callable[[Array], Any]  # degree 1
    at_one: Callable[[Array], Any]  # at x = 1, by degree
    at_minus_one: Callable[[Array], Any]
    by_angle: Callable[[Array, Array], Any]  # (degree, arc cosine of x) -> inside of (-1, 1)
    from_degree: tuple[int, int]  # degree above which `by_angle` is used: of the plain and of the shifted polynomial


KINDS = {
    "t": Kind(
        lambda x: x,
        lambda n: 1,
        alternating,
        lambda n, angle: np.cos(n.astype(angle.dtype) * angle),
        (6, 6),
    ),
    "u": Kind(
        lambda x: x + x,
        lambda n: n + 1,
        lambda n: alternating(n) * (n + 1),
        lambda n, angle: np.sin((n + 1).astype(angle.dtype) * angle) / np.sin(angle),
        (8, 6),
    ),
    "v": Kind(
        lambda x: x + x - 1,
        lambda n: 1,
        lambda n: alternating(n) * (2 * n + 1),
        cosine_of_half,
        (8, 6),
    ),
    "w": Kind(
        lambda x: x + x + 1,
        lambda n: 2 * n + 1,
        alternating,
        sine_of_half,
        (8, 4),
    ),
}


def chebyshev(kind: Kind, shifted: bool) -> Loop:
    """The loop of one kind; `shifted` polynomials are those of 2x - 1."""

    def loop(out: Array, x: Array, n: Array) -> None:
        point, degrees = np.broadcast_arrays(x + x - 1 if shifted else x, whole(n))
        size = np.abs(point)
        angled = (degrees > kind.from_degree[shifted]) & (size < 1)
        ends = size == 1
        climbed = ~(angled | ends) & (degrees >= 0)
        result = np.zeros_like(point)
        at = degrees[ends]
        result[ends] = np.where(point[ends] > 0, kind.at_one(at), kind.at_minus_one(at))
        result[angled] = kind.by_angle(degrees[angled], np.arccos(point[angled]))
        inside = point[climbed]
        result[climbed] = climb(inside, degrees[climbed], kind.first(inside), lambda x, p, q, k: (x + x) * q - p)
        out[...] = np.where(degrees < 0, 0, result)

    return loop


# The others ----------------------------------------------------------------------------------------------------------


def hermite(first: Callable[[Array], Array], step: Step) -> Loop:
    """The loop of a Hermite polynomial; above some degree PyTorch returns NaN."""

    def loop(out: Array, x: Array, n: Array) -> None:
        degrees = whole(n)
        beyond = degrees > (128 if x.dtype == np.float32 else 512)
        result = climb(x, np.where(beyond, 0, degrees), first(x), step)
        out[...] = np.where(degrees < 0, 0, np.where(beyond, np.nan, result))

    return loop


def laguerre(out: Array, x: Array, n: Array) -> None:
    """The Laguerre polynomial: 1 at 0."""
    degrees = whole(n)
    zero = x == 0
    result = climb(x, np.where(zero, 0, degrees), 1 - x, lambda x, p, q, k: ((2 * k + (1 - x)) * q - k * p) / (k + 1))
    out[...] = np.where(degrees < 0, 0, result)


def legendre(out: Array, x: Array, n: Array) -> None:
    """The Legendre polynomial: 1 at 1, 1 or -1 at -1."""
    degrees = whole(n)
    ends = np.abs(x) == 1
    result = climb(x, np.where(ends, 0, degrees), x, lambda x, p, q, k: ((2 * k + 1) * x * q - k * p) / (k + 1))
    result = np.where(ends & (x < 0), alternating(degrees), result)
    out[...] = np.where(degrees < 0, 0, result)


# The table -----------------------------------------------------------------------------------------------------------

LOOPS: dict[str, Loop] = {
    "special_chebyshev_polynomial_t": chebyshev(KINDS["t"], shifted=False),
    "special_chebyshev_polynomial_u": chebyshev(KINDS["u"], shifted=False),
    "special_chebyshev_polynomial_v": chebyshev(KINDS["v"], shifted=False),
    "special_chebyshev_polynomial_w": chebyshev(KINDS["w"], shifted=False),
    "special_shifted_chebyshev_polynomial_t": chebyshev(KINDS["t"], shifted=True),
    "special_shifted_chebyshev_polynomial_u": chebyshev(KINDS["u"], shifted=True),
    "special_shifted_chebyshev_polynomial_v": chebyshev(KINDS["v"], shifted=True),
    "special_shifted_chebyshev_polynomial_w": chebyshev(KINDS["w"], shifted=True),
    "special_hermite_polynomial_h": hermite(lambda x: x + x, lambda x, p, q, k: (x + x) * q - 2 * k * p),
    "special_hermite_polynomial_he": hermite(lambda x: x, lambda x, p, q, k: x * q - k * p),
    "special_laguerre_polynomial_l": laguerre,
    "special_legendre_polynomial_p": legendre,
}

for name, loop in LOOPS.items():
    row = Row(loop, DIRECT_FLOATS, FULL_PRECISION, f"{name.removeprefix('special_')}_cpu", float_result_type)
    register_row(BINARY, name, row)
