"""Are first and second derivatives of pointwise operators PyTorch's, at 0, at ties, at infinity and at NaN?"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import glasstorch

SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.5, -2.5, math.inf, -math.inf, math.nan, 0.5, 3.0)
PAIRS = tuple(zip(*product(SPECIAL, SPECIAL), strict=True))

BINARY: dict[str, Callable[..., Any]] = {
    "add": lambda t, x, y: x + y,
    "sub with alpha": lambda t, x, y: t.sub(x, y, alpha=2.5),
    "rsub": lambda t, x, y: t.rsub(x, y, alpha=3),
    "mul": lambda t, x, y: x * y,
    "div": lambda t, x, y: x / y,
    "div rounded": lambda t, x, y: t.div(x, y, rounding_mode="floor") + x,
    "remainder": lambda t, x, y: t.remainder(x, y),
    "pow": lambda t, x, y: x**y,
    "maximum": lambda t, x, y: t.maximum(x, y),
    "minimum": lambda t, x, y: t.minimum(x, y),
    "where": lambda t, x, y: t.where(x > y, x, y),
    "where with a number": lambda t, x, y: t.where(x > y, x, 0.0) * y,
    "clamp from below": lambda t, x, y: t.clamp(x, y, None),
    "clamp from above": lambda t, x, y: t.clamp(x, None, y),
    "clamp": lambda t, x, y: t.clamp(x, y, y * 2),
    "addcmul": lambda t, x, y: t.addcmul(x, y, x, value=2),
    "addcdiv": lambda t, x, y: t.addcdiv(x, y, x, value=2),
    "lerp": lambda t, x, y: t.lerp(x, y, 0.3),
    "masked_fill": lambda t, x, y: x.masked_fill(y > 0, 2.0) * y,
}
NAMES = ("neg", "abs", "exp", "log", "sqrt", "rsqrt", "reciprocal", "sin", "cos", "tanh", "sigmoid", "relu")
UNARY: dict[str, Callable[..., Any]] = {
    **{name: lambda t, x, name=name: getattr(t, name)(x) for name in NAMES},
    **{f"x ** {n}": lambda t, x, n=n: x**n for n in (0, 1, 2, 3, 0.5, -1, -2, -0.5, 2.5)},
    **{f"{n} ** x": lambda t, x, n=n: t.pow(n, x) for n in (0.0, 1.0, 2.0, -2.0, 0.5)},
    **{
        f"clamp({a}, {b})": lambda t, x, a=a, b=b: t.clamp(x, a, b)
        for a, b in ((0, 1), (None, 0.5), (-1, None), (2, 1))
    },
}


def derivatives(torch: Any, function: Callable[..., Any], inputs: tuple[tuple[float, ...], ...]) -> list[Any]:
    """The value, the first derivatives, and the derivatives of those that depend on anything."""
    x = [torch.tensor(values, dtype=torch.float64, requires_grad=True) for values in inputs]
    result = function(torch, *x)
    weight = torch.tensor([0.5 + 0.1 * i for i in range(len(inputs[0]))], dtype=torch.float64, requires_grad=True)
    first = torch.autograd.grad(result, x, weight, create_graph=True)
    recorded = [gradient for gradient in first if gradient.requires_grad]
    again = [torch.ones_like(gradient) * 1.3 for gradient in recorded]
    second = torch.autograd.grad(recorded, [*x, weight], again, materialize_grads=True) if recorded else ()
    return [t.detach().clone().numpy() for t in (result, *first, *second)]


@pytest.mark.parametrize("name", [*BINARY, *UNARY])
def test_derivatives_at_special_values_are_those_of_torch(name: str, require: Callable[[str], Any]) -> None:
    torch = require("torch")
    function, inputs = (BINARY[name], PAIRS) if name in BINARY else (UNARY[name], (SPECIAL,))
    ours, theirs = (derivatives(library, function, inputs) for library in (glasstorch, torch))
    for order, (found, wanted) in enumerate(zip(ours, theirs, strict=True)):
        np.testing.assert_allclose(found, wanted, rtol=1e-7, equal_nan=True, err_msg=f"result {order}")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_angle_to_a_point_at_the_origin_or_near_it_has_pytorchs_gradient(require: Any, dtype: str) -> None:
    values = (0.0, -0.0, 1e-30, 1e-23, 1e-22, 1e-170, 1.0, math.inf, math.nan)
    y, x = zip(*product(values, values), strict=True)
    found = []
    for library in (glasstorch, require("torch")):
        points = [library.tensor(part, dtype=getattr(library, dtype), requires_grad=True) for part in (y, x)]
        library.atan2(*points).sum().backward()
        found.append(np.stack([part.grad.numpy() for part in points]))
    np.testing.assert_allclose(*found, rtol=1e-6)
    np.testing.assert_array_equal(found[0][:, 0], [0, 0])


@pytest.mark.parametrize("name", ["eq_", "ne_", "lt_", "le_", "gt_", "ge_", "greater_"])
def test_a_comparison_in_place_cuts_the_gradient_of_what_it_overwrites(torch: Any, name: str) -> None:
    x, other = (torch.tensor([2.0, 1.0, 3.0], requires_grad=True) for _ in range(2))
    y = x.clone()
    getattr(y, name)(other)
    getattr(y[1:], name)(1.0)
    y.sum().backward()
    assert (x.grad.tolist(), other.grad.tolist()) == ([0, 0, 0], [0, 0, 0])
    node = name.removesuffix("_").replace("greater", "gt").title()
    assert getattr(x * 1, name)(2).grad_fn.name() == f"{node}Backward0"
    assert getattr(torch.zeros(3), name)(other).requires_grad


def test_the_gradient_of_an_exponent_above_a_negative_number_is_complex_where_it_is(torch: Any) -> None:
    for base in (torch.tensor([-1, 2]), torch.tensor([-1.0, 2.0])):
        exponent = torch.tensor([1 - 2j, 1j], requires_grad=True)
        (base**exponent).abs().sum().backward()
        assert torch.allclose(exponent.grad[0], torch.tensor(-1j * math.pi * math.exp(2 * math.pi)))


def test_nan_to_num_refuses_gradients_of_complex_numbers(torch: Any) -> None:
    x = torch.tensor([1j, math.nan])
    assert torch.nan_to_num(x).tolist() == [1j, 0]
    with pytest.raises(
        RuntimeError, match=r"^nan_to_num does not support automatic differentiation for outputs with c"
    ):
        torch.nan_to_num(x.requires_grad_())


def test_an_unrounded_quotient_of_complex_numbers_has_the_gradients_of_any(torch: Any) -> None:
    x = torch.tensor([1 + 2j, 3 - 1j], requires_grad=True)
    y = torch.tensor([2 - 1j, 1 + 1j], requires_grad=True)
    weight = torch.tensor([1j, 2])
    expected = torch.autograd.grad(x / y, [x, y], weight)
    found = torch.autograd.grad(torch.div(x, y, rounding_mode=None), [x, y], weight)
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other)
