"""What are the gradients of special functions where their formulas divide by 0, or have no value?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch

NAN = math.nan


Require = Callable[[str], Any]


def gradient(torch: Any, function: Any, *values: float) -> list[float]:
    x = torch.tensor(values, dtype=torch.float64, requires_grad=True)
    function(x).sum().backward()
    return x.grad.tolist()  # type: ignore[no-any-return]


def test_logit_rises_without_bound_at_both_of_its_ends(torch: Any) -> None:
    np.testing.assert_array_equal(gradient(torch, torch.logit, 0.0, -0.0, 1.0), [np.inf] * 3)


def test_logit_is_flat_beyond_its_bounds_and_has_no_slope_where_it_has_no_value(torch: Any) -> None:
    slope = 1 / (0.3 * 0.7)
    found = gradient(torch, torch.logit, 0.3, -0.1, 1.1)
    np.testing.assert_allclose(found, [slope, NAN, NAN])
    np.testing.assert_allclose(gradient(torch, lambda x: torch.logit(x, 0.2), 0.3, 0.1, 0.9), [slope, 0, 0])


@pytest.mark.parametrize(("name", "edge"), [("xlogy", 0.0), ("xlog1py", -1.0)])
def test_the_gradient_of_nothing_times_a_logarithm_without_value_is_0(torch: Any, name: str, edge: float) -> None:
    function = getattr(torch.special, name)
    beyond = torch.tensor([edge, edge - 1, edge + math.e], dtype=torch.float64)
    np.testing.assert_allclose(gradient(torch, lambda x: function(x, beyond), 0, 0, 0), [0, 0, 1])
    assert gradient(torch, lambda x: function(x, edge), 0) == [0]
    assert gradient(torch, lambda x: function(x, edge), 1) == [-math.inf]
    np.testing.assert_allclose(gradient(torch, lambda x: function(x, edge + math.e), 0, 2), [1, 1])


@pytest.mark.parametrize(("name", "slope"), [("i1", 0.5), ("i1e", 0.5), ("sinc", 0.0)])
def test_slopes_at_0_are_those_that_the_formula_tends_to(torch: Any, name: str, slope: float) -> None:
    function = getattr(torch.special, name)
    assert gradient(torch, function, 0) == [slope]
    assert gradient(torch, function, 1e-4)[0] == pytest.approx(slope, abs=1e-3)


TINY = (0.0, -0.0, 1e-24, -1e-24, 1e-30, 1e-162, 1e-200, 1e-3)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_sinc_is_flat_where_the_divisor_of_its_slope_is_0(require: Require, dtype: str) -> None:
    slopes = []
    for library in (glasstorch, require("torch")):
        values = (*TINY, 1e-30j, 1e-3 - 0.5j) if dtype == "complex128" else TINY
        x = library.tensor(values, dtype=getattr(library, dtype), requires_grad=True)
        library.sinc(x).sum().abs().backward()
        slopes.append(x.grad.resolve_conj().numpy())
    np.testing.assert_allclose(*slopes, rtol=1e-3, atol=1e-7)
    assert np.isfinite(slopes[0]).all()
