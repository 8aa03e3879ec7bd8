"""What stands for a number that is not known yet, or is not one number?

Mirrors: torch/__init__.py (SymInt, SymFloat, SymBool), c10/core/SymNodeImpl.h, torch/csrc/utils/python_symnode.h
Differs: an operator asks the node for the result at once; PyTorch's wrap the other operand in a node first.

A symbol has a node, which knows what it can be computed with. Nodes are made where symbols come from: those of ragged
sizes in nested/_internal/nested_int.py, those of sizes that a compiler does not know yet in
fx/experimental/_symbols/node.py. No node is made here, and sympy is not needed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Self

Binary = Callable[[Any, Any], Any]
Unary = Callable[[Any], Any]


def _binary(method: str) -> Binary:
    return lambda self, other: self.node.binary(method, self, other)


def _reflected(method: str) -> Binary:
    return lambda self, other: self.node.binary(method, other, self)


def _unary(method: str) -> Unary:
    return lambda self: self.node.unary(method)


class _Symbol:
    """A symbol: whatever a program does with it is asked of its node."""

    __slots__ = ("node",)

    node: Any

    def __init__(self, node: Any = None) -> None:
        if not hasattr(node, "binary"):
            raise TypeError(
                f"{type(self).__name__}: a symbol is made by a ShapeEnv (create_symintnode), which gives it its node; "
                f"{node!r} is none"
            )
        self.node = node

    __eq__ = _binary("eq")
    __ne__ = _binary("ne")

    def __bool__(self) -> bool:
        return bool(self.node.truth())

    def __hash__(self) -> int:
        return hash(self.node.hash_key())

    def __repr__(self) -> str:
        return str(self.node)

    def __deepcopy__(self, memo: object) -> Self:
        return self  # it is a value, and its node belongs to one environment


class _Number(_Symbol):
    """A symbol that Python's arithmetic can be done with."""

    __slots__ = ()

    __ge__ = _binary("ge")
    __gt__ = _binary("gt")
    __le__ = _binary("le")
    __lt__ = _binary("lt")
    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("sub"), _reflected("sub")
    __mul__, __rmul__ = _binary("mul"), _reflected("mul")
    __truediv__, __rtruediv__ = _binary("truediv"), _reflected("truediv")
    __floordiv__, __rfloordiv__ = _binary("floordiv"), _reflected("floordiv")
    __mod__, __rmod__ = _binary("mod"), _reflected("mod")
    __pow__, __rpow__ = _binary("pow"), _reflected("pow")
    __neg__ = _unary("neg")
    __abs__ = _unary("abs")
    __floor__ = _unary("floor")
    __ceil__ = _unary("ceil")
    __trunc__ = _unary("trunc")
    __sym_float__ = _unary("sym_float")
    __sym_max__ = _binary("sym_max")
    __sym_min__ = _binary("sym_min")

    def __pos__(self) -> Self:
        return self

    def __round__(self, digits: int | None = None) -> Any:
        return self.node.unary("round") if digits is None else self.node.binary("round_decimal", self, digits)

    # The class is compared by its node, which `__eq__` above hands to; Python drops `__hash__` beside an `__eq__`.
    __hash__ = _Symbol.__hash__


class SymInt(_Number):
    """An int that is not one number: the node says what it can be compared with, and what it is called.

    It is no `int`. Where a number is needed, a symbol that has a hint becomes that number, and a guard is noted.
    """

    __slots__ = ()

    __and__, __rand__ = _binary("bitwise_and"), _reflected("bitwise_and")
    __or__, __ror__ = _binary("bitwise_or"), _reflected("bitwise_or")
    __xor__, __rxor__ = _binary("bitwise_xor"), _reflected("bitwise_xor")
    __lshift__, __rlshift__ = _binary("lshift"), _reflected("lshift")
    __rshift__, __rrshift__ = _binary("rshift"), _reflected("rshift")

    def __int__(self) -> int:
        number: int = self.node.int_()
        return number

    def __index__(self) -> int:
        number: int = self.node.index_()
        return number

    def __sym_int__(self) -> Self:
        return self

    def as_integer_ratio(self) -> tuple[int, int]:
        """The number, which becomes a constant, and 1."""
        return int(self), 1

    def bit_length(self) -> int:
        """How many bits the number has, which becomes a constant."""
        return int(self).bit_length()

    def conjugate(self) -> Self:
        """The number itself."""
        return self


