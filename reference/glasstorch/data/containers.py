"""How is a container rebuilt with other values in it?

Mirrors: torch/utils/data/_utils/collate.py, torch/utils/data/_utils/pin_memory.py
Differs: one place for what collating, converting and pinning have in common.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, MutableMapping, MutableSequence, Sequence
from typing import Any


def with_values(like: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    """A mapping of the same type with these values; a dict if the type does not allow that.

    One that can be changed is copied and updated, so that attributes of its own are kept.
    """
    try:
        if isinstance(like, MutableMapping):
            clone: Any = copy.copy(like)
            clone.update(values)
            return clone
        return type(like)(values)  # type: ignore[call-arg]
    except TypeError:
        return values


def with_items(like: Sequence[Any], items: Iterable[Any]) -> Any:
    """A sequence of the same type with these items; a list if the type does not allow that, as that of `range`."""
    found = list(items)
    try:
        if isinstance(like, MutableSequence):
            clone: Any = copy.copy(like)
            for place, item in enumerate(found):
                clone[place] = item
            return clone
        return type(like)(found)  # type: ignore[call-arg]
    except TypeError:
        return found


def is_named_tuple(value: object) -> bool:
    """Whether a value is a tuple whose fields have names."""
    return isinstance(value, tuple) and hasattr(value, "_fields")
