"""Do sums, products and variances of large arrays leave nothing out, and are the short paths the plain ones?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.kernels.cpu.fast import reductions as fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.reductions import sums

Require = Callable[[str], Any]
random = np.random.default_rng(0)


def same(tensor: Any, expected: Any) -> bool:
    return bool(np.allclose(np.asarray(tensor.tolist()), expected, rtol=1e-6, atol=1e-6, equal_nan=True))


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 600])
def test_every_row_is_in_some_block(size: int) -> None:
    array = random.random((3, size, 5))
    blocks = fast.add_blocks(array, 1)
    assert blocks.shape == (3, -(-size // thresholds.SUMMED_ROWS), 5)
    np.testing.assert_allclose(blocks.sum(1), array.sum(1))


@pytest.mark.parametrize("size", [1, 1023, 1024, 1025, 4096, 5000])
def test_every_number_of_a_run_is_in_some_piece(size: int) -> None:
    runs = np.arange(3.0 * size).reshape(3, size) % 7
    pieces = fast.add_pieces(runs)
    assert pieces.shape == (3, -(-size // thresholds.SUMMED_PIECE))
    np.testing.assert_array_equal(pieces.sum(1), runs.sum(1))


@pytest.mark.parametrize(
    ("shape", "reduced", "left"),
    [
        ((4, 5, 6), (2,), (4, 5, 1)),
        ((4, 5, 6), (1, 2), (4, 1, 1)),
        ((4, 5, 6), (0, 2), (4, 5, 1)),
        ((4, 5, 6), (0, 1), (4, 5, 6)),
        ((4, 5, 6), (0, 1, 2), (1, 1, 1)),
        ((2, 3000), (1,), (2, 3)),
    ],
)
def test_the_last_dimensions_are_a_run_where_they_follow_each_other(
    shape: tuple[int, ...], reduced: tuple[int, ...], left: tuple[int, ...]
) -> None:
    whole = np.arange(float(np.prod(shape))).reshape(shape) % 7
    sums = fast.add_runs(whole, reduced)
    assert sums.shape == left
    np.testing.assert_array_equal(sums.sum(reduced), whole.sum(reduced))
    stepped = np.repeat(whole, 2, -1)[..., ::2]
    assert fast.add_runs(stepped, reduced) is stepped


@pytest.mark.parametrize("shape", [(), (8,), (3, 4), (2, 3, 4), (300, 300), (0, 3)])
def test_the_quick_ways_agree_with_the_plain_ones(shape: tuple[int, ...]) -> None:
    x = glasstorch.from_numpy(random.standard_normal(shape).astype(np.float32))
    assert same(fast.sum_all(0, x, None), sums.sum_dims(0, x, None, False, None).tolist())
    assert same(fast.mean_all(0, x, None), sums.mean_dim(0, x, None, False, None).tolist())
    for d in range(-x.dim(), x.dim()):
        for keepdim in (False, True):
            quick = fast.sum_dim(0, x, [d], keepdim, None)
            np.testing.assert_allclose(quick.numpy(), sums.sum_dims(0, x, [d], keepdim, None).numpy(), rtol=1e-6)


@pytest.mark.parametrize(
    "shape",
    [
        (2 * thresholds.WIDE_BLOCK + 7,),
        (3, thresholds.WIDE_BLOCK + 5),
        (thresholds.LANES + 3, 40),
        (40, thresholds.LANES + 3),
        (9, 8, 300),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_moments_of_many_elements_are_pytorchs(require: Require, shape: Any, dtype: str) -> None:
    torch = require("torch")
    data = np.random.default_rng(3).normal(1000, 2, shape).astype(dtype)
    if dtype == "complex64":
        data *= 1 + 1j
    for transposed in (False, True):
        for dim in (None, 0, -1, (0, -1)):
            if dim == (0, -1) and len(shape) == 1:
                continue
            ours, theirs = (
                library.var_mean(x.mT if transposed and x.dim() > 1 else x, dim, correction=1)
                for library, x in ((glasstorch, glasstorch.from_numpy(data)), (torch, torch.from_numpy(data)))
            )
            for one, other in zip(ours, theirs, strict=True):
                np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9 if dtype == "float64" else 2e-6)


@pytest.mark.parametrize(
    "shape",
    [
        (3 * thresholds.PRODUCT_BLOCK + 5,),
        (7, thresholds.WIDE_BLOCK + 1),
        (500, 101),
        (3, thresholds.PRODUCT_BLOCK - 1),
    ],
)
def test_products_of_many_elements_leave_none_out(shape: Any) -> None:
    data = np.ones(shape)
    for place in np.random.default_rng(4).integers(0, data.size, 40):
        data.flat[place] *= -2
    data.flat[-1] *= 3
    data.flat[:: data.size // 3] *= 5
    x = glasstorch.from_numpy(data)
    assert x.prod().item() == data.prod()
    np.testing.assert_array_equal(x.prod(-1).numpy(), data.prod(-1))
    np.testing.assert_array_equal(x.prod(-1, keepdim=True).numpy(), data.prod(-1, keepdims=True))


@pytest.mark.parametrize("dims", [(0,), (1,), (0, 1)])
def test_few_numbers_have_the_variance_and_mean_of_many(dims: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).standard_normal((7, 9)).astype(np.float32) + 100
    kept = [d for d in range(2) if d not in dims]
    count = array.size // math.prod(array.shape[d] for d in kept)
    rows = array.transpose(*kept, *dims).reshape(-1, count)
    few = fast.variance_of_few(array, dims, count - 1)
    squares, mean = fast.square_distances(rows)
    assert few is not None
    np.testing.assert_allclose(few[0].reshape(-1), squares / (count - 1), rtol=1e-12)
    np.testing.assert_allclose(few[1].reshape(-1), mean, rtol=1e-15)


def test_a_sum_that_is_not_finite_is_left_to_the_rule_for_many() -> None:
    assert fast.variance_of_few(np.array([1.0, np.inf]), (0,), 1) is None
    assert fast.variance_of_few(np.array([1.0, np.nan]), (0,), 1) is None
