"""Which keyword arguments of a layer go to the functions that make its tensors?

Mirrors: torch/nn/__init__.py (factory_kwargs)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAMES = ("device", "dtype", "memory_format")


def factory_kwargs(kwargs: Mapping[str, Any] | None) -> dict[str, Any]:
    """`device`, `dtype` and `memory_format` out of keyword arguments, those in their `factory_kwargs` included.

    TypeError for other names, and for one that is given twice.

    >>> factory_kwargs({"device": "cpu", "factory_kwargs": {"dtype": None}})
    {'dtype': None, 'device': 'cpu'}
    """
    if kwargs is None:
        return {}
    unexpected = kwargs.keys() - {*NAMES, "factory_kwargs"}
    if unexpected:
        raise TypeError(f"unexpected kwargs {unexpected}")
    found = dict(kwargs.get("factory_kwargs", {}))
    for name in NAMES:
        if name in kwargs and name in found:
            raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
        if name in kwargs:
            found[name] = kwargs[name]
    return found
