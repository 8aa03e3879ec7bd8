"""Do float16 numbers become float32 and back as in NumPy, and do pointwise operators agree for few and many of them?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.kernels.halves import as_dtype, as_single, cast

Require = Callable[[str], Any]
EVERY = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
RANDOM = np.random.default_rng(0)
SIZES = [8195, 65541]
FEW, MANY = 8191, 1 << 18


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["add", "mul", "div", "maximum", "remainder", "copysign", "fmod"])
def test_operators_on_two_tensors_are_pytorchs(require: Require, name: str, size: int) -> None:
    torch = require("torch")
    data = [RANDOM.choice(EVERY, size) for _ in "xy"]
    ours, theirs = (getattr(t, name)(*map(t.from_numpy, data)).numpy() for t in (glasstorch, torch))
    np.testing.assert_array_equal(ours, theirs)


def test_a_number_beside_several_tensors_keeps_its_digits() -> None:
    many = [glasstorch.from_numpy(RANDOM.choice(EVERY, SIZES[1])) for _ in "xyz"]
    few = zip(*(one.split(FEW) for one in many), strict=True)
    found, wanted = (
        glasstorch.addcmul(*many, value=0.1),
        glasstorch.cat([glasstorch.addcmul(*parts, value=0.1) for parts in few]),
    )
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["relu", "neg", "sqrt", "floor", "exp", "sigmoid", "square", "lgamma"])
def test_a_function_of_many_is_that_of_few(name: str, dtype: str) -> None:
    """The table of all values and the loop beside it."""
    some = glasstorch.randn(MANY, generator=glasstorch.Generator().manual_seed(3)).to(getattr(glasstorch, dtype))
    function = getattr(glasstorch, name)
    many, few = function(some), glasstorch.cat([function(part) for part in some.split(FEW)])
    assert many.dtype is few.dtype is some.dtype
    np.testing.assert_array_equal(many.float().numpy(), few.float().numpy())


def test_a_number_may_stand_on_either_side_of_many() -> None:
    x = RANDOM.choice(EVERY, MANY)
    wide = x.astype(np.float32)
    with np.errstate(all="ignore"):
        wanted = [wide + np.float32(0.25), (np.float32(0.5) - wide), wide / np.float32(3)]
        wanted = [one.astype(np.float16) for one in wanted]
    t = glasstorch.from_numpy(x)
    for found, right in zip([t + 0.25, 0.5 - t, t / 3], wanted, strict=True):
        np.testing.assert_array_equal(found.numpy(), right)


@pytest.mark.parametrize("size", [SIZES[1], MANY])
def test_an_operator_may_write_over_what_it_reads(size: int) -> None:
    data = RANDOM.normal(size=size).astype(np.float16)
    t = glasstorch.from_numpy(data.copy())
    np.testing.assert_array_equal(t.add_(t).numpy(), data + data)
    np.testing.assert_array_equal(t.neg_().numpy(), -(data + data))


@pytest.mark.parametrize("size", [5, 8192, 65541])
def test_a_cast_is_numpys(size: int) -> None:
    half = RANDOM.choice(EVERY[np.isfinite(EVERY)], size)
    single = RANDOM.normal(size=size).astype(np.float32)
    for to, of in ((half, single), (single, half), (half, half), (single.astype(np.float64), half)):
        found, wanted = np.empty_like(to), np.empty_like(to)
        cast.run(found, of)
        wanted[...] = of
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("turned", [(0, 1), (1, 0)])
def test_a_copy_in_float32_is_laid_out_as_the_array(turned: tuple[int, int]) -> None:
    half = RANDOM.choice(EVERY, (100, 120)).transpose(turned)
    for array in (half, half[::2], half[:3, :3]):
        found = as_single.run(array)
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
    found = as_dtype.run(x, np.dtype(dtype))
    assert (found is x) == (dtype is np.float32)
    np.testing.assert_array_equal(found, x.astype(dtype))
    np.testing.assert_array_equal(as_dtype.run(x.T, np.dtype(dtype)), x.T.astype(dtype))
    assert as_dtype.run(x.T, np.dtype(dtype)).flags.c_contiguous
    assert as_dtype.run(np.float32(2), np.dtype(dtype)) == 2
