"""Are slices added and written in the order of their names, however many NumPy takes at once?"""

from __future__ import annotations

import numpy as np
import pytest

from glasstorch.kernels.cpu.indexing.accumulation import (
    MAX_REPEATS,
    MIN_ROUND,
    ROUNDS_BELOW_WIDTH,
    ROUNDS_FROM_WIDTH,
    reduce_slices,
    write_slices,
)
from glasstorch.kernels.iterator import WIDE_BLOCK
from tests.steps import lines_run

PLACES = 3 * MIN_ROUND
COUNT = 3 * PLACES  # so that some come in one round and some in the next
SHAPES = {
    "a vector": ((PLACES,), 0),
    "short slices": ((PLACES, 3), 0),
    "the last dimension": ((3, PLACES), 1),
    "short slices in the middle": ((2, PLACES, 3), 1),
    "slices in rounds": ((PLACES, ROUNDS_FROM_WIDTH), 0),
    "slices in rounds, in the middle": ((2, PLACES, ROUNDS_FROM_WIDTH), 1),
    "wide slices": ((PLACES, ROUNDS_BELOW_WIDTH), 0),
}


def plain(ufunc: np.ufunc, array: np.ndarray, dim: int, chosen: np.ndarray, values: np.ndarray) -> None:
    for n, i in enumerate(chosen):
        at = (slice(None),) * dim
        array[(*at, i)] = ufunc(array[(*at, i)], values[(*at, n)])


def example(name: str, gaps: bool) -> tuple[np.ndarray, int, np.ndarray, np.ndarray]:
    shape, dim = SHAPES[name]
    random = np.random.default_rng(5)
    array = random.uniform(size=shape).astype(np.float32)
    if gaps:
        array = np.repeat(array, 2, -1)[..., ::2]
    values = random.uniform(size=(*shape[:dim], COUNT, *shape[dim + 1 :])).astype(np.float32)
    return array, dim, random.integers(0, shape[dim], COUNT), values


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_sums_are_bit_for_bit_those_of_one_slice_after_the_other(name: str, gaps: bool) -> None:
    array, dim, chosen, values = example(name, gaps)
    expected = array.copy()
    plain(np.add, expected, dim, chosen, values)
    reduce_slices(np.add, array, dim, chosen, values)
    assert array.tolist() == expected.tolist()


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("name", SHAPES)
def test_of_several_that_are_written_the_last_stays(name: str, gaps: bool) -> None:
    array, dim, chosen, values = example(name, gaps)
    expected = array.copy()
    plain(lambda old, new: new, expected, dim, chosen, values)
    write_slices(array, dim, chosen, values)
    assert array.tolist() == expected.tolist()


def test_one_place_that_is_named_again_and_again() -> None:
    array, values = np.zeros((2, ROUNDS_FROM_WIDTH)), np.ones((COUNT, ROUNDS_FROM_WIDTH))
    reduce_slices(np.add, array, 0, np.zeros(COUNT, np.int64), values)
    assert array.tolist() == [[COUNT] * ROUNDS_FROM_WIDTH, [0] * ROUNDS_FROM_WIDTH]


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "bool"])
@pytest.mark.parametrize("places", [2, MIN_ROUND + 1])
def test_places_that_are_named_often(places: int, dtype: str) -> None:
    random = np.random.default_rng(6)
    count = 2 * MAX_REPEATS * places + 3 * WIDE_BLOCK // ROUNDS_FROM_WIDTH
    values = (random.uniform(size=(count, ROUNDS_FROM_WIDTH)) * 3).astype(dtype)
    array, chosen = np.zeros((places, ROUNDS_FROM_WIDTH), dtype), random.integers(0, places, count)
    expected = array.copy()
    plain(np.add, expected, 0, chosen, values)
    reduce_slices(np.add, array, 0, chosen, values)
    assert array.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("shape", "dim"), [((WIDE_BLOCK, 2), 1), ((2, ROUNDS_FROM_WIDTH), 0), ((MIN_ROUND + 1, ROUNDS_FROM_WIDTH), 0)]
)
def test_neither_parts_in_front_nor_indices_cost_a_step_each(shape: tuple[int, int], dim: int) -> None:
    chosen = np.arange(2 if dim else WIDE_BLOCK) % shape[dim]
    array, values = (
        np.zeros(shape, np.float32),
        np.ones((WIDE_BLOCK, 2) if dim else (WIDE_BLOCK, ROUNDS_FROM_WIDTH), np.float32),
    )
    assert lines_run(lambda: reduce_slices(np.add, array, dim, chosen, values)) < 1000
    assert lines_run(lambda: write_slices(array, dim, chosen, values)) < 1000


def test_no_slices() -> None:
    array = np.ones((2, 3))
    reduce_slices(np.multiply, array, 0, np.zeros(0, np.int64), np.ones((0, 3)))
    write_slices(array, 0, np.zeros(0, np.int64), np.ones((0, 3)))
    assert array.tolist() == np.ones((2, 3)).tolist()
