"""How does a batch move into pinned memory?

Mirrors: torch/utils/data/_utils/pin_memory.py
Differs: the process that iterates pins each batch as it takes it; no thread does so ahead of time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.data.containers import is_named_tuple, with_items, with_values

__all__ = ["pin_memory"]


def pin_memory(data: Any, device: object = None) -> Any:
    """The data with each tensor in it, at any depth, in pinned memory.

    An object that has a method `pin_memory` is replaced by what that returns. `device` has no effect.
    """
    if isinstance(data, Tensor) or hasattr(data, "pin_memory"):
        return data.pin_memory()
    if isinstance(data, str | bytes):
        return data
    if isinstance(data, Mapping):
        return with_values(data, {key: pin_memory(item, device) for key, item in data.items()})
    if is_named_tuple(data):
        return type(data)(*(pin_memory(item, device) for item in data))
    if isinstance(data, tuple):
        return type(data)(pin_memory(item, device) for item in data)
    if isinstance(data, Sequence):
        return with_items(data, (pin_memory(item, device) for item in data))
    return data
