"""What do layers do to arguments that are one number or several, and to the names in a state dict?

Mirrors: torch/nn/modules/utils.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from glasstorch.core.unknown_names import refuse_unknown_names as _refuse_unknown_names
from glasstorch.nn.functions.tuples import for_each

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """A function that repeats a number `n` times, and makes several numbers a tuple, whatever their count."""

    def parse(x: Any) -> tuple[Any, ...]:
        return for_each(n, x)

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: Sequence[Any], n: int) -> tuple[Any, ...]:
    """The elements from the last to the first, each `n` times: padding as `functional.pad` takes it."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size: Any, defaults: Sequence[int]) -> Any:
    """Sizes with those of `defaults`, counted from its end, in the place of None; a number as it is."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [d if v is None else v for v, d in zip(out_size, defaults[-len(out_size) :], strict=False)]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Remove a prefix, such as `module.`, from the names in a state dict and in its metadata, in place.

    Names with the prefix move to the end.
    """
    _consume(state_dict, prefix, [key for key in state_dict if key.startswith(prefix)])
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is not None:
        whole = prefix.replace(".", "")  # the name of the module that is removed
        _consume(metadata, prefix, [key for key in metadata if key and (key == whole or key.startswith(prefix))])


def _consume(names: dict[str, Any], prefix: str, keys: Iterable[str]) -> None:
    for key in keys:
        names[key[len(prefix) :]] = names.pop(key)


__getattr__ = _refuse_unknown_names(__name__)
