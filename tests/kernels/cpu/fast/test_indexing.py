"""Are elements picked, and slices added and written in the order of their names, however many NumPy takes at once?"""

from __future__ import annotations

import numpy as np
import pytest

import glasstorch
from glasstorch.kernels.cpu.fast.indexing import blocks_of, reduce_slices, write_slices
from glasstorch.kernels.cpu.fast.thresholds import (
    BLOCK,
    ROUND_FROM,
    ROUNDS_BELOW_WIDTH,
    ROUNDS_FROM_WIDTH,
    ROUNDS_UP_TO_REPEATS,
    WIDE_BLOCK,
)
from tests.steps import lines_run

PLACES = 3 * ROUND_FROM
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
@pytest.mark.parametrize("places", [2, ROUND_FROM + 1])
def test_places_that_are_named_often(places: int, dtype: str) -> None:
    random = np.random.default_rng(6)
    count = 2 * ROUNDS_UP_TO_REPEATS * places + 3 * WIDE_BLOCK // ROUNDS_FROM_WIDTH
    values = (random.uniform(size=(count, ROUNDS_FROM_WIDTH)) * 3).astype(dtype)
    array, chosen = np.zeros((places, ROUNDS_FROM_WIDTH), dtype), random.integers(0, places, count)
    expected = array.copy()
    plain(np.add, expected, 0, chosen, values)
    reduce_slices(np.add, array, 0, chosen, values)
    assert array.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("shape", "dim"), [((WIDE_BLOCK, 2), 1), ((2, ROUNDS_FROM_WIDTH), 0), ((ROUND_FROM + 1, ROUNDS_FROM_WIDTH), 0)]
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


# An index for each element ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dim", [0, 1, 2])
@pytest.mark.parametrize("shape", [(3, 4, 5), (1, 4, 5), (3, 1, 1)])
def test_the_places_of_an_index_are_those_of_numpy(dim: int, shape: tuple[int, ...]) -> None:
    sizes = tuple(7 if d == dim else max(n - 1, 1) for d, n in enumerate(shape))
    index = np.random.default_rng(3).integers(0, shape[dim], sizes)
    grid = list(np.indices(sizes))
    grid[dim] = index
    expected = np.ravel_multi_index(tuple(grid), shape).reshape(-1)
    assert [p for _, places in blocks_of(shape, dim, index) for p in places] == expected.tolist()


def test_many_places_come_in_parts() -> None:
    index = np.zeros((5, BLOCK // 2), np.int32)
    parts = [(part, places.copy()) for part, places in blocks_of((5, BLOCK), 1, index)]
    assert [part.start for part, _ in parts] == [0, 2, 4]
    assert [int(places[0]) for _, places in parts] == [0, 2 * BLOCK, 4 * BLOCK]


def test_what_an_expanded_tensor_repeats_is_not_written_out() -> None:
    many = 1 << 18
    x, column = glasstorch.zeros(1, many), glasstorch.zeros((many, 1), dtype=glasstorch.int64)  # 256 GB if expanded
    assert glasstorch.take_along_dim(x, column, 1).shape == (many, 1)
    square = glasstorch.zeros(1).expand(many, many)
    assert square.gather(0, glasstorch.zeros((1, 5), dtype=glasstorch.int64)).shape == (1, 5)
    assert square.take(glasstorch.tensor([-1])).tolist() == [0]
