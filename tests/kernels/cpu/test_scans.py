"""Are running sums, products and extrema PyTorch's: across blocks, along each dimension, for NaN, ties and infinity?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.kernels.cpu.scans import (
    ROWWISE_FROM,
    TRANSPOSE_FROM,
    TRANSPOSED_BLOCK,
    TRANSPOSED_COLUMNS,
    UNSPLIT_UP_TO,
)
from glasstorch.kernels.iterator import WIDE_BLOCK
from tests.refusals import same_refusal
from tests.steps import lines_run

Require = Callable[[str], Any]
NAN, INF = float("nan"), float("inf")
SHAPES = [
    ((2 * WIDE_BLOCK + 3,), 0),  # a line longer than a block
    ((3, WIDE_BLOCK + 1), 1),
    ((WIDE_BLOCK // 100, 250), 1),  # several lines in a block
    ((50, ROWWISE_FROM), 0),  # rows beside each other
    ((50, ROWWISE_FROM - 1), 0),
    ((3, 40, 5), 1),
    ((TRANSPOSE_FROM, 2 * TRANSPOSED_COLUMNS + 3), 1),  # lines that are turned
    ((2, TRANSPOSED_BLOCK // 20 + 1, 10), 2),
    ((TRANSPOSE_FROM, 40, ROWWISE_FROM - 1), 1),
    ((TRANSPOSE_FROM, 1), 1),
]


def both(torch: Any, name: str, data: np.ndarray[Any, Any], dim: int) -> tuple[list[Any], list[Any]]:
    """The results of both libraries, as arrays."""
    found = [getattr(library, name)(library.from_numpy(data.copy()), dim) for library in (glasstorch, torch)]
    ours, theirs = ([one.numpy() for one in (r if isinstance(r, tuple) else (r,))] for r in found)
    return ours, theirs


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin"])
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_long_and_short_lines_are_scanned_as_by_pytorch(
    require: Require, name: str, shape: Any, dim: int, dtype: str
) -> None:
    random = np.random.default_rng(0)
    data = random.choice([-1, 1], shape) if name == "cumprod" else np.round(random.normal(size=shape) * 4)
    for ours, theirs in zip(*both(require("torch"), name, data.astype(dtype), dim), strict=True):
        np.testing.assert_array_equal(ours, theirs)  # whole numbers are added without rounding


def test_a_running_sum_of_float32_is_rounded_once() -> None:
    data = np.random.default_rng(1).uniform(0, 1, 3 * WIDE_BLOCK).astype(np.float32)
    found = glasstorch.from_numpy(data).cumsum(0).numpy()
    np.testing.assert_array_equal(found, np.cumsum(data.astype(np.float64)).astype(np.float32))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize(("shape", "dim"), SHAPES)
def test_half_precision_is_added_up_in_float32(
    require: Require, shape: tuple[int, ...], dim: int, name: str, dtype: str
) -> None:
    data = np.random.default_rng(4).normal(size=shape).astype(np.float32) * np.float32(1.5)
    libraries = glasstorch, require("torch")
    ours, theirs = (getattr(t.from_numpy(data).to(getattr(t, dtype)), name)(dim).double().numpy() for t in libraries)
    np.testing.assert_array_equal(ours, theirs)


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


@pytest.mark.parametrize("name", ["cummax", "cummin"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_in_turned_lines_the_last_of_equals_counts_and_nan_stays(require: Require, name: str, dtype: str) -> None:
    torch = require("torch")
    values = np.array([0.0, -0.0, 1.0, 1.0, -1.0, INF, -INF, NAN])
    data = np.random.default_rng(2).choice(
        values, (TRANSPOSE_FROM, 2 * TRANSPOSED_COLUMNS + 3), p=[0.2] * 4 + [0.1, 0.04, 0.04, 0.02]
    )
    data[:4] = data[5] = 0.5
    found = [getattr(library.tensor(data, dtype=getattr(library, dtype)), name)(1) for library in (glasstorch, torch)]
    (ours, at), (theirs, there) = found
    np.testing.assert_array_equal(at.numpy(), there.numpy())
    ours, theirs = ours.double().numpy(), theirs.double().numpy()
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(np.signbit(ours[ours == 0]), np.signbit(theirs[theirs == 0]))


def test_turned_lines_of_floats_are_added_in_the_same_order() -> None:
    data = np.random.default_rng(3).normal(size=(TRANSPOSE_FROM, 3 * TRANSPOSED_COLUMNS)).astype(np.float32)
    found = glasstorch.from_numpy(data).cumsum(1).numpy()
    np.testing.assert_array_equal(found, np.cumsum(data.astype(np.float64), 1).astype(np.float32))
    doubled = data.astype(np.float64)
    np.testing.assert_array_equal(glasstorch.from_numpy(doubled).cumprod(1).numpy(), np.cumprod(doubled, 1))


@pytest.mark.parametrize(("shape", "dim"), [((1024, 1025), 1), ((2, (1 << 18) + 1, 2), 1), ((3, UNSPLIT_UP_TO), 0)])
def test_running_extrema_are_right_strip_by_strip(shape: tuple[int, ...], dim: int) -> None:
    data = np.random.default_rng(0).integers(0, 1000, shape).astype(np.int16)
    assert data.size > UNSPLIT_UP_TO
    values, places = glasstorch.from_numpy(data).cummax(dim)
    np.testing.assert_array_equal(values.numpy(), np.maximum.accumulate(data, dim))
    np.testing.assert_array_equal(np.take_along_axis(data, places.numpy(), dim), values.numpy())


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


def test_long_lines_of_complex_logarithms_cost_less_than_a_step_for_each_element() -> None:
    x = glasstorch.zeros(10_000, dtype=glasstorch.complex64)
    assert lines_run(lambda: x.logcumsumexp(0)) < 5000


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
