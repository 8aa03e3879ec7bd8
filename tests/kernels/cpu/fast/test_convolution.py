"""Does each way to compute a convolution give the plain one's result, and is the cheapest one taken?"""

from __future__ import annotations

import numpy as np
import pytest

import glasstorch
from glasstorch.dispatch.fast import PLAIN
from glasstorch.kernels.cpu.convolution.problem import Problem
from glasstorch.kernels.cpu.convolution.ways import WAYS, Product, costs
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.convolution import columns
from glasstorch.kernels.cpu.fast.convolution.transform import quick
from glasstorch.operators.shapes.convolution import Window

FAST = [name for name in WAYS if name != "plain"]


def problem(rng: np.random.Generator) -> Problem:
    """Groups, gaps, steps and borders in one to three dimensions."""
    dims = int(rng.integers(1, 4))

    def numbers(low: int, high: int) -> tuple[int, ...]:
        return tuple(int(n) for n in rng.integers(low, high, dims))

    ones = (1,) * dims
    stride, dilation = (numbers(1, 3) if rng.integers(2) else ones for _ in range(2))
    window = Window(numbers(1, 4), stride, numbers(0, 3), dilation)
    sizes = tuple(extent + int(rng.integers(0, 12)) for extent in window.extent)
    batch, groups, channels, made = (int(n) for n in rng.integers(1, 5, 4))
    dtype = np.dtype(("float32", "float64", "complex64")[rng.integers(3)])
    return Problem(batch, groups, channels, made, sizes, window.places(sizes), window, dtype)


def arrays(one: Problem, rng: np.random.Generator) -> dict[Product, list[np.ndarray]]:
    """The two factors of each product."""

    def drawn(*shape: int) -> np.ndarray:
        values = rng.standard_normal(shape)
        return (values + 1j * rng.standard_normal(shape) if one.dtype.kind == "c" else values).astype(one.dtype)

    x = drawn(one.batch, one.groups * one.channels, *one.sizes)
    weight = drawn(one.groups * one.made, one.channels, *one.window.kernel)
    y = drawn(one.batch, one.groups * one.made, *one.places)
    return {Product.FORWARD: [x, weight], Product.INPUT: [y, weight], Product.WEIGHT: [x, y]}


@pytest.fixture(params=["usual blocks", "small blocks"])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks, so that a few images of a few rows are many."""
    if request.param == "small blocks":
        for name, value in (("BLOCK", 300), ("COLUMNS", 20), ("RUN", 40), ("LAID_UP_TO", 30)):
            monkeypatch.setattr(thresholds, f"CONVOLUTION_{name}", value)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("name", FAST)
def test_each_way_gives_what_the_plain_one_gives(name: str) -> None:
    rng, reached = np.random.default_rng(3), set()
    for _ in range(120):
        one = problem(rng)
        for product, (first, second) in arrays(one, rng).items():
            way = WAYS[name]
            if way.applies(product, one):
                expected = WAYS["plain"].compute[product](first, second, one)
                found = way.compute[product](first, second, one)
                assert found.dtype == expected.dtype, one
                np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4, err_msg=str((product, one)))
                reached.add(product)
    assert reached == WAYS[name].compute.keys()


def costed(
    *sizes: int, kernel: int, padding: int, channels: int, made: int, batch: int = 1, stride: int = 1
) -> list[str]:
    """The ways to compute a convolution of images, cheapest first."""
    window = Window((kernel,) * 2, (stride,) * 2, (padding,) * 2, (1, 1))
    one = Problem(batch, 1, channels, made, sizes, window.places(sizes), window, np.dtype("float32"))
    return list(costs(Product.FORWARD, one))


@pytest.mark.skipif(PLAIN, reason="plain kernels alone")
def test_the_sizes_decide() -> None:
    assert costed(56, 56, kernel=3, padding=1, channels=64, made=64)[0] == "columns"
    assert costed(64, 64, kernel=7, padding=3, channels=64, made=3)[0] == "shifted"
    assert costed(28, 28, kernel=3, padding=1, channels=128, made=256, batch=4, stride=2)[0] == "rows"
    assert costed(256, 256, kernel=31, padding=15, channels=1, made=1)[0] == "transform"


def test_the_columns_of_a_block_fit_into_the_cache() -> None:
    window = Window((3, 3), (1, 1), (1, 1), (1, 1))
    one = Problem(4, 1, 16, 16, (128, 128), (128, 128), window, np.dtype("float32"))
    row = one.inner * 128
    largest = max(made.size for _, _, made in columns.blocks(np.zeros((4, 16, 128, 128), np.float32), one))
    assert row <= largest <= thresholds.CONVOLUTION_BLOCK + row


def test_a_large_kernel_spreads_no_nan() -> None:
    image = glasstorch.ones(1, 1, 128, 128)
    image[0, 0, 0, 0] = float("nan")
    result = glasstorch.conv2d(image, glasstorch.ones(1, 1, 31, 31))
    assert result.isnan().sum() == 1


def test_transforms_have_small_factors() -> None:
    assert [quick(size) for size in (1, 7, 11, 31, 97, 286)] == [1, 8, 12, 32, 100, 288]
