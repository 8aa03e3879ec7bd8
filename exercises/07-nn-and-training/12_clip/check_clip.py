"""Is the norm that of all gradients together, and are they scaled down to the limit, and never up?"""

import math
import random
from collections.abc import Iterable

import glasstorch as torch
from workbook.exercises.asking import Ask, Raises, expect

Rows = list[list[float]]


def drawn(seed: str, size: float) -> Rows:
    """Gradients of three parameters, drawn at random, of about this size."""
    draw = random.Random(f"07.12 {seed}")
    return [[draw.uniform(-size, size) for _ in range(length)] for length in (3, 1, 4)]


def given(rows: Rows) -> list[torch.Tensor]:
    """Parameters with these gradients, and one without."""
    parameters = []
    for row in rows:
        parameter = torch.zeros(len(row), dtype=torch.float64)
        parameter.grad = torch.tensor(row, dtype=torch.float64)
        parameters.append(parameter)
    return [*parameters, torch.zeros(2)]


def of(parameters: Iterable[torch.Tensor]) -> Rows:
    """The gradients, rounded."""
    return [[round(x, 5) for x in one.grad.tolist()] for one in parameters if one.grad is not None]


def norm(rows: Rows, order: float) -> float:
    """The norm of all numbers, by its definition."""
    numbers = [abs(number) for row in rows for number in row]
    if math.isinf(order):
        return max(numbers)
    return float(sum(number**order for number in numbers) ** (1 / order))


def rounded(total: torch.Tensor) -> float:
    """The number in a tensor, rounded."""
    return round(float(total.item()), 5)


def test_the_norm(ask: Ask) -> None:
    """the norm of several gradients, for several orders"""
    rows = drawn("norm", 3)
    for order in (2.0, 1.0, 3.0, math.inf):
        came = ask("clip", given(rows), 0.5, order)
        because = "the gradients count as one vector, and the norm is that before clipping"
        asked = f"the norm of order {order:g} of the gradients {[[round(x, 2) for x in row] for row in rows]}"
        expect(came, round(norm(rows, order), 5), read=rounded, asked=asked, because=because)


def test_gradients_above_the_limit(ask: Ask) -> None:
    """the gradients after a call, if their norm was above the limit"""
    for order in (2.0, 1.0, math.inf):
        rows = drawn("above", 5)
        parameters = given(rows)
        ask("clip", parameters, 0.5, order)
        accepted = [[round(x * 0.5 / norm(rows, order), 5) for x in row] for row in rows]
        because = "all are multiplied by one factor, so that their norm becomes the limit"
        expect(of(parameters), accepted, asked=f"the gradients, clipped to a norm of order {order:g}", because=because)


def test_gradients_below_the_limit(ask: Ask) -> None:
    """the gradients after a call, if their norm was below the limit"""
    for seed in ("small", "smaller"):
        rows = drawn(seed, 0.01)
        parameters = given(rows)
        ask("clip", parameters, 1.0)
        accepted = [[round(x, 5) for x in row] for row in rows]
        because = "their norm is below the limit, so they are not changed"
        expect(of(parameters), accepted, asked="gradients with a norm below the limit", because=because)


def test_kinds_of_parameters(ask: Ask) -> None:
    """the gradients after a call with a generator, and with a single tensor"""
    parameters = given([[3.0], [4.0]])
    ask("clip", (one for one in parameters), 1.0)
    because = "`module.parameters()` is a generator, which yields its elements only once"
    expect(of(parameters), [[0.6], [0.8]], asked="the gradients, after a call with a generator", because=because)
    parameter = given([[6.0, 8.0]])[0]
    ask("clip", parameter, 1.0)
    because = "a tensor is treated as a list of one"
    expect(of([parameter]), [[0.6, 0.8]], asked="the gradient, after a call with a tensor", because=because)


def test_in_place(ask: Ask) -> None:
    """a gradient to which the program holds another reference"""
    parameters = given([[3.0], [4.0]])
    held = parameters[0].grad
    ask("clip", parameters, 1.0)
    expect(
        round(held.item(), 5), 0.6, asked="the tensor that was `grad` before", because="gradients are changed in place"
    )


def test_norms_that_are_not_finite(ask: Ask) -> None:
    """an error for a norm that is infinite or NaN"""
    for bad in (math.inf, math.nan):
        parameters = given([[3.0, 4.0], [bad]])
        came = ask("clip", parameters, 1.0, error_if_nonfinite=True)
        expect(came, Raises(RuntimeError, "non-finite"), because="error_if_nonfinite=True requests an error")
        because = "a program that catches the error continues with these gradients, so they must not be changed"
        expect(of(parameters[:1]), [[3.0, 4.0]], asked="another gradient, after the error", because=because)
