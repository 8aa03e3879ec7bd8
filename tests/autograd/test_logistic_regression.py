"""Does logistic regression learn what NumPy learns, number for number, and leave nothing behind?"""

from __future__ import annotations

import gc
from typing import Any

import numpy as np

import glasstorch

STEPS, RATE = 30, 0.5


def data() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Points of four coordinates, and 1 for those above a plane; the same in every run."""
    draw = np.random.default_rng(42)
    points = draw.normal(size=(64, 4))
    return points, (points @ np.array([1.0, -2.0, 0.5, 3.0]) > 0.3).astype(np.float64)


def learned_by_numpy() -> tuple[Any, Any]:
    """The losses and the weights after training, the derivative written by hand."""
    points, labels = data()
    weight, losses = np.zeros(4), []
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-points @ weight))
        losses.append(((chance - labels) ** 2).mean())
        slope = 2 * (chance - labels) / labels.size * chance * (1 - chance)
        weight = weight - RATE * slope @ points
    return losses, weight


def test_logistic_regression_learns_what_numpy_learns() -> None:
    points, labels = (glasstorch.tensor(array) for array in data())
    weight = glasstorch.zeros(4, dtype=glasstorch.float64, requires_grad=True)
    losses = []
    for _ in range(STEPS):
        loss = ((glasstorch.sigmoid(points @ weight) - labels) ** 2).mean()
        losses.append(loss.item())
        loss.backward()
        with glasstorch.no_grad():
            weight -= RATE * weight.grad
        weight.grad = None
    expected_losses, expected_weight = learned_by_numpy()
    np.testing.assert_allclose(losses, expected_losses, rtol=1e-12)
    np.testing.assert_allclose(weight.tolist(), expected_weight, rtol=1e-12)
    with glasstorch.no_grad():
        right = (glasstorch.sigmoid(points @ weight) > 0.5).double() == labels
    assert right.double().mean().item() > 0.9


def test_a_step_of_logistic_regression_leaves_no_cycle() -> None:
    points, _ = (glasstorch.tensor(array) for array in data())
    weight = glasstorch.zeros(4, dtype=glasstorch.float64, requires_grad=True)
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            glasstorch.sigmoid(points @ weight).sum().backward()
            glasstorch.sigmoid(points @ weight)  # never walked
        assert gc.collect() == 0
    finally:
        gc.enable()
