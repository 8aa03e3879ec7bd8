"""From where does a program get the number that a symbol stands for?

Mirrors: torch/_dynamo/source.py (LocalSource, GlobalSource, AttrSource, GetItemSource, ConstantSource,
    TensorPropertySource), torch/_guards.py (Source)
Differs: a source is the expression that fetches the number. Where the capture of bytecode has sources of its own, they
    become these.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any


class TensorProperty(enum.Enum):
    """What of a tensor a number is."""

    SIZE = 0
    STRIDE = 1
    STORAGE_OFFSET = 2

    def method_name(self) -> str:
        """The method that gives it."""
        return {"SIZE": "size", "STRIDE": "stride", "STORAGE_OFFSET": "storage_offset"}[self.name]


@dataclass(frozen=True)
class Source:
    """An expression that fetches a value, over `L`, a function's arguments, and `G`, its globals."""

    @property
    def name(self) -> str:
        """The expression."""
        raise NotImplementedError(f"{type(self).__name__} has no name")

    def is_ephemeral(self) -> bool:
        """Whether the value is gone when the call is over."""
        return False


@dataclass(frozen=True)
class ConstantSource(Source):
    """A name without a value behind it, as `make_fx` gives its arguments."""

    source_name: str

    @property
    def name(self) -> str:
        return self.source_name


@dataclass(frozen=True)
class ExpressionSource(ConstantSource):
    """Any other expression."""


@dataclass(frozen=True)
class LocalSource(Source):
    """An argument of a function."""

    local_name: str

    @property
    def name(self) -> str:
        return f"L[{self.local_name!r}]"


@dataclass(frozen=True)
class GlobalSource(Source):
    """A global name of a function's module."""

    global_name: str

    @property
    def name(self) -> str:
        return f"G[{self.global_name!r}]"


@dataclass(frozen=True)
class AttrSource(Source):
    """An attribute of what another source fetches."""

    base: Source
    member: str

    @property
    def name(self) -> str:
        return f"{self.base.name}.{self.member}"


@dataclass(frozen=True)
class GetItemSource(Source):
    """An item of what another source fetches."""

    base: Source
    index: Any

    @property
    def name(self) -> str:
        return f"{self.base.name}[{self.index!r}]"


@dataclass(frozen=True)
class TensorPropertySource(Source):
    """A size, a stride or the offset of a tensor that another source fetches."""

    base: Source
    prop: TensorProperty
    idx: int | None = None

    @property
    def name(self) -> str:
        called = f"{self.base.name}.{self.prop.method_name()}()"
        return called if self.idx is None else f"{called}[{self.idx}]"
