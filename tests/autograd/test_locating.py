"""Is a place found from distances as NumPy finds it, number for number, and is nothing left behind?

The distances are measured at the points of a grid: a row of differences and a column of differences are broadcast.
"""

from __future__ import annotations

import gc
from typing import Any

import numpy as np

import glasstorch

STEPS, RATE = 30, 0.4
PLACE = (0.7, -1.3)


def data() -> tuple[np.ndarray[Any, Any], ...]:
    """The coordinates of the grid, (1, 5) and (4, 1), and the distances from the place that is looked for."""
    draw = np.random.default_rng(42)
    columns, rows = draw.normal(scale=3, size=(1, 5)), draw.normal(scale=3, size=(4, 1))
    return columns, rows, np.hypot(columns - PLACE[0], rows - PLACE[1])


def found_by_numpy() -> list[Any]:
    """The losses and the place after the search, every derivative written by hand."""
    columns, rows, measured = data()
    x = y = 0.0
    losses = []
    for _ in range(STEPS):
        across, along = x - columns, y - rows
        distances = np.sqrt(across**2 + along**2)
        error = distances - measured
        losses.append((error**2).mean())
        grad = 2 * error / error.size
        x, y = x - RATE * (grad * across / distances).sum(), y - RATE * (grad * along / distances).sum()
    return [losses, x, y]


def test_a_place_is_found_as_numpy_finds_it() -> None:
    columns, rows, measured = (glasstorch.tensor(array) for array in data())
    x = glasstorch.tensor(0.0, dtype=glasstorch.float64, requires_grad=True)
    y = glasstorch.tensor(0.0, dtype=glasstorch.float64, requires_grad=True)
    losses = []
    for _ in range(STEPS):
        loss = ((glasstorch.hypot(x - columns, y - rows) - measured) ** 2).mean()
        losses.append(loss.item())
        loss.backward()
        with glasstorch.no_grad():
            x -= RATE * x.grad
            y -= RATE * y.grad
        x.grad = y.grad = None
    for came, right in zip([losses, x.item(), y.item()], found_by_numpy(), strict=True):
        np.testing.assert_allclose(came, right, rtol=1e-10)
    np.testing.assert_allclose([x.item(), y.item()], PLACE, atol=1e-2)


def test_a_coordinate_that_is_known_may_be_changed_after_its_distances_were_computed() -> None:
    columns, rows, _ = (glasstorch.tensor(array) for array in data())
    x = glasstorch.tensor(0.5, dtype=glasstorch.float64, requires_grad=True)
    known = 2.0 - rows
    distances = glasstorch.hypot(x - columns, known)
    expected = ((0.5 - columns) / distances.detach()).sum().item()
    known.zero_()  # only the gradient of the other argument is wanted, and its formula does not need this one
    distances.sum().backward()
    np.testing.assert_allclose(x.grad.item(), expected, rtol=1e-12)


def test_distances_have_second_derivatives() -> None:
    columns, rows, _ = (glasstorch.tensor(array) for array in data())
    arguments = (columns.requires_grad_(), rows.requires_grad_())
    assert glasstorch.autograd.gradgradcheck(glasstorch.hypot, arguments)


def test_a_step_of_the_search_leaves_no_cycle() -> None:
    columns, rows, _ = (glasstorch.tensor(array) for array in data())
    x = glasstorch.tensor(0.5, dtype=glasstorch.float64, requires_grad=True)
    gc.collect()
    gc.disable()
    try:
        for _ in range(5):
            glasstorch.hypot(x - columns, x - rows).sum().backward()
            glasstorch.hypot(x - columns, x - rows)  # never walked
        assert gc.collect() == 0
    finally:
        gc.enable()
