"""How are orthogonal polynomials of high degrees computed fast?

# Note [Chebyshev polynomials by their angle]
Inside (-1, 1) a Chebyshev polynomial is a quotient of sines or cosines of multiples of the arc cosine of x, at any
degree, and at 1 and -1 it is a small whole number. The angle's rounding is multiplied by the degree, so that the
recurrence is used up to the degree up to which PyTorch uses it, and outside.

Mirrors: aten/src/ATen/native/Math.h (chebyshev_polynomial_t_forward and its neighbours)
Differs: one loop over the degrees serves all elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.special import polynomials
from glasstorch.kernels.cpu.special.polynomials import Step


@fast(
    polynomials.climb,
    when="always, until all values that are left are NaN",
    benchmark="1e6: special.chebyshev_polynomial_t of degree 20",
    exact="bits",
)
def climb(x: Array, degrees: Array, first: Array, step: Step) -> Array:
    """The polynomials of the given degrees at x: values that are NaN stay so, and need no more steps."""
    x, degrees, first = np.broadcast_arrays(x, degrees, first)
    result = np.where(degrees == 1, first, np.array(1, x.dtype))
    below, here = np.ones_like(x), first
    for k in range(1, int(degrees.max(initial=0))):
        below, here = here, step(x, below, here, k)
        np.copyto(result, here, where=degrees == k + 1)
        if k % thresholds.NAN_CHECKED_EVERY == 0 and np.isnan(here[degrees > k]).all():
            np.copyto(result, np.nan, where=degrees > k)
            break
    return result


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
    """What is known of one kind of Chebyshev polynomial."""

    at_one: Callable[[Array], Any]  # at x = 1, by degree
    at_minus_one: Callable[[Array], Any]
    by_angle: Callable[[Array, Array], Any]  # (degree, arc cosine of x) -> inside of (-1, 1)
    from_degree: tuple[int, int]  # degree above which `by_angle` is used: of the polynomial and of the shifted one


KINDS = {
    "t": Kind(
        lambda n: 1,
        alternating,
        lambda n, angle: np.cos(n.astype(angle.dtype) * angle),
        (6, 6),
    ),
    "u": Kind(
        lambda n: n + 1,
        lambda n: alternating(n) * (n + 1),
        lambda n, angle: np.sin((n + 1).astype(angle.dtype) * angle) / np.sin(angle),
        (8, 6),
    ),
    "v": Kind(lambda n: 1, lambda n: alternating(n) * (2 * n + 1), cosine_of_half, (8, 6)),
    "w": Kind(lambda n: 2 * n + 1, alternating, sine_of_half, (8, 4)),
}


@fast(
    polynomials.chebyshev,
    when="always, by the angle above some degree",
    benchmark="1e6: special.chebyshev_polynomial_t of degree 20",
    exact=24.0,  # up to degree 6; it grows with the degree
)
def chebyshev(kind: str, shifted: bool, x: Array, degrees: Array) -> Array:
    """See Note [Chebyshev polynomials by their angle]."""
    facts, first = KINDS[kind], polynomials.KINDS[kind]
    point, degrees = np.broadcast_arrays(x + x - 1 if shifted else x, degrees)
    size = np.abs(point)
    angled = (degrees > facts.from_degree[shifted]) & (size < 1)
    ends = size == 1
    climbed = ~(angled | ends) & (degrees >= 0)
    result = np.zeros_like(point)
    at = degrees[ends]
    result[ends] = np.where(point[ends] > 0, facts.at_one(at), facts.at_minus_one(at))
    result[angled] = facts.by_angle(degrees[angled], np.arccos(point[angled]))
    inside = point[climbed]
    result[climbed] = climb(inside, degrees[climbed], first(inside), lambda x, p, q, k: (x + x) * q - p)
    return result
