"""Which points fill a cube more evenly than random ones?

Mirrors: torch/quasirandom.py, aten/src/ATen/native/SobolEngineOps.cpp, SobolEngineOpsUtils.cpp
Differs: whole arrays are computed at once, by functions of this file: there are no operators `_sobol_engine_...`. The
    direction numbers, which PyTorch has as a table in C++, are read from the file in which SciPy keeps them.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Self

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import float32, float64, get_default_dtype
from glasstorch.core.errors import not_implemented_for
from glasstorch.core.random.generator import Generator
from glasstorch.core.tensor_impl import Array
from glasstorch.core.unknown_names import refuse_unknown_names
from glasstorch.operators.generated.functions import arange, cat, empty, mv, randint
from glasstorch.operators.generated.functions import pow as power
from glasstorch.outside_data.foreign_memory import from_numpy

__all__ = ["SobolEngine"]

BITS = 30  # of each coordinate, which is a whole number below 2**30 until it is drawn


def _numbers_of_joe_and_kuo(dimension: int) -> tuple[Array, Array]:
    """For each dimension its primitive polynomial, as the bits of a number, and the first direction numbers."""
    path = getattr(find_spec("scipy"), "origin", None)
    assert path is not None, "SciPy is one of the packages that this one needs"
    with np.load(Path(path).parent / "stats" / "_sobol_direction_numbers.npz") as tables:
        return tables["poly"][:dimension], tables["vinit"][:dimension]


def _directions(dimension: int) -> Array:
    """What is added, bit by bit, to a point to give a next one: a number for each dimension and bit.

    The first numbers of a dimension are given; its polynomial makes each further one from those before it.
    """
    polynomials, given = _numbers_of_joe_and_kuo(dimension)
    found = np.ones((dimension, BITS), np.int64)  # of the first dimension, all are 1
    degrees = np.array([int(polynomial).bit_length() - 1 for polynomial in polynomials])
    for degree in range(1, int(degrees.max()) + 1):
        rows = np.flatnonzero(degrees == degree)
        found[rows, :degree] = given[rows, :degree]
        for bit in range(degree, BITS):
            value = found[rows, bit - degree]
            for back in range(1, degree + 1):
                has_term = polynomials[rows] >> (degree - back) & 1
                value = value ^ has_term * (found[rows, bit - back] << back)
            found[rows, bit] = value
    return found << np.arange(BITS - 1, -1, -1)


def _lowest_zero_bit(numbers: Array) -> Array:
    """The position of the lowest bit that is 0, for each number: which direction leads to the next point."""
    lowest: Array = np.log2(~numbers & numbers + 1).astype(np.int64)
    return lowest


class SobolEngine:
    """The points of a Sobol sequence in a cube of so many dimensions, one after the other.

    With `scramble` the points are shuffled in a way that keeps them even; equal seeds give equal points.

    >>> SobolEngine(dimension=2).draw(4)
    tensor([[0.0000, 0.0000],
            [0.5000, 0.5000],
            [0.7500, 0.2500],
            [0.2500, 0.7500]])
    """

    MAXBIT = BITS
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed = seed
        self.scramble = scramble
        self.dimension = dimension
        self.sobolstate = from_numpy(_directions(dimension))
        self.shift = self._scramble() if scramble else from_numpy(np.zeros(dimension, np.int64))
        self.quasi = self.shift.clone()
        self._first_point = (self.quasi / 2**BITS).reshape(1, -1)
        self.num_generated = 0

    def _scramble(self) -> Tensor:
        """Mix the bits of all directions by random triangular matrices of bits; a random point to start from."""
        generator = None if self.seed is None else Generator().manual_seed(self.seed)
        bits = randint(2, (self.dimension, BITS), device="cpu", generator=generator)
        shift = mv(bits, power(2, arange(0, BITS, device="cpu")))
        lower = randint(2, (self.dimension, BITS, BITS), device="cpu", generator=generator).tril().numpy().copy()
        lower[:, np.arange(BITS), np.arange(BITS)] = 1
        state = self.sobolstate.numpy()
        # Row p of a matrix has the highest bit first, and makes bit 29 - p of the new number.
        old = state[:, :, None] >> np.arange(BITS - 1, -1, -1) & 1  # (dimension, direction, bit)
        new = old @ lower.swapaxes(1, 2) & 1  # (dimension, direction, bit)
        state[:] = (new << np.arange(BITS - 1, -1, -1)).sum(-1)
        return shift

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: Dtype | None = None) -> Tensor:
        """The next `n` points, one in each row, of float32 or float64."""
        dtype = get_default_dtype() if dtype is None else dtype
        if self.num_generated == 0:
            result = self._first_point.to(dtype)
            if n != 1:
                result = cat((result, self._points(n - 1, 0, dtype)), dim=-2)
        else:
            result = self._points(n, self.num_generated - 1, dtype)
        self.num_generated += n
        return result if out is None else out.resize_as_(result).copy_(result)

    def _points(self, n: int, after: int, dtype: Dtype) -> Tensor:
        """The `n` points after the one of this number; the last of them is where the engine stands then."""
        result = empty(n, self.dimension, dtype=dtype, device="cpu")
        if dtype not in (float32, float64):
            raise not_implemented_for("_sobol_engine_draw", dtype)
        steps = self.sobolstate.numpy().T[_lowest_zero_bit(np.arange(after, after + n))]  # (n, dimension)
        points = np.bitwise_xor.accumulate(np.vstack([self.quasi.numpy(), steps]))
        self.quasi = from_numpy(points[-1].copy())
        return result.copy_(from_numpy(points[1:])).mul_(2.0**-BITS)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: Dtype | None = None) -> Tensor:
        """The next `2**m` points; ValueError if the number of all points is then no power of two."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                f"The balance properties of Sobol' points require n to be a power of 2. {self.num_generated} points "
                f"have been previously generated, then: n={self.num_generated}+2**{m}={total}. If you still want to do "
                f"this, please use 'SobolEngine.draw()' instead."
            )
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self) -> Self:
        """Go back to the first point."""
        self.quasi.copy_(self.shift)
        self.num_generated = 0
        return self

    def fast_forward(self, n: int) -> Self:
        """Go on as if `n` points were drawn."""
        first = self.num_generated == 0
        start, steps = (0, n - 1) if first else (self.num_generated - 1, n)
        if steps > 0:
            # Point i is reached by the directions whose bits are set in i ^ i >> 1, the Gray code of i.
            end = start + steps
            passed = (end ^ end >> 1) ^ (start ^ start >> 1)
            used = [bit for bit in range(BITS) if passed >> bit & 1]
            self.quasi ^= from_numpy(np.bitwise_xor.reduce(self.sobolstate.numpy()[:, used], axis=1))
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        facts = [f"dimension={self.dimension}"]
        facts += ["scramble=True"] if self.scramble else []
        facts += [] if self.seed is None else [f"seed={self.seed}"]
        return f"{type(self).__name__}({', '.join(facts)})"


__getattr__ = refuse_unknown_names(__name__)
