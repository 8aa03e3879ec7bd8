"""What is true, and what is left of bits that are shifted too far?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8"])
@pytest.mark.parametrize("name", ["bitwise_left_shift", "bitwise_right_shift"])
def test_bits_that_are_shifted_out_are_gone_and_a_sign_stays(require: Require, dtype: str, name: str) -> None:
    found = []
    for library in (glasstorch, require("torch")):
        kind = getattr(library, dtype)
        x = library.tensor([1, 7, 100, -3 if dtype != "uint8" else 3], dtype=kind).unsqueeze(1)
        by = library.tensor([0, 1, 6, 7, 8, 31, 63, 64, 100] + ([-1] if dtype != "uint8" else []), dtype=kind)
        found.append(getattr(library, name)(x, by).tolist())
    assert found[0] == found[1]


def test_pythons_operators_shift() -> None:
    x = glasstorch.tensor([1, 2, 3])
    assert (x << 2).tolist() == [4, 8, 12]
    assert (x >> 1).tolist() == [0, 1, 1]
    assert (2 << x).tolist() == [4, 8, 16]
    assert (16 >> x).tolist() == [8, 4, 2]
    assert (x << x).tolist() == [2, 8, 24]
    x <<= 1
    assert x.tolist() == [2, 4, 6]
    x >>= 1
    assert x.tolist() == [1, 2, 3]


@pytest.mark.parametrize("name", ["logical_and", "logical_or", "logical_xor"])
def test_whatever_is_not_0_is_true(require: Require, name: str) -> None:
    found = []
    for library in (glasstorch, require("torch")):
        x = library.tensor([float("nan"), 0.0, -0.0, 2.0, float("inf")])
        others = (x.half(), x.to(library.complex64), x.isnan())
        found += [np.array(getattr(library, name)(x.unsqueeze(1), y).tolist()) for y in others]
    np.testing.assert_array_equal(found[:3], found[3:])


def test_an_answer_may_be_written_to_any_dtype() -> None:
    out = glasstorch.empty(2, dtype=glasstorch.complex64)
    assert glasstorch.logical_not(glasstorch.tensor([0, 3]), out=out).tolist() == [1, 0]
    x = glasstorch.tensor([2, 0])
    assert x.logical_not_() is x
    assert x.tolist() == [0, 1]


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.tensor([1.0]) << 1, lambda t: t.tensor([True]) << t.tensor([True]), lambda t: t.tensor([1]) >> 1.5,
        lambda t: t.logical_not(t.tensor([1], dtype=t.uint16)),
        lambda t: t.logical_and(t.tensor([1], dtype=t.uint32), t.tensor([1], dtype=t.uint32)),
    ],
)  # fmt: skip
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call)
