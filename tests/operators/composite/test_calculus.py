"""Are integrals and derivatives of samples PyTorch's, of few samples and none too, and refused in its words?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]


def test_the_integral_of_a_line_is_exact() -> None:
    x = glasstorch.tensor([0.0, 1.0, 3.0])
    assert glasstorch.trapezoid(2 * x, x).item() == 9
    assert glasstorch.cumulative_trapezoid(2 * x, x).tolist() == [1, 9]
    assert glasstorch.trapezoid(x, dx=2).item() == 5
    assert glasstorch.trapz(glasstorch.tensor([1, 2, 4])).item() == 4.5


def test_the_integral_over_no_samples_is_0() -> None:
    y = glasstorch.zeros(2, 0)
    assert glasstorch.trapezoid(y).tolist() == [0, 0]
    assert glasstorch.trapezoid(y, glasstorch.zeros(0)).tolist() == [0, 0]
    assert glasstorch.trapezoid(y, dim=0).tolist() == []


@pytest.mark.parametrize(("y", "x", "dim"), [((2, 3), (2, 3), 1), ((4, 2, 3), (2, 3), 1), ((2, 3), (1, 3), -1)])
def test_places_of_several_dimensions_broadcast_as_in_pytorch(require: Require, y: Any, x: Any, dim: int) -> None:
    random = np.random.default_rng(0)
    samples, places = random.normal(size=y), random.normal(size=x)
    for name in ("trapezoid", "cumulative_trapezoid"):
        ours, theirs = (
            getattr(library, name)(library.from_numpy(samples), library.from_numpy(places), dim=dim).numpy()
            for library in (glasstorch, require("torch"))
        )
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("edge_order", [1, 2])
def test_the_derivative_of_a_parabola_is_exact_inside_and_of_second_order_at_the_edges(edge_order: int) -> None:
    x = glasstorch.tensor([0.0, 1.0, 1.5, 3.0], dtype=glasstorch.float64)
    (slope,) = glasstorch.gradient(x * x, spacing=(x,), edge_order=edge_order)
    np.testing.assert_allclose(slope.numpy()[1:-1], 2 * x.numpy()[1:-1])
    assert np.allclose(slope.numpy(), 2 * x.numpy()) is (edge_order == 2)
    (even,) = glasstorch.gradient(x, spacing=0.5)
    np.testing.assert_allclose(even.numpy(), [2, 1.5, 2, 3])


def test_a_gradient_over_no_dimension_is_empty() -> None:
    assert glasstorch.gradient(glasstorch.tensor(1.0)) == ()
    assert glasstorch.gradient(glasstorch.ones(2), dim=[]) == ()


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.trapezoid(t.ones(3), t.ones(4)), lambda t: t.trapezoid(t.ones(3), dx=True),
        lambda t: t.trapezoid(t.ones(3) > 0), lambda t: t.trapezoid(t.ones(3), t.ones(3) > 0),
        lambda t: t.trapezoid(t.tensor(1.0)), lambda t: t.trapezoid(t.tensor(1.0), t.ones(1)),
        lambda t: t.trapezoid(t.ones(3), dim=1),
        lambda t: t.cumulative_trapezoid(t.ones(3), t.ones(2, 3)), lambda t: t.trapezoid(t.ones(3), t.ones(2, 3)),
        lambda t: t.cumulative_trapezoid(t.ones(3), t.ones(4)), lambda t: t.cumulative_trapezoid(t.ones(3), dx=1j),
        lambda t: t.cumulative_trapezoid(t.ones(3) > 0, t.ones(3)),
        lambda t: t.cumulative_trapezoid(t.tensor(1.0)),
        lambda t: t.gradient(t.ones(3, dtype=t.uint8)), lambda t: t.gradient(t.ones(3, 3), spacing=[1.0]),
        lambda t: t.gradient(t.ones(3, 3), spacing=[1.0, 2.0], dim=[0]),
        lambda t: t.gradient(t.ones(3, 3), edge_order=3), lambda t: t.gradient(t.ones(3, 2), edge_order=2),
        lambda t: t.gradient(t.ones(3, 3), spacing=1.0, dim=[0, 0]), lambda t: t.gradient(t.ones(3), dim=1),
        lambda t: t.gradient(t.ones(3), spacing=[t.ones(3, 1)]),
        lambda t: t.gradient(t.ones(3), spacing=[t.ones(3, device="meta")]),
    ],
)  # fmt: skip
def test_a_refusal_has_pytorchs_class_and_words(require: Require, call: Callable[[Any], Any]) -> None:
    same_refusal(require("torch"), call)
