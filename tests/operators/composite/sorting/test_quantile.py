"""Are quantiles PyTorch's: every interpolation, NaN, sizes and strides, gradients of both, refusals?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.autograd import gradcheck

Require = Callable[[str], Any]
NAN = float("nan")
DATA = [[3.0, 1.0, NAN, 4.0], [1.0, 5.0, 9.0, 2.0], [NAN, NAN, NAN, NAN]]


@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
@pytest.mark.parametrize("interpolation", ["linear", "lower", "higher", "midpoint", "nearest"])
@pytest.mark.parametrize("shares", [0.0, 0.4, 1.0, [0.3, 0.75], []])
@pytest.mark.parametrize("dim", [None, 0, -1])
@pytest.mark.parametrize("keepdim", [False, True])
def test_values_sizes_and_strides(
    require: Require, name: str, interpolation: str, shares: Any, dim: int | None, keepdim: bool
) -> None:
    found = []
    for t in (glasstorch, require("torch")):
        q = t.tensor(shares) if isinstance(shares, list) else shares
        result = getattr(t.tensor(DATA), name)(q, dim, keepdim, interpolation=interpolation)
        found.append((tuple(result.shape), result.numpy()))
    assert found[0][0] == found[1][0]
    np.testing.assert_allclose(found[0][1], found[1][1], 1e-6)


def test_gradients_of_the_elements_and_of_the_shares() -> None:
    x = glasstorch.tensor(np.random.default_rng(1).permutation(10).reshape(2, 5) / 3.0, requires_grad=True)
    q = glasstorch.tensor([0.15, 0.6], dtype=glasstorch.float64, requires_grad=True)
    for dim in (None, 0, 1):
        assert gradcheck(lambda x, q, dim=dim: glasstorch.quantile(x, q, dim), (x, q))


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda t: t.quantile(t.ones(3), 1.5), r"q must be in the range \[0, 1\] but got 1.5"),
        (lambda t: t.quantile(t.ones(3), t.tensor([NAN])), r"q values must be in the range \[0, 1\]"),
        (lambda t: t.quantile(t.ones(3), 0.5, interpolation="cubic"), "interpolation must be one of .* got cubic"),
        (lambda t: t.quantile(t.ones(3).half(), 0.5), "must be either float or double dtype"),
        (lambda t: t.quantile(t.ones(3), t.ones(1, 1)), "q must be a scalar or 1D tensor"),
        (lambda t: t.quantile(t.ones(0), 0.5), "input tensor must be non-empty"),
        (lambda t: t.quantile(t.ones(3), t.tensor(0.5).double()), "q tensor must be same dtype"),
        (lambda t: t.nanquantile(t.ones(3), -1.0), r"quantile\(\) q must be in the range"),
    ],
)
def test_both_refuse_in_the_same_words(require: Require, ask: Callable[[Any], Any], words: str) -> None:
    for t in (glasstorch, require("torch")):
        with pytest.raises(RuntimeError, match=words):
            ask(t)
