"""How are a tensor's elements laid out?

Mirrors: c10/core/Layout.h, torch/headeronly/core/MemoryFormat.h
Differs: the strided layout only; memory formats are names that factory functions and `contiguous` read.
"""

from __future__ import annotations


class layout:
    """A way to store a tensor; `strided` is the dense one."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class memory_format:
    """An order of dimensions in memory that a new tensor may be asked to have."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


strided = layout("strided")

contiguous_format = memory_format("contiguous_format")
preserve_format = memory_format("preserve_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
