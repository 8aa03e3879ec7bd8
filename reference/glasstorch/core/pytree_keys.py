"""How is a leaf of nested containers found again?

Mirrors: torch/utils/_pytree.py (SequenceKey, MappingKey, GetAttrKey, keystr, key_get)
"""

from __future__ import annotations

import dataclasses
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True)
class SequenceKey(Generic[T]):
    """The place of a child in a sequence."""

    idx: int

    def __str__(self) -> str:
        return f"[{self.idx!r}]"

    def get(self, sequence: Any) -> Any:
        """The child."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True, slots=True)
class MappingKey(Generic[T]):
    """The key of a child in a mapping."""

    key: T

    def __str__(self) -> str:
        return f"[{self.key!r}]"

    def get(self, mapping: Any) -> Any:
        """The child."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True, slots=True)
class GetAttrKey:
    """The name of a child that is an attribute."""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"

    def get(self, obj: Any) -> Any:
        """The child."""
        return getattr(obj, self.name)


KeyPath = tuple[Any, ...]


def keystr(kp: KeyPath) -> str:
    """A path as it is written in Python, from the root on.

    >>> keystr((MappingKey("a"), SequenceKey(1), GetAttrKey("x")))
    "['a'][1].x"
    """
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What lies at the end of a path."""
    for key in kp:
        obj = key.get(obj)
    return obj
