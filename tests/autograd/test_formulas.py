"""Which value does a derivative take where there is none, or more than one?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

INF, NAN = math.inf, math.nan

# Values, function, gradient of the sum.
CONVENTIONS: dict[str, tuple[list[float], Callable[[Any, Any], Any], list[float]]] = {
    "relu at 0": ([0.0], lambda t, x: t.relu(x), [0.0]),
    "abs at 0": ([0.0, -2.0], lambda t, x: t.abs(x), [0.0, -1.0]),
    "amax, ties": ([1.0, 1.0, 0.0], lambda t, x: x.amax(), [0.5, 0.5, 0.0]),
    "amax over a dimension, ties": ([1.0, 1.0, 0.0], lambda t, x: x.amax(0), [0.5, 0.5, 0.0]),
    "amin, ties": ([1.0, 0.0, 0.0], lambda t, x: x.amin(), [0.0, 0.5, 0.5]),
    "max of all, ties": ([1.0, 1.0, 0.0], lambda t, x: x.max(), [0.5, 0.5, 0.0]),
    "max over a dimension, ties": ([1.0, 1.0, 0.0], lambda t, x: x.max(0).values, [1.0, 0.0, 0.0]),
    "maximum, a tie": ([1.0, 1.0], lambda t, x: t.maximum(x[0], x[1]), [0.5, 0.5]),
    "minimum, a tie": ([1.0, 1.0], lambda t, x: t.minimum(x[0], x[1]), [0.5, 0.5]),
    "clamp at its bounds": ([0.0, 1.0, 2.0], lambda t, x: x.clamp(0, 1), [1.0, 1.0, 0.0]),
    "clamp with one bound": ([0.0, -1.0], lambda t, x: x.clamp(min=0), [1.0, 0.0]),
    "sqrt at 0": ([0.0], lambda t, x: t.sqrt(x), [INF]),
    "x ** 0 at 0": ([0.0], lambda t, x: x**0, [0.0]),
    "x ** 2 at 0": ([0.0], lambda t, x: x**2, [0.0]),
    "0 ** x at 0 and 1": ([0.0, 1.0], lambda t, x: t.pow(0.0, x), [0.0, 0.0]),
    "tensor power, base 0": ([0.0, 2.0], lambda t, x: t.pow(x[0], x[1]), [0.0, 0.0]),
    "where does not stop a NaN": ([0.0, 1.0], lambda t, x: t.where(x > 0, x.log(), t.zeros_like(x)), [NAN, 1.0]),
    "log at 0": ([0.0], lambda t, x: t.log(x), [INF]),
    "1 / 0": ([0.0], lambda t, x: 1 / x, [-INF]),
    "a sum of nothing": ([1.0], lambda t, x: x[1:].sum(), [0.0]),
    "a masked element": ([1.0, 2.0], lambda t, x: x.masked_fill(x > 1, 5.0), [1.0, 0.0]),
    "an element that is picked twice": ([1.0, 2.0], lambda t, x: x[[0, 0, 1]], [2.0, 1.0]),
}


@pytest.mark.parametrize("case", CONVENTIONS)
def test_the_convention_is_pytorchs(torch: Any, case: str) -> None:
    values, function, wanted = CONVENTIONS[case]
    x = torch.tensor(values, requires_grad=True)
    (gradient,) = torch.autograd.grad(function(torch, x).sum(), x)
    assert str(gradient.tolist()) == str(wanted)  # as text: NaN does not equal itself
