"""What is the size of a dimension in which each sequence has a length of its own?

Mirrors: torch/nested/_internal/nested_int.py, aten/src/ATen/core/NestedIntSymNodeImpl.cpp

Such a size is a symbol, `j1`. It equals itself and no number. Two tensors have the same one if they share the tensor of
offsets: so it is known, without a look at any element, that their sequences are of the same lengths.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from glasstorch.core.errors import ArgumentError
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

    def is_symbolic(self) -> bool:
        """No: nothing is computed with it."""
        return False

    def hash_key(self) -> int:
        return self.t_id

    def __repr__(self) -> str:
        return f"j{self.t_id}" if self.coeff == 1 else f"{self.coeff}*j{self.t_id}"

    def binary(self, method: str, left: Any, right: Any) -> Any:
        """What Python's operator gives for two values, one of which is this symbol: it is compared, or multiplied."""
        if method in COMPARISONS:
            return COMPARISONS[method](left, right)
        if method != "mul":
            return NotImplemented
        other = right if isinstance(left, SymInt) and left.node is self else left
        return SymInt(self) if type(other) is int and other == 1 else SymInt(self.mul(other))

    def unary(self, method: str) -> Any:
        """Refused: there is no such arithmetic of sets of lengths."""
        raise TypeError(f"the ragged size {self} has no {method}")

    def mul(self, other: Any) -> NestedIntNode:
        """The symbol times a number."""
        if isinstance(other, SymInt):
            raise ValueError(f"unsupported: {type(other.node)}")
        return NestedIntNode(self.t_id, self.coeff * other)

    def truth(self) -> bool:
        """Yes: it is not zero."""
        return True

    def int_(self) -> NoReturn:
        """Refused."""
        raise AttributeError(f"'{type(self).__name__}' object has no attribute 'int_'")

    def index_(self) -> NoReturn:
        """Refused where a number is needed."""
        raise ArgumentError(
            f"SymIntArrayRef expected to contain only concrete integers, and {self} is the symbol of one"
        )

    def maybe_as_int(self) -> None:
        """No number."""

    def eq(self, other: Any) -> bool:
        """Whether another is the same symbol with the same factor."""
        return _eq(self, other)


def _eq(left: Any, right: Any) -> bool:
    a, b = node_of(left), node_of(right)
    return a is not None and b is not None and a.t_id == b.t_id and a.coeff == b.coeff


def node_of(value: Any) -> NestedIntNode | None:
    """The node of a symbol; None for a number."""
    if isinstance(value, NestedIntNode):
        return value
    return value.node if isinstance(value, SymInt) and isinstance(value.node, NestedIntNode) else None


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


COMPARISONS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "eq": _eq,
    "ne": lambda left, right: not _eq(left, right),
    "ge": _ge,
    "gt": lambda left, right: not _ge(right, left),
    "le": lambda left, right: _ge(right, left),
    "lt": lambda left, right: not _ge(left, right),
}


def is_nested_int(value: object) -> bool:
    """Whether a value is the symbol of a ragged size."""
    return isinstance(value, SymInt) and isinstance(value.node, NestedIntNode)
