"""Are NaNs last and equal elements kept in order, as PyTorch does it?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]
NAN = float("nan")


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int8", "uint8", "bool", "uint16"])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("stable", [False, True])
def test_values_and_places_are_pytorchs(require: Require, dtype: str, descending: bool, stable: bool) -> None:
    data = [3, 1, 3, 0, 1, 2] if "float" not in dtype else [3.0, NAN, -1.0, 3.0, NAN, float("inf"), 0.0, -0.0]
    found = []
    for library in (glasstorch, require("torch")):
        x = library.tensor(data, dtype=getattr(library, dtype))
        values, places = library.sort(x, stable=stable, descending=descending)
        found.append((values.to(library.float64).tolist(), places.tolist()))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    assert found[0][1] == found[1][1]


def test_the_result_is_laid_out_as_the_tensor(require: Require) -> None:
    for make in (
        lambda t: t.rand(3, 4).t(),
        lambda t: t.rand(4, 6)[:, ::2],
        lambda t: t.rand(2, 3, 4).permute(1, 2, 0),
    ):
        ours, theirs = (library.sort(make(library), dim=0) for library in (glasstorch, require("torch")))
        assert [r.stride() for r in ours] == [r.stride() for r in theirs]


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_nothing_is_sorted(dim: int, descending: bool, shape: tuple[int, int]) -> None:
    values, places = glasstorch.ones(shape).sort(dim, descending)
    assert tuple(values.shape) == tuple(places.shape) == shape


def test_a_gradient_goes_back_to_where_its_element_stood() -> None:
    x = glasstorch.tensor([3.0, 1.0, 2.0], requires_grad=True)
    values, places = x.sort(descending=True)
    (values * glasstorch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [1, 100, 10]
    assert not places.requires_grad


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.sort(t.tensor([1j])), lambda t: t.sort(t.tensor([1.0]), 2), lambda t: t.argsort(t.tensor([1.0]), 2),
    ],
)  # fmt: skip
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call)
