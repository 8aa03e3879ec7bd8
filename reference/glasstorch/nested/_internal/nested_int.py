"""What is the size of a dimension in which each sequence has a length of its own?

Mirrors: torch/nested/_internal/nested_int.py, aten/src/ATen/core/NestedIntSymNodeImpl.cpp

Such a size is a symbol, `j1`. It equals itself and no number. Two tensors have the same one if they share the tensor of
offsets: so it is known, without a look at any element, that their sequences are of the same lengths.
"""

from __future__ import annotations

from typing import Any

from glasstorch.core.symbols import SymInt

__all__ = ["NestedIntNode"]

INDETERMINATE = "ge: relation is indeterminate"


class NestedIntNode:
    """The number `t_id` of a set of lengths, times a factor."""

    __slots__ = ("coeff", "t_id")

    def __init__(self, t_id: int, coeff: int) -> None:
        self.t_id = t_id
        self.coeff = coeff

    def nested_int(self) -> int:
        """The number of the symbol."""
        return self.t_id

    def nested_int_coeff(self) -> int:
        """The factor."""
        return self.coeff

    def is_nested_int(self) -> bool:
        return True

    def hash_key(self) -> int:
        return self.t_id

    def __repr__(self) -> str:
        return f"j{self.t_id}" if self.coeff == 1 else f"{self.coeff}*j{self.t_id}"

    def mul(self, other: Any) -> NestedIntNode:
        """The symbol times a number."""
        if isinstance(other, SymInt):
            raise ValueError(f"unsupported: {type(other.node)}")
        return NestedIntNode(self.t_id, self.coeff * other)

    def eq(self, other: Any) -> bool:
        node = node_of(other)
        return node is not None and node.t_id == self.t_id and node.coeff == self.coeff

    def ge(self, other: Any) -> bool:
        return _ge(self, other)

    def gt(self, other: Any) -> bool:
        return not _ge(other, self)

    def le(self, other: Any) -> bool:
        return _ge(other, self)

    def lt(self, other: Any) -> bool:
        return not _ge(self, other)


def node_of(value: Any) -> NestedIntNode | None:
    """The node of a symbol; None for a number."""
    if isinstance(value, NestedIntNode):
        return value
    return value.node if isinstance(value, SymInt) else None


def _ge(left: Any, right: Any) -> bool:
    """Whether a symbol or a number is at least another: lengths are taken to be at least 2."""
    a, b = node_of(left), node_of(right)
    if a is not None and b is not None:
        if a.t_id == b.t_id:
            return a.coeff >= b.coeff
    elif a is not None and right <= 2:
        return True
    elif b is not None and left < 2:
        return False
    raise ValueError(INDETERMINATE)


def is_nested_int(value: object) -> bool:
    """Whether a value is the symbol of a ragged size."""
    return isinstance(value, SymInt)
