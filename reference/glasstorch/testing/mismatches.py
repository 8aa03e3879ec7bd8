"""What is said of values that differ by too much?

Mirrors: torch/testing/_comparison.py (_make_mismatch_msg, make_scalar_mismatch_msg, make_tensor_mismatch_msg)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import int64
from glasstorch.operators.generated import functions as f


def of_numbers(actual: Any, expected: Any, rtol: float, atol: float) -> str:
    """What is said of two numbers."""
    difference = abs(actual - expected)
    relative = float("inf") if expected == 0 else difference / abs(expected)
    head = f"Expected {expected} but got {actual}."
    return _message("Scalars", head, (difference, None), (relative, None), rtol, atol)


def of_tensors(
    actual: Tensor, expected: Tensor, matches: Tensor, rtol: float, atol: float, what: str = "Tensor-likes"
) -> str:
    """What is said of two tensors, or of parts of them: how many elements differ, and where most."""
    count = matches.numel()
    wrong = count - int(f.sum(matches))
    head = f"Mismatched elements: {wrong} / {count} ({wrong / count:.1%})"
    if is_tiny(actual):
        first = tuple(f.nonzero(~matches)[0].tolist())
        return f"{what} are not 'equal'!\n\n{head}\nThe first mismatched element is at index {first}."
    if not actual.is_floating_point() and not actual.is_complex():
        actual, expected = actual.to(int64), expected.to(int64)
    difference = f.abs(actual - expected).masked_fill(matches, 0)
    relative = (difference / f.abs(expected)).masked_fill(matches, 0)
    return _message(what, head, _greatest(difference), _greatest(relative), rtol, atol)


def is_tiny(tensor: Tensor) -> bool:
    """Whether the elements are floats of eight bits, which are compared bit by bit."""
    return tensor.is_floating_point() and tensor.dtype.itemsize == 1


def _greatest(tensor: Tensor) -> tuple[Any, tuple[int, ...]]:
    """The largest element and its index."""
    value, place = f.max(tensor.flatten(), 0)
    return value.item(), tuple(int(i) for i in np.unravel_index(int(place), tuple(tensor.shape)))


def _message(
    what: str,
    head: str,
    absolute: tuple[Any, tuple[int, ...] | None],
    relative: tuple[Any, tuple[int, ...] | None],
    rtol: float,
    atol: float,
) -> str:
    equality = rtol == 0 and atol == 0
    lines = [f"{what} are not {'equal' if equality else 'close'}!", "", head]
    for kind, (difference, index), tolerance in (("absolute", absolute, atol), ("relative", relative, rtol)):
        if index is None:
            line = f"{kind.title()} difference: {difference}"
        else:
            line = f"Greatest {kind} difference: {difference} at index {index}"
        lines.append(line if equality else f"{line} (up to {tolerance} allowed)")
    return "\n".join(lines)
