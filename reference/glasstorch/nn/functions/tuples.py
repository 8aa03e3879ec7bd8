"""How does one number stand for all dimensions?

Mirrors: torch/nn/modules/utils.py (_ntuple, _reverse_repeat_tuple)
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def for_each(dims: int, value: Any) -> tuple[Any, ...]:
    """A number repeated for each dimension; several numbers as a tuple.

    >>> for_each(2, 3), for_each(2, [1, 2])
    ((3, 3), (1, 2))
    """
    return tuple(value) if isinstance(value, Iterable) else (value,) * dims


def on_both_sides(padding: Iterable[int]) -> tuple[int, ...]:
    """Padding for `pad`, which names the last dimension first: each number for both sides.

    >>> on_both_sides((1, 2))
    (2, 2, 1, 1)
    """
    return tuple(zeros for zeros in reversed(tuple(padding)) for _ in range(2))
