"""Are running sums, products and extrema PyTorch's across blocks, strips and turned lines?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.kernels.cpu.fast import thresholds
from tests.steps import lines_run

Require = Callable[[str], Any]
NAN, INF = float("nan"), float("inf")
SHAPES = [
    ((2 * thresholds.WIDE_BLOCK + 3,), 0),  # a line longer than a block
    ((3, thresholds.WIDE_BLOCK + 1), 1),
    ((thresholds.WIDE_BLOCK // 100, 250), 1),  # several lines in a block
    ((50, thresholds.SCAN_BY_ROWS_FROM), 0),  # rows beside each other
    ((50, thresholds.SCAN_BY_ROWS_FROM - 1), 0),
    ((3, 40, 5), 1),
    ((thresholds.SCAN_TURNED_FROM, 2 * thresholds.SCAN_TURNED_COLUMNS + 3), 1),  # lines that are turned
    ((2, thresholds.SCAN_TURNED_BLOCK // 20 + 1, 10), 2),
    ((thresholds.SCAN_TURNED_FROM, 40, thresholds.SCAN_BY_ROWS_FROM - 1), 1),
    ((thresholds.SCAN_TURNED_FROM, 1), 1),
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
    data = np.random.default_rng(1).uniform(0, 1, 3 * thresholds.WIDE_BLOCK).astype(np.float32)
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


@pytest.mark.parametrize("name", ["cummax", "cummin"])
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_in_turned_lines_the_last_of_equals_counts_and_nan_stays(require: Require, name: str, dtype: str) -> None:
    torch = require("torch")
    values = np.array([0.0, -0.0, 1.0, 1.0, -1.0, INF, -INF, NAN])
    data = np.random.default_rng(2).choice(
        values,
        (thresholds.SCAN_TURNED_FROM, 2 * thresholds.SCAN_TURNED_COLUMNS + 3),
        p=[0.2] * 4 + [0.1, 0.04, 0.04, 0.02],
    )
    data[:4] = data[5] = 0.5
    found = [getattr(library.tensor(data, dtype=getattr(library, dtype)), name)(1) for library in (glasstorch, torch)]
    (ours, at), (theirs, there) = found
    np.testing.assert_array_equal(at.numpy(), there.numpy())
    ours, theirs = ours.double().numpy(), theirs.double().numpy()
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(np.signbit(ours[ours == 0]), np.signbit(theirs[theirs == 0]))


def test_turned_lines_of_floats_are_added_in_the_same_order() -> None:
    data = (
        np.random.default_rng(3)
        .normal(size=(thresholds.SCAN_TURNED_FROM, 3 * thresholds.SCAN_TURNED_COLUMNS))
        .astype(np.float32)
    )
    found = glasstorch.from_numpy(data).cumsum(1).numpy()
    np.testing.assert_array_equal(found, np.cumsum(data.astype(np.float64), 1).astype(np.float32))
    doubled = data.astype(np.float64)
    np.testing.assert_array_equal(glasstorch.from_numpy(doubled).cumprod(1).numpy(), np.cumprod(doubled, 1))


@pytest.mark.parametrize(
    ("shape", "dim"), [((1024, 1025), 1), ((2, (1 << 18) + 1, 2), 1), ((3, thresholds.RUNNING_EXTREMUM_WHOLE_UP_TO), 0)]
)
def test_running_extrema_are_right_strip_by_strip(shape: tuple[int, ...], dim: int) -> None:
    data = np.random.default_rng(0).integers(0, 1000, shape).astype(np.int16)
    assert data.size > thresholds.RUNNING_EXTREMUM_WHOLE_UP_TO
    values, places = glasstorch.from_numpy(data).cummax(dim)
    np.testing.assert_array_equal(values.numpy(), np.maximum.accumulate(data, dim))
    np.testing.assert_array_equal(np.take_along_axis(data, places.numpy(), dim), values.numpy())


def test_long_lines_of_complex_logarithms_cost_less_than_a_step_for_each_element() -> None:
    x = glasstorch.zeros(10_000, dtype=glasstorch.complex64)
    assert lines_run(lambda: x.logcumsumexp(0)) < 5000
