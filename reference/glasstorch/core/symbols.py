"""What stands for a size that is not one number?

Mirrors: torch/__init__.py (SymInt), c10/core/SymNodeImpl.h, torch/csrc/utils/python_symnode.h
Differs: the nodes there are here are those of ragged sizes (nested/_internal/nested_int.py). A number that only a
    compiler does not know yet has none.
"""

from __future__ import annotations

from typing import Any

from glasstorch.core.errors import ArgumentError


class SymInt:
    """An int that is not one number: the node says what it can be compared with, and what it is called.

    It is no `int`: code that needs a number fails at its first use of it as one.
    """

    __slots__ = ("node",)

    def __init__(self, node: Any = None) -> None:
        if not hasattr(node, "nested_int"):
            raise TypeError("SymInt: sizes are ints in glasstorch, nothing is traced with symbols for them")
        self.node = node

    def __eq__(self, other: object) -> bool:
        return bool(self.node.eq(other))

    def __ne__(self, other: object) -> bool:
        return not self.node.eq(other)

    def __ge__(self, other: object) -> bool:
        return bool(self.node.ge(other))

    def __gt__(self, other: object) -> bool:
        return bool(self.node.gt(other))

    def __le__(self, other: object) -> bool:
        return bool(self.node.le(other))

    def __lt__(self, other: object) -> bool:
        return bool(self.node.lt(other))

    def __mul__(self, other: object) -> SymInt:
        return self if type(other) is int and other == 1 else SymInt(self.node.mul(other))

    __rmul__ = __mul__

    def __bool__(self) -> bool:
        return True

    def __hash__(self) -> int:
        return hash(self.node.hash_key())

    def __int__(self) -> int:
        raise AttributeError(f"'{type(self.node).__name__}' object has no attribute 'int_'")

    def __index__(self) -> int:
        raise ArgumentError(
            f"SymIntArrayRef expected to contain only concrete integers, and {self} is the symbol of one"
        )

    def __repr__(self) -> str:
        return str(self.node)
