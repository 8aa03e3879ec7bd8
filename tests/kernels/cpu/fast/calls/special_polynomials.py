"""Which random calls reach the fast polynomials?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import FLOATS, laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call


def points_and_degrees(rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    shape = sizes_of(rng, one_of(rng, [0, 50, 5_000]), int(rng.integers(1, 3)))
    x = laid_out(rng, shape, one_of(rng, FLOATS), one_of(rng, [0, 0.05]))
    ends = rng.random(tuple(shape)) < one_of(rng, [0, 0.1])
    x = torch.where(torch.from_numpy(np.asarray(ends)), x.sign(), x)
    return x, torch.from_numpy(np.asarray(rng.integers(-2, one_of(rng, [6, 20, 200]), shape)))


def recurrence(rng: np.random.Generator) -> Call:
    """Overflow beyond [-1, 1] leaves NaN, at which the recurrence ends."""
    names = ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]
    return Call(getattr(torch.special, one_of(rng, names)), points_and_degrees(rng))


CHEBYSHEV = [f"{shift}chebyshev_polynomial_{kind}" for shift in ("", "shifted_") for kind in "tuvw"]


def chebyshev(names: Sequence[str], rng: np.random.Generator) -> Call:
    """One of some kinds of polynomials, where it does not overflow."""
    name = one_of(rng, names)
    polynomial = getattr(torch.special, name)

    def scale(x: Tensor, n: Tensor) -> Tensor:
        """The point of a shifted polynomial is rounded, and the angle times the degree; the bound is for degree 6."""
        point = 2 * x - 1 if name.startswith("shifted") else x
        sine = (1 - point * point).abs().clamp_min(torch.finfo(x.dtype).tiny).sqrt()
        roundings = n.clamp_min(6) / 6 * (2 if name.startswith("shifted") else 1)
        return (roundings * (1 + polynomial(x, n).abs()) * (1 + 1 / sine)).nan_to_num(1.0)

    x, n = points_and_degrees(rng)
    x = x.clamp(-1.01, 1.01)
    return Call(polynomial, ((x + 1) / 2 if name.startswith("shifted") else x, n), scale=scale)


CALLS: dict[str, Callable[[np.random.Generator], Call]] = {
    "cpu.special.polynomials.climb": recurrence,
    "cpu.special.polynomials.chebyshev": partial(chebyshev, CHEBYSHEV),
    **{f"aten::special_{name}": partial(chebyshev, [name]) for name in CHEBYSHEV},
}
