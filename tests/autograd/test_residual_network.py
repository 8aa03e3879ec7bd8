"""Does a small residual network with tanh learn what NumPy learns, number for number?

A residual connection sends one gradient along two edges: whoever writes into it spoils the other path.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import glasstorch

STEPS, RATE = 20, 0.1


def data() -> tuple[np.ndarray[Any, Any], ...]:
    """Inputs, targets and two matrices of weights, the same in every run."""
    draw = np.random.default_rng(41)
    return draw.normal(size=(16, 3)), draw.normal(size=(16, 3)), draw.normal(size=(3, 3)), draw.normal(size=(3, 3))


def learned_by_numpy() -> list[Any]:
    """The losses and the weights after training, every derivative written by hand."""
    x, target, first, second = data()
    losses = []
    for _ in range(STEPS):
        inner = np.tanh(x @ first)
        middle = x + inner
        outer = np.tanh(middle @ second)
        error = middle + outer - target
        losses.append((error**2).mean())
        grad = 2 * error / error.size
        grad_outer = grad * (1 - outer**2)
        grad_inner = (grad + grad_outer @ second.T) * (1 - inner**2)
        first, second = first - RATE * x.T @ grad_inner, second - RATE * middle.T @ grad_outer
    return [losses, first, second]


def test_a_residual_network_learns_what_numpy_learns() -> None:
    x, target, first, second = (glasstorch.tensor(array) for array in data())
    weights = [first.requires_grad_(), second.requires_grad_()]
    losses = []
    for _ in range(STEPS):
        middle = x + glasstorch.tanh(x @ first)
        error = middle + glasstorch.tanh(middle @ second) - target
        loss = (error**2).mean()
        losses.append(loss.item())
        for weight, gradient in zip(weights, glasstorch.autograd.grad(loss, weights), strict=True):
            with glasstorch.no_grad():
                weight -= RATE * gradient
    expected = learned_by_numpy()
    for came, right in zip([losses, first.tolist(), second.tolist()], expected, strict=True):
        np.testing.assert_allclose(came, right, rtol=1e-12)
    assert losses[-1] < losses[0] / 2


def test_a_residual_network_has_second_derivatives() -> None:
    x, _, first, second = (glasstorch.tensor(array) for array in data())

    def network(first: Any, second: Any) -> Any:
        middle = x[:2] + glasstorch.tanh(x[:2] @ first)
        return middle + glasstorch.tanh(middle @ second)

    assert glasstorch.autograd.gradgradcheck(network, (first.requires_grad_(), second.requires_grad_()))
