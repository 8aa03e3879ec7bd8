"""What do forty operators cost on a million elements?

They are spread over the areas of PyTorch's operator database, chosen before any of them was made faster, and no
operator is left out for its ratio. Floats are float32 and standard normal unless a line says otherwise. The rows with
limits of their own: matmul of 512 at the end, and log_softmax in `operators.py`. Rows beside the forty show what is
made faster in the same way, and do not count in their mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Row, repeat

Array = np.ndarray[Any, Any]
Use = Callable[..., object]  # given the library and its tensors
Make = Callable[[np.random.Generator], Array]

SIZE = 1_000_000
AT_MOST = 6.0  # no operator takes longer than that, in times of torch's
MEAN_AT_MOST = 1.5  # the geometric mean of the forty


def normal(*shape: int) -> Make:
    return lambda random: random.standard_normal(shape, np.float32)


def positive(*shape: int) -> Make:
    return lambda random: random.random(shape, np.float32) + np.float32(0.5)


def integers(low: int, high: int, *shape: int) -> Make:
    return lambda random: random.integers(low, high, shape)


def in_order(size: int) -> Make:
    return lambda random: np.sort(random.standard_normal(size, np.float32))


def well_conditioned(*shape: int) -> Make:
    return lambda random: random.standard_normal(shape, np.float32) + 20 * np.eye(shape[-1], dtype=np.float32)


LINE = normal(SIZE)
ROWS = normal(1000, 1000)

# name, its tensors, what is done with them
UNARY: list[tuple[str, list[Make], Use]] = [
    ("exp", [LINE], lambda t, x: t.exp(x)),
    ("tanh", [LINE], lambda t, x: t.tanh(x)),
    ("sqrt", [positive(SIZE)], lambda t, x: t.sqrt(x)),
    ("sigmoid", [LINE], lambda t, x: t.sigmoid(x)),
    ("erf", [LINE], lambda t, x: t.erf(x)),
    ("round", [LINE], lambda t, x: t.round(x)),
]
BINARY: list[tuple[str, list[Make], Use]] = [
    ("add", [LINE, LINE], lambda t, x, y: t.add(x, y)),
    ("mul", [LINE, LINE], lambda t, x, y: t.mul(x, y)),
    ("div", [LINE, positive(SIZE)], lambda t, x, y: t.div(x, y)),
    ("pow", [positive(SIZE), LINE], lambda t, x, y: t.pow(x, y)),
    ("maximum", [LINE, LINE], lambda t, x, y: t.maximum(x, y)),
    ("atan2", [LINE, LINE], lambda t, x, y: t.atan2(x, y)),
    (
        "floor_divide of int64",
        [integers(-1000, 1000, SIZE), integers(1, 100, SIZE)],
        lambda t, x, y: t.floor_divide(x, y),
    ),
]
OTHER: list[tuple[str, list[Make], Use]] = [
    ("where", [LINE, LINE], lambda t, x, y: t.where(x > y, x, y)),
    ("clamp", [LINE], lambda t, x: t.clamp(x, -1, 1)),
    ("lerp by a tensor", [LINE, LINE, positive(SIZE)], lambda t, x, y, w: t.lerp(x, y, w)),
]
REDUCTIONS: list[tuple[str, list[Make], Use]] = [
    ("sum", [LINE], lambda t, x: t.sum(x)),
    ("mean of rows", [ROWS], lambda t, x: t.mean(x, 1)),
    ("amax of rows", [ROWS], lambda t, x: t.amax(x, 1)),
    ("argmax of rows", [ROWS], lambda t, x: t.argmax(x, 1)),
    ("prod of rows", [ROWS], lambda t, x: t.prod(x, 1)),
]
STATISTICS: list[tuple[str, list[Make], Use]] = [
    ("cumsum along rows", [ROWS], lambda t, x: t.cumsum(x, 1)),
    ("std", [LINE], lambda t, x: t.std(x)),
    ("logsumexp of rows", [ROWS], lambda t, x: t.logsumexp(x, 1)),
    ("cummax along rows", [ROWS], lambda t, x: t.cummax(x, 1)),
]
INDEXING: list[tuple[str, list[Make], Use]] = [
    ("index_select of rows", [ROWS, integers(0, 1000, 1000)], lambda t, x, i: t.index_select(x, 0, i)),
    ("gather along rows", [ROWS, integers(0, 1000, 1000, 1000)], lambda t, x, i: t.gather(x, 1, i)),
    ("masked_select", [LINE, LINE], lambda t, x, y: t.masked_select(x, y > 0)),
    (
        "index_add of rows",
        [ROWS, integers(0, 1000, 1000), ROWS],
        lambda t, x, i, y: t.index_add(x, 0, i, y),
    ),
    (
        "scatter_add along rows",
        [ROWS, integers(0, 1000, 1000, 1000), ROWS],
        lambda t, x, i, y: t.scatter_add(x, 1, i, y),
    ),
]
MOVING: list[tuple[str, list[Make], Use]] = [
    (
        "index_put of rows, added",
        [ROWS, integers(0, 1000, 1000), ROWS],
        lambda t, x, i, y: t.index_put(x, [i], y, accumulate=True),
    ),
    ("take", [ROWS, integers(0, SIZE, 1000, 1000)], lambda t, x, i: t.take(x, i)),
    ("clone of 1,000 rows", [ROWS], lambda t, x: [row.clone() for row in x.unbind()]),
    ("cat of 1,000 rows", [ROWS], lambda t, x: t.cat(x.unbind())),
    ("roll along rows", [ROWS], lambda t, x: t.roll(x, 7, 1)),
    ("tril of matrices", [normal(100, 100, 100)], lambda t, x: t.tril(x)),
    ("index_copy of columns", [ROWS, integers(0, 1000, 1000), ROWS], lambda t, x, i, y: t.index_copy(x, 1, i, y)),
]
SORTING: list[tuple[str, list[Make], Use]] = [
    ("sort", [LINE], lambda t, x: t.sort(x)),
    ("topk of 100", [LINE], lambda t, x: t.topk(x, 100)),
    ("median", [LINE], lambda t, x: t.median(x)),
    ("searchsorted, 1,000 sorted floats", [in_order(1000), LINE], lambda t, x, y: t.searchsorted(x, y)),
]
LINEAR_ALGEBRA: list[tuple[str, list[Make], Use]] = [
    ("bmm, 61 of 128x128", [normal(61, 128, 128), normal(61, 128, 128)], lambda t, x, y: t.bmm(x, y)),
    (
        "linalg.solve, 100 of 100x100",
        [well_conditioned(100, 100, 100), normal(100, 100, 1)],
        lambda t, x, y: t.linalg.solve(x, y),
    ),
]
SPECIAL: list[tuple[str, list[Make], Use]] = [("special.gammaln", [LINE], lambda t, x: t.special.gammaln(x))]
FOURIER: list[tuple[str, list[Make], Use]] = [("fft.rfft", [LINE], lambda t, x: t.fft.rfft(x))]
MASKED: list[tuple[str, list[Make], Use]] = [
    ("masked.mean of rows", [ROWS, ROWS], lambda t, x, y: t.masked.mean(x, 1, mask=y > 0))
]
WINDOWS: list[tuple[str, list[Make], Use]] = [("signal.windows.hann", [], lambda t: t.signal.windows.hann(SIZE))]

FORTY = [
    *(*UNARY, *BINARY, *OTHER, *REDUCTIONS, *STATISTICS, *INDEXING),
    *(*SORTING, *LINEAR_ALGEBRA, *SPECIAL, *FOURIER, *MASKED, *WINDOWS),
]
# Operators whose fast kernels no row of the forty shows
BESIDE: list[tuple[str, list[Make], Use]] = [
    *MOVING,
    ("sort of columns of a transposed matrix", [ROWS], lambda t, x: t.sort(x.t(), 0)),
    ("mode of rows", [integers(0, 100, 1000, 1000)], lambda t, x: t.mode(x, 1)),
    ("median of rows", [ROWS], lambda t, x: t.median(x, 1)),
    ("kthvalue of 250 small tensors", [normal(250, 4, 1000)], lambda t, x: [t.kthvalue(y, 500) for y in x.unbind()]),
    ("histogram of 100 bins", [LINE], lambda t, x: t.histogram(x, 100)),
    ("remainder", [LINE, positive(SIZE)], lambda t, x, y: t.remainder(x, y)),
    ("logaddexp", [LINE, LINE], lambda t, x, y: t.logaddexp(x, y)),
    ("nan_to_num", [LINE], lambda t, x: t.nan_to_num(x)),
    ("log", [positive(SIZE)], lambda t, x: t.log(x)),
    ("expm1", [LINE], lambda t, x: t.expm1(x)),
    ("gelu", [LINE], lambda t, x: t.nn.functional.gelu(x)),
    ("silu", [LINE], lambda t, x: t.nn.functional.silu(x)),
    ("special.i0e", [LINE], lambda t, x: t.special.i0e(x)),
    ("polygamma(1)", [positive(SIZE)], lambda t, x: t.polygamma(1, x)),
    ("special.chebyshev_polynomial_t of degree 20", [LINE], lambda t, x: t.special.chebyshev_polynomial_t(x, 20)),
]
BUDGETS = {"sort": 1.5}  # narrower than AT_MOST


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    measured = [of_million(modules, *case) for case in FORTY]
    yield from measured
    if "torch" in modules:
        yield Mean(measured)
    yield from (of_million(modules, *case) for case in BESIDE)
    square = normal(512, 512)
    yield contest(modules, "`matmul`, 512x512", [square, square], lambda t, x, y: t.matmul(x, y), 1.05)


def of_million(modules: dict[str, ModuleType], name: str, makes: list[Make], use: Use) -> Contest:
    """The contest of one of the forty, or of those beside them."""
    return contest(modules, f"1e6: {name}", makes, use, BUDGETS.get(name, AT_MOST))


def contest(modules: dict[str, ModuleType], name: str, makes: list[Make], use: Use, budget: float | None) -> Contest:
    """The same use in each library, on the same numbers."""
    random = np.random.default_rng(0)
    arrays = [make(random) for make in makes]
    runs = {}
    for library, module in modules.items():
        tensors = [module.from_numpy(array.copy()) for array in arrays]
        runs[library] = repeat(lambda module=module, tensors=tensors: use(module, *tensors))  # type: ignore[misc]
    return Contest(name, runs, 1, rounds=40, budget=budget)


class Mean(Contest):
    """The geometric mean of ratios that were measured before it."""

    def __init__(self, measured: list[Contest]) -> None:
        super().__init__(f"1e6: geometric mean of the {len(measured)} ratios", {}, 0, budget=MEAN_AT_MOST)
        self.measured = measured

    def measure(self) -> Row:
        ratios = [contest.fastest["glasstorch"] / contest.fastest["torch"] for contest in self.measured]
        return Row(self.name, {}, self.budget, share=math.exp(sum(map(math.log, ratios)) / len(ratios)))
