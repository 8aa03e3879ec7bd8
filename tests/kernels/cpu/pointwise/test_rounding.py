"""Are numbers rounded, signed and stepped as PyTorch does it, at the edges too?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]
EDGES = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 3.7, -3.7, 1e30]
FLOATS = ["float64", "float32", "float16", "bfloat16"]


def both(torch: Any, call: Callable[[Any, Any], Any], dtype: str) -> list[Any]:
    """The answers of both libraries as float64, with their dtypes."""
    found = []
    for library in (glasstorch, torch):
        result = call(library, library.tensor(EDGES, dtype=getattr(library, dtype)))
        found.append((repr(result.dtype), result.to(library.float64).numpy()))
    return found


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    "name",
    ["ceil", "floor", "trunc", "round", "sign", "signbit", "isposinf", "isneginf", "isinf", "isfinite", "square"],
)
def test_the_edges_are_pytorchs(require: Require, name: str, dtype: str) -> None:
    (ours, found), (theirs, wanted) = both(require("torch"), lambda t, x: getattr(t, name)(x), dtype)
    assert ours == theirs
    np.testing.assert_array_equal(found, wanted)
    numbers = ~np.isnan(wanted)  # the sign of what is no number means nothing
    np.testing.assert_array_equal(np.signbit(found[numbers]), np.signbit(wanted[numbers]))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("decimals", [-400, -1, 0, 2, 23, 30, 400])
def test_rounding_to_decimals_is_pytorchs(require: Require, dtype: str, decimals: int) -> None:
    (_, found), (_, wanted) = both(require("torch"), lambda t, x: t.round(x / 3, decimals=decimals), dtype)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["copysign", "fmod", "nextafter"])
def test_two_operands_at_the_edges_are_pytorchs(require: Require, name: str, dtype: str) -> None:
    call = lambda t, x: getattr(t, name)(x.unsqueeze(1), x)  # noqa: E731
    (_, found), (_, wanted) = both(require("torch"), call, dtype)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", ["ceil", "floor", "trunc", "round"])
def test_integers_stay_what_they_are(name: str) -> None:
    for dtype in (glasstorch.int8, glasstorch.uint8, glasstorch.uint16, glasstorch.int64):
        x = glasstorch.tensor([1, 100], dtype=dtype)
        assert getattr(glasstorch, name)(x).tolist() == [1, 100]
        assert getattr(glasstorch, name)(x).dtype is dtype


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.tensor([1, 2]).round(decimals=1), lambda t: t.fmod(t.tensor([1]), 0),
        lambda t: t.fmod(t.tensor([1]), t.tensor([0])), lambda t: t.tensor([True]).ceil(),
        lambda t: t.tensor([True]).round(), lambda t: t.signbit(t.tensor([1.0]), out=t.tensor([1.0])),
        lambda t: t.tensor([1j]).sign(), lambda t: t.tensor([1j]).floor(), lambda t: t.tensor([1j]).round(),
        lambda t: t.tensor([1j]).signbit(), lambda t: t.tensor([1j]).isposinf(), lambda t: t.tensor([1j]).isneginf(),
        lambda t: t.nextafter(t.tensor([1]), t.tensor([2])), lambda t: t.copysign(t.tensor([1j]), 1),
        lambda t: t.tensor([1], dtype=t.uint16).sign(),
    ],
)  # fmt: skip
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call)


@pytest.mark.parametrize("name", ["ceil", "floor", "trunc", "round"])
def test_rounding_of_integers_refuses_an_out_that_overlaps_once_resized(name: str) -> None:
    whole, parts = glasstorch.arange(24).reshape(2, 3, 4), glasstorch.ones(2, 3, 4)
    with pytest.warns(UserWarning, match="was resized"), pytest.raises(RuntimeError, match="elements of the input"):
        getattr(glasstorch, name)(whole, out=whole[..., 1:])
    with pytest.warns(UserWarning, match="was resized"):
        getattr(glasstorch, name)(parts, out=parts[..., 1:])  # PyTorch asks once, before it resizes
    assert getattr(whole, name + "_")() is whole
