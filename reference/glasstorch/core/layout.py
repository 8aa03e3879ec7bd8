"""How are a tensor's elements laid out?

Mirrors: c10/core/Layout.h, torch/headeronly/core/MemoryFormat.h
Differs: every tensor is strided: the other layouts can be named, and are refused. Memory formats are read by factory
    functions and `contiguous`.
"""

from __future__ import annotations

from typing import Self

from glasstorch.core.errors import ArgumentTypeError


class layout:
    """A way to store a tensor; `strided` is the dense one."""

    __slots__ = ("name",)
    name: str

    def __new__(cls, *_: object, **__: object) -> Self:
        """Refused: the only layout is torch.strided."""
        raise ArgumentTypeError("cannot create 'torch.layout' instances; take torch.strided")

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


class memory_format:
    """An order of dimensions in memory that can be requested for a new tensor."""

    __slots__ = ("name",)
    name: str

    def __new__(cls, *_: object, **__: object) -> Self:
        """Refused: the formats are those of this module."""
        raise ArgumentTypeError(
            "cannot create 'torch.memory_format' instances; take one by its name, as in torch.channels_last"
        )

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


def _layout(name: str) -> layout:
    made = object.__new__(layout)
    made.name = name
    return made


def _format(name: str) -> memory_format:
    made = object.__new__(memory_format)
    made.name = name
    return made


strided = _layout("strided")

# PyTorch's other layouts exist as names, so that asking for one raises a clear error; no tensor has them.
sparse_coo = _layout("sparse_coo")
sparse_csr = _layout("sparse_csr")
sparse_csc = _layout("sparse_csc")
sparse_bsr = _layout("sparse_bsr")
sparse_bsc = _layout("sparse_bsc")
jagged = _layout("jagged")  # of nested tensors

contiguous_format = _format("contiguous_format")
preserve_format = _format("preserve_format")
channels_last = _format("channels_last")
channels_last_3d = _format("channels_last_3d")
