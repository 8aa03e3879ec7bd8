"""Are the numbers behind a table of smooth maxima learned as NumPy learns them, number for number?

Each entry of the table is made of its row's number and its column's number, so that one gradient is summed along the
rows, and the other along the columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import glasstorch

STEPS, RATE = 40, 8.0


def data() -> tuple[np.ndarray[Any, Any], ...]:
    """The table, and the numbers to begin with; the same in every run."""
    draw = np.random.default_rng(41)
    rows, columns = draw.normal(scale=3, size=(6, 1)), draw.normal(scale=3, size=(1, 4))
    return np.logaddexp2(rows, columns), draw.normal(size=(6, 1)), draw.normal(size=(1, 4))


def learned_by_numpy() -> list[Any]:
    """The losses and the numbers after training, every derivative written by hand."""
    table, rows, columns = data()
    losses = []
    for _ in range(STEPS):
        error = np.logaddexp2(rows, columns) - table
        losses.append((error**2).mean())
        of_rows = np.exp2(rows) / (np.exp2(rows) + np.exp2(columns))
        grad = 2 * error / error.size
        grad_rows, grad_columns = (grad * of_rows).sum(1, keepdims=True), (grad * (1 - of_rows)).sum(0, keepdims=True)
        rows, columns = rows - RATE / 6 * grad_rows, columns - RATE / 4 * grad_columns
    return [losses, rows, columns]


def test_a_table_of_smooth_maxima_is_learned_as_numpy_learns_it() -> None:
    table, rows, columns = (glasstorch.tensor(array) for array in data())
    rows.requires_grad_()
    columns.requires_grad_()
    losses = []
    for _ in range(STEPS):
        loss = ((glasstorch.logaddexp2(rows, columns) - table) ** 2).mean()
        losses.append(loss.item())
        loss.backward()
        with glasstorch.no_grad():
            rows -= RATE / 6 * rows.grad
            columns -= RATE / 4 * columns.grad
        rows.grad = columns.grad = None
    expected = learned_by_numpy()
    for came, right in zip([losses, rows.tolist(), columns.tolist()], expected, strict=True):
        np.testing.assert_allclose(came, right, rtol=1e-10)
    assert losses[-1] < losses[0] / 10


def test_a_smooth_maximum_of_numbers_far_apart_sends_the_gradient_to_the_larger_one() -> None:
    rows = glasstorch.tensor([[2000.0], [-3000.0]], requires_grad=True)
    columns = glasstorch.tensor([0.0, 2000.0, 5000.0], requires_grad=True)
    glasstorch.logaddexp2(rows, columns).sum().backward()
    assert rows.grad.tolist() == [[1.5], [0.0]]
    assert columns.grad.tolist() == [1.0, 1.5, 2.0]


def test_a_smooth_maximum_has_second_derivatives() -> None:
    _, rows, columns = (glasstorch.tensor(array) for array in data())
    arguments = (rows.requires_grad_(), columns.requires_grad_())
    assert glasstorch.autograd.gradgradcheck(glasstorch.logaddexp2, arguments)
