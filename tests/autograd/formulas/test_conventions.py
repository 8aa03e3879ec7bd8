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


# Twice through what shows or shares memory ----------------------------------------------------------------------


def matrix(torch: Any) -> Any:
    """Twelve different numbers, in three rows."""
    return ((torch.arange(12, dtype=torch.float64) + 1) / 10).reshape(3, 4).requires_grad_()


SHOWN: dict[str, Callable[[Any], Any]] = {
    "diagonal": lambda x: x.diagonal(1, 0, 1),
    "diagonal of a transposed": lambda x: x.t().diagonal(-1),
    "unfold, windows apart": lambda x: x.unfold(1, 2, 2),
    "unfold, windows that overlap": lambda x: x.unfold(0, 2, 1),
    "as_strided": lambda x: x.as_strided((2, 2), (4, 1), 1),
    "as_strided that names places twice": lambda x: x.as_strided((3, 2), (1, 1)),
    "as_strided of a transposed": lambda x: x.t().as_strided((2, 2), (1, 3), 2),
    "as_strided of what shares places": lambda x: x[0].expand(3, 4).as_strided((2, 3), (0, 1), 1),
    "as_strided of windows that overlap": lambda x: x[0].unfold(0, 2, 1).as_strided((3,), (1,), 1),
}


@pytest.mark.parametrize("shown", SHOWN.values(), ids=SHOWN.keys())
def test_views_have_second_derivatives(torch: Any, shown: Callable[[Any], Any]) -> None:
    x = matrix(torch)
    assert torch.autograd.gradcheck(lambda x: shown(x).sin(), (x,))
    assert torch.autograd.gradgradcheck(lambda x: shown(x).sin(), (x,))


def test_a_view_read_after_its_base_changed_in_place_has_second_derivatives(torch: Any) -> None:
    def follows(x: Any) -> Any:
        base = x.sin()
        view = base.t()[1:]
        base.mul_(x)
        assert view.grad_fn.name() == "AsStridedBackward0"
        return view.exp()

    x = matrix(torch)
    assert torch.autograd.gradcheck(follows, (x,))
    assert torch.autograd.gradgradcheck(follows, (x,))


@pytest.mark.parametrize("dim", [0, 1, 5])
def test_empty_vectors_joined_along_any_dimension_have_empty_gradients(torch: Any, dim: int) -> None:
    empty = torch.empty(0, requires_grad=True)
    torch.cat([empty, torch.empty(0)], dim).sum().backward()
    assert empty.grad.shape == (0,)
