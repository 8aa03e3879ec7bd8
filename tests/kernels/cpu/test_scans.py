"""Are running sums, products and extrema PyTorch's: along each dimension, for NaN, ties and infinity?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]
NAN, INF = float("nan"), float("inf")


def both(torch: Any, name: str, data: np.ndarray[Any, Any], dim: int) -> tuple[list[Any], list[Any]]:
    """The results of both libraries, as arrays."""
    found = [getattr(library, name)(library.from_numpy(data.copy()), dim) for library in (glasstorch, torch)]
    ours, theirs = ([one.numpy() for one in (r if isinstance(r, tuple) else (r,))] for r in found)
    return ours, theirs


SHAPES = [((7,), 0), ((3, 300), 1), ((50, 17), 0), ((3, 40, 5), 1), ((300, 40, 3), 1), ((4, 1), 1)]


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin"])
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "float16", "bfloat16"])
def test_lines_are_scanned_as_by_pytorch(require: Require, name: str, shape: Any, dim: int, dtype: str) -> None:
    data = np.random.default_rng(0).choice([-1.5, -1, 1, 2] if name == "cumprod" else [-3, 1, 2, 2, 5], shape)
    found = [
        getattr(library.from_numpy(data).to(getattr(library, dtype)), name)(dim)
        for library in (glasstorch, require("torch"))
    ]
    ours, theirs = ([one.double().numpy() for one in (r if isinstance(r, tuple) else (r,))] for r in found)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_running_sum_of_float32_is_rounded_once() -> None:
    data = np.random.default_rng(1).uniform(0, 1, 1000).astype(np.float32)
    found = glasstorch.from_numpy(data).cumsum(0).numpy()
    np.testing.assert_array_equal(found, np.cumsum(data.astype(np.float64)).astype(np.float32))


def test_a_running_product_of_halves_overflows_where_float32_does() -> None:
    x = glasstorch.tensor([2e38, 4.0, 0.25], dtype=glasstorch.bfloat16)
    assert x.cumprod(0)[1:].tolist() == [INF, INF]


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_of_equal_elements_the_last_counts_and_nan_stays(require: Require, name: str) -> None:
    data = np.array(
        [[1.0, 2.0, 2.0, -1.0, -1.0, 0.0], [3.0, NAN, 5.0, NAN, -INF, INF], [0.0, -0.0, 0.0, 1.0, 1.0, -1.0]]
    )
    ours, theirs = both(require("torch"), name, data, 1)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(np.signbit(ours[0]), np.signbit(theirs[0]))


def test_one_nan_changes_no_other_line() -> None:
    data = np.tile(np.arange(5.0), (4, 1))
    data[2, 1] = NAN
    values, places = glasstorch.from_numpy(data).cummax(1)
    assert places.tolist() == [[0, 1, 2, 3, 4], [0, 1, 2, 3, 4], [0, 1, 1, 1, 1], [0, 1, 2, 3, 4]]
    assert values.isnan().sum().item() == 4


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_running_logarithm_of_sums_neither_overflows_nor_loses_infinity(require: Require, dtype: str) -> None:
    data = np.array([[1e4, 1e4, -1e4], [-INF, -INF, 0.0], [INF, -INF, INF], [0.0, NAN, 1.0]], dtype)
    (ours,), (theirs,) = both(require("torch"), "logcumsumexp", data, 1)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_running_logarithms_of_complex_sums_are_pytorchs(require: Require) -> None:
    parts = [0.0, 1.0, -700.0, INF, -INF, NAN]
    data = np.array([complex(a, b) for a in parts for b in (0.0, 2.0, NAN)])
    lines = np.stack([np.tile(data, (len(data), 1)), np.tile(data[:, None], (1, len(data)))], -1)  # all pairs
    (ours,), (theirs,) = both(require("torch"), "logcumsumexp", lines, 2)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-300)
    one_by_one, _ = both(require("torch"), "logcumsumexp", data[[0, 1, 3, 4]], 0)
    np.testing.assert_allclose(one_by_one[0], np.log(np.cumsum(np.exp(data[[0, 1, 3, 4]]))), rtol=1e-12)


@pytest.mark.parametrize("shape", [(401,), (2, 1000), (130, 3)])
def test_long_lines_of_complex_logarithms_are_pytorchs(require: Require, shape: tuple[int, ...]) -> None:
    random = np.random.default_rng(7)
    data = random.uniform(-500, 50, shape) + 1j * random.uniform(-3, 3, shape)
    data[..., random.integers(0, shape[-1], 5)] = -np.inf
    for dim in range(len(shape)):
        (ours,), (theirs,) = both(require("torch"), "logcumsumexp", data, dim)
        np.testing.assert_allclose(np.exp(ours), np.exp(theirs), rtol=1e-12)
    (ours,), (theirs,) = both(require("torch"), "logcumsumexp", np.where(data.real > 40, np.nan, data), -1)
    assert np.array_equal(np.isnan(ours), np.isnan(theirs))


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.cummax(t.tensor([1j]), 0), lambda t: t.cummin(t.zeros(2), 1),
        lambda t: t.cummax(t.zeros(2), 0, out=(t.zeros(2), t.zeros(2))),
        lambda t: t.logcumsumexp(t.zeros(2, dtype=t.int64), 0), lambda t: t.logcumsumexp(t.zeros(2), -2),
        lambda t: t.logcumsumexp(t.zeros(2), 0, out=t.zeros(2, dtype=t.float64)),
        lambda t: t.cumsum(t.ones(2), 0, dtype=t.bool), lambda t: t.cumprod(t.ones(2), 0, dtype=t.uint16),
        lambda t: t.cumsum(t.tensor([1]), 0, out=t.empty(1, dtype=t.bool)),
    ],
)  # fmt: skip
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call)
