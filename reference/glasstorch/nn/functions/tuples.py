"""How does one number stand for all dimensions?

Mirrors: torch/nn/modules/utils.py (_ntuple, _reverse_repeat_tuple, _list_with_default), torch/_jit_internal.py
    (BroadcastingList1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any


def for_each(dims: int, value: Any) -> tuple[Any, ...]:
    """A number repeated for each dimension; several numbers as a tuple.

    >>> for_each(2, 3), for_each(2, [1, 2])
    ((3, 3), (1, 2))
    """
    return tuple(value) if isinstance(value, Iterable) else (value,) * dims


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """`for_each` as a function of the value, for `n` dimensions."""

    def parse(x: Any) -> tuple[Any, ...]:
        return for_each(n, x)

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def on_both_sides(padding: Iterable[int]) -> tuple[int, ...]:
    """Padding for `pad`, which names the last dimension first: each number for both sides.

    >>> on_both_sides((1, 2))
    (2, 2, 1, 1)
    """
    return _reverse_repeat_tuple(tuple(padding), 2)


def _reverse_repeat_tuple(t: Sequence[Any], n: int) -> tuple[Any, ...]:
    """The elements from the last to the first, each `n` times."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size: Any, defaults: Sequence[int]) -> Any:
    """Sizes with those of `defaults`, counted from its end, in the place of None; a number as it is."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [d if v is None else v for v, d in zip(out_size, defaults[-len(out_size) :], strict=False)]


def assert_int_or_pair(arg: Any, arg_name: str, message: str) -> None:
    """Refuse what is neither a number nor two; `message` has a place for the argument's name."""
    if not (isinstance(arg, int) or len(arg) == 2):
        raise AssertionError(message.format(arg_name))


class BroadcastingListCls:
    """What annotates an argument that is a number or one for each dimension: `BroadcastingList2[int]`."""

    def __getitem__(self, types: Any) -> None:
        return None


BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = BroadcastingListCls()
