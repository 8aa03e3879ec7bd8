"""Do activations draw, refuse and differentiate as PyTorch's, where its database does not look?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from tests.refusals import same_refusal

Require = Callable[[str], Any]
NUMBERS = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize("in_place", [False, True])
def test_rrelu_draws_pytorchs_slopes_for_what_is_not_positive(in_place: bool, dtype: str, require: Require) -> None:
    for shape in ((), (50,), (6, 7)):
        array, found = NUMBERS.standard_normal(shape), []
        for library in (glasstorch, require("torch")):
            x = library.tensor(array.tolist()).to(getattr(library, dtype)).t().requires_grad_()
            library.manual_seed(2)
            y = library.nn.functional.rrelu(x.clone() if in_place else x, 0.1, 0.4, training=True, inplace=in_place)
            y.sum().backward()
            found.append((y.to(library.float64).tolist(), x.grad.tolist(), library.rand(2).tolist()))
        assert found[0] == found[1]


def test_the_noise_of_rrelu_is_written(require: Require) -> None:
    found = []
    for library in (glasstorch, require("torch")):
        x, noise = library.tensor([-1.0, 2.0, 0.0, -3.0]), library.zeros(4)
        library.manual_seed(2)
        library.ops.aten.rrelu_with_noise(x, noise, 0.1, 0.4, True)
        kept = library.full((4,), 7.0)
        library.ops.aten.rrelu_with_noise(x, kept, 0.1, 0.4, False)
        found.append((noise.tolist(), kept.tolist()))
    assert found[0] == found[1]


@pytest.mark.parametrize("hard", [False, True])
def test_gumbel_softmax_draws_as_pytorchs(hard: bool, require: Require) -> None:
    array, found = NUMBERS.standard_normal((5, 4)), []
    for library in (glasstorch, require("torch")):
        x = library.tensor(array.tolist(), requires_grad=True)
        library.manual_seed(4)
        y = library.nn.functional.gumbel_softmax(x, tau=0.7, hard=hard)
        y[:, 0].sum().backward()
        found.append((y.detach().numpy(), x.grad.numpy()))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)


def test_a_hard_gumbel_softmax_is_one_hot_and_has_the_gradient_of_the_soft_one() -> None:
    found = []
    for hard in (False, True):
        x = glasstorch.linspace(-1, 1, 12).view(3, 4).requires_grad_()
        glasstorch.manual_seed(4)
        y = glasstorch.nn.functional.gumbel_softmax(x, tau=0.7, hard=hard, dim=0)
        (y * glasstorch.arange(12).view(3, 4)).sum().backward()
        found.append((y.detach(), x.grad, glasstorch.rand(1)))
    (soft, gradient, after), (one_hot, same, after_too) = found
    assert glasstorch.allclose(one_hot, (soft == soft.amax(0)).float(), atol=1e-6)
    assert glasstorch.allclose(gradient, same)
    assert glasstorch.equal(after, after_too)


IN_PLACE: dict[str, tuple[Any, ...]] = {
    "relu_": (), "selu_": (), "elu_": (0.7,), "celu_": (0.7,), "leaky_relu_": (0.2,), "hardtanh_": (-0.5, 1.5),
    "threshold_": (0.5, 9.0), "rrelu_": (),
}  # fmt: skip


@pytest.mark.parametrize("name", IN_PLACE)
def test_functions_in_place_return_their_input_and_its_gradient(name: str, require: Require) -> None:
    array, found = NUMBERS.standard_normal((3, 4)), []
    for library in (glasstorch, require("torch")):
        x = library.tensor(array.tolist(), requires_grad=True)
        y = x * 1
        assert getattr(library.nn.functional, name)(y, *IN_PLACE[name]) is y
        y.pow(2).sum().backward()
        found.append((y.tolist(), x.grad.tolist(), type(y.grad_fn).__name__))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-6)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-5)


@pytest.mark.parametrize(
    "numbers", [[-3.0, 3.0], [-3.0001, 2.9999, 0.0, -0.0], [float("nan"), float("inf"), -float("inf")]]
)
@pytest.mark.parametrize(
    "name",
    ["hardsigmoid", "hardswish", "silu", "mish", "softplus", "logsigmoid", "hardshrink", "softshrink", "elu", "selu"],
)
def test_corners_and_their_gradients_are_pytorchs(name: str, numbers: list[float], require: Require) -> None:
    found = []
    for library in (glasstorch, require("torch")):
        x = library.tensor(numbers, requires_grad=True)
        y = getattr(library.nn.functional, name)(x)
        y.backward(library.ones_like(y))
        found.append((y.tolist(), x.grad.tolist()))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.nn.functional.gelu(t.ones(2), approximate="erf"),
        lambda t: t.nn.functional.glu(t.ones(3)),
        lambda t: t.nn.functional.glu(t.ones(())),
        lambda t: t.nn.functional.softshrink(t.ones(2), -1.0),
        lambda t: t.nn.functional.hardtanh(t.ones(2), 1.0, -1.0),
        lambda t: t.nn.functional.hardtanh(t.ones(2, dtype=t.bool)),
        lambda t: t.nn.functional.hardtanh(t.ones(2, dtype=t.uint8), -1, 1),
        lambda t: t.nn.functional.celu(t.ones(2), 0.0),
        lambda t: t.nn.functional.rrelu(t.ones(2), 0.5, 0.1),
        lambda t: t.nn.functional.silu(t.ones(2, dtype=t.int64)),
        lambda t: t.nn.functional.elu(t.ones(2, dtype=t.complex64)),
        lambda t: t.nn.functional.prelu(t.ones(2, 3), t.ones(2)),
        lambda t: t.nn.functional.prelu(t.ones(2, 3), t.ones(3, 1)),
        lambda t: t.nn.functional.prelu(t.ones(2, 3), t.ones(3, dtype=t.float64)),
        lambda t: t.nn.functional.leaky_relu(t.ones(2, requires_grad=True) * 1, -0.1, inplace=True).sum().backward(),
        lambda t: t.nn.functional.elu(t.ones(2, requires_grad=True) * 1, -0.1, inplace=True).sum().backward(),
        lambda t: t.ops.aten.rrelu_with_noise(t.ones(2), t.ones(3)),
        lambda t: t.nn.Softmax2d()(t.ones(2, 2)),
        lambda t: t.nn.Hardtanh(2.0, 1.0),
        lambda t: t.nn.Dropout(1.5),
    ],
)
def test_refusals_are_pytorchs(call: Callable[[Any], Any], require: Require) -> None:
    same_refusal(require("torch"), call)


def test_hardtanh_of_integers_has_whole_bounds(require: Require) -> None:
    found = [
        library.nn.functional.hardtanh(library.arange(-3, 4), -1.7, 2.9).tolist()
        for library in (glasstorch, require("torch"))
    ]
    assert found[0] == found[1]
