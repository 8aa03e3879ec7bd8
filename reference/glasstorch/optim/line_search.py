"""How far does a line search go along a direction?

Mirrors: torch/optim/lbfgs.py (_cubic_interpolate, _strong_wolfe)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from glasstorch._tensor import Tensor


class Point(NamedTuple):
    """A step size with the loss, the gradient and the slope along the direction there."""

    size: Any
    loss: Any
    grad: Tensor
    slope: Any


def cubic_interpolate(a: Point, b: Point, bounds: tuple[Any, Any] | None = None) -> Any:
    """Where the cubic through two points, with their slopes, is smallest; within bounds, or else between both."""
    if bounds is None:
        bounds = (a.size, b.size) if a.size <= b.size else (b.size, a.size)
    least, most = bounds
    mean = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.size - b.size)
    square = mean**2 - a.slope * b.slope
    if square < 0:
        return (least + most) / 2.0
    root = square.sqrt()
    if a.size > b.size:
        a, b = b, a
    place = b.size - (b.size - a.size) * ((b.slope + root - mean) / (b.slope - a.slope + 2 * root))
    return min(max(place, least), most)


def strong_wolfe(
    evaluated: Callable[[Any], tuple[float, Tensor]],
    size: Any,
    direction: Tensor,
    loss: float,
    grad: Tensor,
    slope: Tensor,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Tensor, Any, int]:
    """Loss, gradient and size of a step that satisfies the strong Wolfe conditions, and the number of evaluations.

    The loss has fallen by `c1` of what the slope promised, and the slope is `c2` of what it was. `evaluated` gives the
    loss and the gradient at a step size.
    """

    def at(size: Any) -> Point:
        loss, grad = evaluated(size)
        grad = grad.clone()
        return Point(size, loss, grad, grad.dot(direction))

    def is_flat(point: Point) -> bool:
        return bool(abs(point.slope) <= -c2 * slope)

    start = Point(0, loss, grad.clone(), slope)
    previous, new = start, at(size)
    evaluations, iteration = 1, 0
    bracket = None
    while iteration < max_ls:  # go on until a minimum lies between two points
        if new.loss > loss + c1 * new.size * slope or (iteration > 1 and new.loss >= previous.loss):
            bracket = [previous, new]
            break
        if is_flat(new):
            return new.loss, new.grad, new.size, evaluations
        if new.slope >= 0:
            bracket = [previous, new]
            break
        bounds = new.size + 0.01 * (new.size - previous.size), new.size * 10
        size = cubic_interpolate(previous, new, bounds)
        previous, new = new, at(size)
        evaluations += 1
        iteration += 1
    if bracket is None:
        bracket = [start, new]

    extent = direction.abs().max()
    stalled = False
    low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
    while iteration < max_ls:  # then narrow the bracket
        least, most = sorted((bracket[0].size, bracket[1].size))
        if (most - least) * extent < tolerance_change:
            break
        size = cubic_interpolate(bracket[0], bracket[1])
        margin = 0.1 * (most - least)
        if min(most - size, size - least) < margin:
            # Too near to an end: the second time in a row, or outside, it is moved away from there.
            if stalled or size >= most or size <= least:
                size = most - margin if abs(size - most) < abs(size - least) else least + margin
                stalled = False
            else:
                stalled = True
        else:
            stalled = False
        new = at(size)
        evaluations += 1
        iteration += 1
        if new.loss > loss + c1 * new.size * slope or new.loss >= bracket[low].loss:
            bracket[high] = new
            low, high = (0, 1) if bracket[0].loss <= bracket[1].loss else (1, 0)
            continue
        done = is_flat(new)
        if not done and new.slope * (bracket[high].size - bracket[low].size) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = new
        if done:
            break
    best = bracket[low]
    return best.loss, best.grad, best.size, evaluations