class SymFloat(_Number):
    """A float that a compiler does not know yet."""

    __slots__ = ()

    __sym_int__ = _unary("trunc")

    def __float__(self) -> float:
        number: float = self.node.guard_float("", 0)
        return number

    def __int__(self) -> int:
        return int(float(self))

    def is_integer(self) -> Any:
        """Whether it has no fraction: a condition that is not known yet."""
        return self.node.unary("is_integer")

    def as_integer_ratio(self) -> tuple[int, int]:
        """The float, which becomes a constant, as a fraction."""
        return float(self).as_integer_ratio()

    def hex(self) -> str:
        """The float, which becomes a constant, in hexadecimal."""
        return float(self).hex()

    def conjugate(self) -> Self:
        """The number itself."""
        return self


class SymBool(_Symbol):
    """A condition that a compiler does not know yet; `bool` of it decides it, and notes a guard."""

    __slots__ = ()

    __and__, __rand__ = _binary("and"), _reflected("and")
    __or__, __ror__ = _binary("or"), _reflected("or")
    __sym_not__ = _unary("sym_not")
    __hash__ = _Symbol.__hash__

    def __int__(self) -> int:
        return int(bool(self))

    def __sym_ite__(self, then: Any, otherwise: Any) -> Any:
        return self.node.ite(then, otherwise)


SYMBOLS = (SymInt, SymFloat, SymBool)
NUMBERS = (bool, int, float, complex, *SYMBOLS)


def square_root(number: Any) -> Any:
    """The root of a number or a symbol."""
    return number.__sym_float__().node.unary("sqrt") if isinstance(number, SymInt | SymFloat) else math.sqrt(number)


class SymbolicSizes(tuple[Any, ...]):
    """The sizes of a tensor, among which there are symbols.

    Operators compare sizes as a whole to take a short way where they are equal. That they are is a guard; that they
    are not is none, since the long way is right for equal ones, too, or an error.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, tuple) or len(self) != len(other):
            return False
        pairs = [*zip(self, other, strict=True)]
        return all(_may_be_equal(a, b) for a, b in pairs) and all(a is b or bool(a == b) for a, b in pairs)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = tuple.__hash__


def _may_be_equal(a: Any, b: Any) -> bool:
    first, second = (
        v.node.hint if isinstance(v, SymInt) and v.node.is_symbolic() else None if isinstance(v, SymInt) else v
        for v in (a, b)
    )
    return first is None or second is None or bool(first == second)


def about(number: Any) -> Any:
    """A number, or the one that a symbol stands for in the example: for choices that are right either way."""
    return number.node.hint if is_symbol(number) else number


def surely(condition: Any) -> bool:
    """Whether a condition holds for all numbers that its symbols may stand for. No guard is noted."""
    return bool(condition.node.statically_known_true("", 0)) if is_symbol(condition) else bool(condition)


def is_symbol(value: Any) -> bool:
    """Whether a value is a symbol: of any kind, ragged sizes among them."""
    return isinstance(value, SYMBOLS)


def is_unknown(size: Any) -> bool:
    """Whether a size depends on elements, so that no example of its value is known."""
    return isinstance(size, SymInt) and size.node.is_symbolic() and not size.node.has_hint()


def has_symbols(shape: tuple[Any, ...]) -> bool:
    """Whether there are symbols among sizes, which have no hash then."""
    return any(isinstance(size, SymInt) for size in shape)


def as_sizes(shape: tuple[Any, ...]) -> tuple[Any, ...]:
    """Sizes as a tensor keeps them."""
    return SymbolicSizes(shape) if has_symbols(shape) else shape
