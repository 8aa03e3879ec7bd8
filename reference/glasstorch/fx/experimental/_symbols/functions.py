"""Which functions does sympy need to write down Python's arithmetic of ints and floats?

Mirrors: torch/utils/_sympy/functions.py
Differs: only those that sizes meet; `Max` and `Min` are sympy's own.

Sympy computes with rational numbers: its `a / b` is exact, and its `floor` is not told that sizes are ints. Each
function here is one operator of Python. It is evaluated where the arguments are numbers, and simplified where that is
certain.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, ClassVar

import sympy
from sympy.printing.precedence import PRECEDENCE

TIGHT = PRECEDENCE["Atom"] - 0.5  # so that each operand that is not an atom has its own parentheses


class Written(sympy.Function):  # type: ignore[misc]
    """A function of one operator. `computed` gives its value for numbers."""

    computed: ClassVar[Callable[..., Any] | None] = None

    @classmethod
    def eval(cls, *args: Any) -> Any:
        """The value for numbers; None, which leaves the expression as it is, for others."""
        if cls.computed is not None and all(a.is_Number and a.is_finite for a in args):
            return sympy.sympify(cls.computed(*[int(a) if a.is_Integer else float(a) for a in args]))
        return None


class IntValued(Written):
    """A function whose value is an int."""

    is_integer = True


class RealValued(Written):
    """A function whose value is a float."""

    is_real = True


def _is_whole(quotient: Any) -> bool:
    """Whether a quotient is certainly an int: a factor of 1/2 makes sympy's own answer unreliable."""
    return bool(quotient.is_integer) and all(r.q == 1 for r in quotient.atoms(sympy.Rational))


