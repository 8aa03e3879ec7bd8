"""Do float16 numbers become float32 and back as in NumPy, each of them, and do pointwise operators agree in blocks?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.kernels.halves import (
    BLOCK,
    BLOCKS_FROM,
    TABLE_FROM,
    are_rows,
    as_dtype,
    as_single,
    cast,
    every_value,
    narrow,
    widen,
    widened,
)
from glasstorch.kernels.quiet import quietly

Require = Callable[[str], Any]
EVERY = every_value(np.dtype(np.float16))
RANDOM = np.random.default_rng(0)
SIZES = [BLOCKS_FROM + 3, 2 * BLOCK + 5]


def as_numpy(data: np.ndarray) -> np.ndarray:
    """The bits of float32 as float16, by NumPy."""
    return quietly(data.astype, np.float16).view(np.uint16)


def narrowed(data: np.ndarray) -> np.ndarray:
    found = np.empty(data.shape, np.float16)
    narrow(found, data)
    return found.view(np.uint16)


def test_every_half_is_widened_to_the_bits_of_numpy() -> None:
    found = np.empty(EVERY.shape, np.float32)
    widen(found, EVERY)
    np.testing.assert_array_equal(found.view(np.uint32), EVERY.astype(np.float32).view(np.uint32))


def test_ties_and_their_neighbours_are_narrowed_to_the_bits_of_numpy() -> None:
    finite = np.sort(widened()[np.isfinite(widened())])
    ties = (finite[1:] + finite[:-1]) / 2  # exact: float32 has the digits
    beside = [np.nextafter(ties, np.float32(to)) for to in (-np.inf, np.inf)]
    data = np.concatenate([finite, ties, *beside])
    np.testing.assert_array_equal(narrowed(data), as_numpy(data))


def test_numbers_of_all_sizes_are_narrowed_to_the_bits_of_numpy() -> None:
    edges = [
        65519.99,
        65520,
        65535.99,
        65536,
        3e38,
        np.inf,
        0.0,
        1e-45,
        2.0**-25,
        2.0**-24,
        np.float32(2.0**-25) * 1.01,
    ]
    bits = RANDOM.integers(0, 1 << 32, 1 << 17, dtype=np.uint32).view(np.float32)
    data = np.concatenate([np.array(edges, np.float32), -np.array(edges, np.float32), bits[~np.isnan(bits)]])
    np.testing.assert_array_equal(narrowed(data), as_numpy(data))


def test_nan_keeps_the_bits_that_numpy_keeps() -> None:
    edges = [0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF800001, 0x7F801FFF, 0x7F802000, 0x7FFFFFFF, 0xFFFFFFFF]
    some = RANDOM.integers(0x7F800001, 0x80000000, 1000)
    data = np.concatenate([edges, some, some + (1 << 31)]).astype(np.uint32).view(np.float32)
    assert np.isnan(data).all()
    np.testing.assert_array_equal(narrowed(data), as_numpy(data))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["add", "mul", "div", "maximum", "remainder", "copysign", "fmod"])
def test_operators_on_two_tensors_are_pytorchs(require: Require, name: str, size: int) -> None:
    torch = require("torch")
    data = [RANDOM.choice(EVERY, size) for _ in "xy"]
    ours, theirs = (getattr(t, name)(*map(t.from_numpy, data)).numpy() for t in (glasstorch, torch))
    np.testing.assert_array_equal(ours, theirs)


def test_a_number_beside_several_tensors_keeps_its_digits() -> None:
    many = [glasstorch.from_numpy(RANDOM.choice(EVERY, SIZES[1])) for _ in "xyz"]
    few = zip(*(one.split(BLOCKS_FROM - 1) for one in many), strict=True)
    found, wanted = (
        glasstorch.addcmul(*many, value=0.1),
        glasstorch.cat([glasstorch.addcmul(*parts, value=0.1) for parts in few]),
    )
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["relu", "neg", "sqrt", "floor", "exp", "sigmoid", "square", "lgamma"])
def test_a_function_of_many_is_that_of_few(name: str, dtype: str) -> None:
    """The table of all values and the loop beside it."""
    some = glasstorch.randn(TABLE_FROM, generator=glasstorch.Generator().manual_seed(3)).to(getattr(glasstorch, dtype))
    function = getattr(glasstorch, name)
    many, few = function(some), glasstorch.cat([function(part) for part in some.split(BLOCKS_FROM - 1)])
    assert many.dtype is few.dtype is some.dtype
    np.testing.assert_array_equal(many.float().numpy(), few.float().numpy())


def test_a_number_may_stand_on_either_side_of_many() -> None:
    x = RANDOM.choice(EVERY, TABLE_FROM)
    wide = x.astype(np.float32)
    with np.errstate(all="ignore"):
        wanted = [wide + np.float32(0.25), (np.float32(0.5) - wide), wide / np.float32(3)]
        wanted = [one.astype(np.float16) for one in wanted]
    t = glasstorch.from_numpy(x)
    for found, right in zip([t + 0.25, 0.5 - t, t / 3], wanted, strict=True):
        np.testing.assert_array_equal(found.numpy(), right)


@pytest.mark.parametrize("size", [2 * BLOCK, TABLE_FROM])
def test_an_operator_may_write_over_what_it_reads(size: int) -> None:
    data = RANDOM.normal(size=size).astype(np.float16)
    t = glasstorch.from_numpy(data.copy())
    np.testing.assert_array_equal(t.add_(t).numpy(), data + data)
    np.testing.assert_array_equal(t.neg_().numpy(), -(data + data))


def test_rows_are_of_one_shape_and_share_no_memory() -> None:
    x = np.zeros((4, 6), np.float16)
    number = np.zeros((), np.float32)
    assert are_rows(x, [x, x.copy(), number], x.dtype)
    assert not are_rows(x, [x.T], x.dtype)
    assert not are_rows(x[:2], [x[1:3]], x.dtype)
    assert not are_rows(x, [x[0]], x.dtype)
    assert not are_rows(x, [x.astype(np.float32)], x.dtype)
    assert not are_rows(x[:, :3], [x[:, 3:]], x.dtype)


@pytest.mark.parametrize("size", [5, BLOCKS_FROM, 2 * BLOCK + 5])
def test_a_cast_is_numpys(size: int) -> None:
    half = RANDOM.choice(EVERY[np.isfinite(EVERY)], size)
    single = RANDOM.normal(size=size).astype(np.float32)
    for to, of in ((half, single), (single, half), (half, half), (single.astype(np.float64), half)):
        found, wanted = np.empty_like(to), np.empty_like(to)
        cast(found, of)
        wanted[...] = of
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("turned", [(0, 1), (1, 0)])
def test_a_copy_in_float32_is_laid_out_as_the_array(turned: tuple[int, int]) -> None:
    half = RANDOM.choice(EVERY, (100, 120)).transpose(turned)
    for array in (half, half[::2], half[:3, :3]):
        found = as_single(array)
        assert found.strides == array.astype(np.float32).strides
        np.testing.assert_array_equal(found, array.astype(np.float32))


def test_a_tensor_of_many_tiny_numbers_becomes_float16_and_back() -> None:
    x = RANDOM.normal(size=(300, 400)).astype(np.float32) * np.float32(1e-6)
    half = glasstorch.from_numpy(x).half()
    np.testing.assert_array_equal(half.numpy(), x.astype(np.float16))
    np.testing.assert_array_equal(half.float().numpy(), x.astype(np.float16).astype(np.float32))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_what_has_the_dtype_and_the_layout_already_is_not_copied(dtype: type) -> None:
    x = RANDOM.normal(size=(100, 120)).astype(np.float32)
    found = as_dtype(x, np.dtype(dtype))
    assert (found is x) == (dtype is np.float32)
    np.testing.assert_array_equal(found, x.astype(dtype))
    np.testing.assert_array_equal(as_dtype(x.T, np.dtype(dtype)), x.T.astype(dtype))
    assert as_dtype(x.T, np.dtype(dtype)).flags.c_contiguous
    assert as_dtype(np.float32(2), np.dtype(dtype)) == 2