class FloorDiv(sympy.Function):  # type: ignore[misc]
    """Python's `base // divisor`."""

    nargs = (2,)
    precedence = 35
    is_integer = True

    @property
    def base(self) -> Any:
        return self.args[0]

    @property
    def divisor(self) -> Any:
        return self.args[1]

    def _sympystr(self, printer: Any) -> str:
        return f"({printer.parenthesize(self.base, TIGHT)}//{printer.parenthesize(self.divisor, TIGHT)})"

    @classmethod
    def eval(cls, base: Any, divisor: Any) -> Any:
        """The quotient where it is certain: of numbers, of multiples, of terms that are multiples."""
        if divisor.is_zero:
            raise ZeroDivisionError("division by zero")
        if base.is_zero:
            return sympy.S.Zero
        if base.is_integer and divisor in (1, -1):
            return base * divisor
        if base == divisor:
            return sympy.S.One
        if base.is_Integer and divisor.is_Integer:
            return sympy.Integer(int(base) // int(divisor))
        if isinstance(base, FloorDiv):
            return FloorDiv(base.base, base.divisor * divisor)
        if divisor.is_Integer:
            whole = [term for term in sympy.Add.make_args(base) if _is_whole(term / divisor)]
            if whole:
                return FloorDiv(base - sympy.Add(*whole), divisor) + sum(term / divisor for term in whole)
        return cls._by_common_factor(base, divisor)

    @classmethod
    def _by_common_factor(cls, base: Any, divisor: Any) -> Any:
        try:
            factor = sympy.gcd(base, divisor)
        except sympy.PolynomialError:
            return None
        if factor == 1:
            return None
        return FloorDiv(sympy.simplify(base / factor), sympy.simplify(divisor / factor))

    def _eval_is_nonnegative(self) -> bool | None:
        return True if all(a.is_integer and a.is_nonnegative for a in self.args) else None


class CleanDiv(FloorDiv):
    """A division that a guard has shown to leave no remainder."""


def _remainder(p: Any, q: Any) -> Any:
    """The remainder where it is certain; None where it is not."""
    if q.is_zero:
        raise ZeroDivisionError("Modulo by zero")
    if p.is_zero or p in (q, -q) or q == 1:
        return sympy.S.Zero
    if p.is_Number and q.is_Number:
        return p % q
    if q == 2 and p.is_even:
        return sympy.S.Zero
    if q == 2 and p.is_odd:
        return sympy.S.One
    quotient = p / q
    if _is_whole(quotient):
        return sympy.S.Zero
    less = p < q
    return p if less == sympy.true and quotient.is_positive else None


class Mod(sympy.Function):  # type: ignore[misc]
    """`p % q` of numbers that are not negative."""

    nargs = (2,)
    precedence = 35
    is_integer = True
    is_nonnegative = True

    @classmethod
    def eval(cls, p: Any, q: Any) -> Any:
        return _remainder(p, q)


class PythonMod(sympy.Function):  # type: ignore[misc]
    """`p % q` with the sign of `q`."""

    nargs = (2,)
    precedence = 35
    is_integer = True

    @classmethod
    def eval(cls, p: Any, q: Any) -> Any:
        return _remainder(p, q)

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.args[1].is_positive else None


class PowByNatural(sympy.Function):  # type: ignore[misc]
    """`base ** exponent` for an exponent that is not negative."""

    is_integer = True
    precedence = 50

    @classmethod
    def eval(cls, base: Any, exponent: Any) -> Any:
        return sympy.Pow(base, exponent) if exponent.is_Integer else None


class LShift(sympy.Function):  # type: ignore[misc]
    """`base << shift`."""

    is_integer = True

    @classmethod
    def eval(cls, base: Any, shift: Any) -> Any:
        if shift.is_negative:
            raise ValueError("negative shift count")
        return base * PowByNatural(sympy.Integer(2), shift)


class RShift(sympy.Function):  # type: ignore[misc]
    """`base >> shift`."""

    is_integer = True

    @classmethod
    def eval(cls, base: Any, shift: Any) -> Any:
        if shift.is_negative:
            raise ValueError("negative shift count")
        return FloorDiv(base, PowByNatural(sympy.Integer(2), shift))


class IntTrueDiv(RealValued):
    """`a / b` of ints."""

    precedence = 35
    computed = operator.truediv


class FloatTrueDiv(RealValued):
    """`a / b` of floats."""

    precedence = 35
    computed = operator.truediv


class FloatPow(RealValued):
    """`a ** b` of floats."""

    precedence = 60
    computed = staticmethod(lambda a, b: float(a) ** float(b))


class ToFloat(RealValued):
    """An int as a float."""

    computed = float


class CeilToInt(IntValued):
    """`math.ceil`."""

    computed = math.ceil


class FloorToInt(IntValued):
    """`math.floor`."""

    computed = math.floor


class TruncToInt(IntValued):
    """`math.trunc`."""

    computed = math.trunc


class RoundToInt(IntValued):
    """`round` to an int."""

    computed = round


class RoundDecimal(RealValued):
    """`round` to a number of decimals."""

    computed = staticmethod(lambda a, digits: round(float(a), digits))


class BitwiseFn_bitwise_and(IntValued):
    """`a & b`."""

    computed = operator.and_


class BitwiseFn_bitwise_or(IntValued):
    """`a | b`."""

    computed = operator.or_


class BitwiseFn_bitwise_xor(IntValued):
    """`a ^ b`."""

    computed = operator.xor


def greater(*values: Any) -> Any:
    """The greatest of some values; one that is certainly at least a number among them stands for both."""
    least = [v for v in values if v in (0, 1)]
    others = [v for v in values if v not in (0, 1)]
    if len(least) != 1 or len(others) != 1 or not others[0].is_integer:
        return sympy.Max(*values)
    (other,) = others
    return other if (other.is_positive if least[0] == 1 else other.is_nonnegative) else sympy.Max(*values)


def _unary(function: Callable[[float], float]) -> Any:
    name = f"OpaqueUnaryFn_{function.__name__}"
    return type(name, (RealValued,), {"computed": staticmethod(function), "__doc__": f"`math.{function.__name__}`."})


# Functions of floats about which nothing is known but their values.
OPAQUE: dict[Callable[[float], float], Any] = {
    function: _unary(function)
    for function in (
        math.sqrt, math.cos, math.cosh, math.sin, math.sinh, math.tan, math.tanh, math.asin, math.acos, math.atan,
        math.log2,
    )
}  # fmt: skip

# What the names in a printed expression mean when a guard is evaluated with numbers.
IN_PYTHON: dict[str, Callable[..., Any]] = {
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "PowByNatural": operator.pow,
    "FloatPow": operator.pow,
    "IntTrueDiv": operator.truediv,
    "FloatTrueDiv": operator.truediv,
    "ToFloat": float,
    "CeilToInt": math.ceil,
    "FloorToInt": math.floor,
    "TruncToInt": math.trunc,
    "RoundToInt": round,
    "RoundDecimal": round,
    "BitwiseFn_bitwise_and": operator.and_,
    "BitwiseFn_bitwise_or": operator.or_,
    "BitwiseFn_bitwise_xor": operator.xor,
    "Max": max,
    "Min": min,
    "Abs": abs,
    **{kind.__name__: function for function, kind in OPAQUE.items()},
}
