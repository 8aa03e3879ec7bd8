"""Between which numbers does an expression lie, if its symbols lie between known ones?

Mirrors: torch/utils/_sympy/value_ranges.py
Differs: bounds are Python numbers, with infinities as floats. An expression of a kind that has no rule here has no
    bounds, which is safe: then nothing is concluded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import sympy

from glasstorch.fx.experimental._symbols import functions as written

Bound = int | float | bool


class ValueRanges(NamedTuple):
    """All numbers from `lower` to `upper`, both included. A condition has bools for bounds.

    >>> ValueRanges(2, math.inf)
    VR[2, int_oo]
    """

    lower: Bound
    upper: Bound

    def __repr__(self) -> str:
        return f"VR[{_text(self.lower)}, {_text(self.upper)}]"

    def __contains__(self, value: object) -> bool:
        number: Any = value
        return bool(self.lower <= number <= self.upper)

    def __and__(self, other: ValueRanges) -> ValueRanges:
        """The numbers that lie in both."""
        return ValueRanges(max(self.lower, other.lower), min(self.upper, other.upper))

    def issubset(self, other: ValueRanges) -> bool:
        """Whether all numbers of this range lie in another."""
        return other.lower <= self.lower and self.upper <= other.upper

    def is_singleton(self) -> bool:
        """Whether there is one number in it."""
        return self.lower == self.upper

    @property
    def is_int(self) -> bool:
        """Whether the bounds are ints, or infinite."""
        return all(type(b) is int or math.isinf(b) for b in self)


def _text(bound: Bound) -> str:
    if bound == math.inf:
        return "int_oo"
    return "-int_oo" if bound == -math.inf else str(bound)


ANY = ValueRanges(-math.inf, math.inf)
TRUE, FALSE, EITHER = ValueRanges(True, True), ValueRanges(False, False), ValueRanges(False, True)
Ranges = Mapping[Any, ValueRanges]


def bounds(expr: Any, ranges: Ranges) -> ValueRanges:
    """The range of an expression, given those of its symbols."""
    if expr is sympy.true or expr is sympy.false:
        return TRUE if expr is sympy.true else FALSE
    if expr.is_Integer:
        return ValueRanges(int(expr), int(expr))
    if expr.is_Number:
        return ValueRanges(float(expr), float(expr)) if expr.is_finite else ANY
    if expr.is_Symbol:
        return ranges.get(expr, ANY)
    rule = RULES.get(expr.func)
    if rule is None:
        return EITHER if expr.is_Boolean else _by_assumptions(expr)
    return rule(*[bounds(a, ranges) for a in expr.args])


def _by_assumptions(expr: Any) -> ValueRanges:
    return ValueRanges(0, math.inf) if expr.is_nonnegative else ANY


def _product(a: Bound, b: Bound) -> Bound:
    return 0 if a == 0 or b == 0 else a * b


def _add(*terms: ValueRanges) -> ValueRanges:
    return ValueRanges(sum(t.lower for t in terms), sum(t.upper for t in terms))


def _multiply(*factors: ValueRanges) -> ValueRanges:
    result = ValueRanges(1, 1)
    for f in factors:
        ends = [_product(a, b) for a in result for b in f]
        result = ValueRanges(min(ends), max(ends))
    return result


def _power(base: ValueRanges, exponent: ValueRanges) -> ValueRanges:
    if not exponent.is_singleton() or exponent.lower < 0 or exponent.lower != int(exponent.lower):
        return ValueRanges(0, math.inf) if base.lower >= 0 else ANY
    n = int(exponent.lower)
    ends = [b if math.isinf(b) and n % 2 else abs(b) if math.isinf(b) else b**n for b in base]
    if n % 2 == 0 and base.lower <= 0 <= base.upper:
        return ValueRanges(0, max(ends))
    return ValueRanges(min(ends), max(ends))


def _divided(divide: Callable[[Bound, Bound], Bound]) -> Callable[[ValueRanges, ValueRanges], ValueRanges]:
    def rule(a: ValueRanges, b: ValueRanges) -> ValueRanges:
        if b.lower <= 0:
            return ANY
        ends = [divide(x, y) for x in a for y in b]
        return ValueRanges(min(ends), max(ends))

    return rule


def _quotient(a: Bound, b: Bound) -> Bound:
    if math.isinf(a):
        return a
    return a / b if not math.isinf(b) else 0.0 if a >= 0 else -0.0


def _floor_quotient(a: Bound, b: Bound) -> Bound:
    if math.isinf(a):
        return a if not math.isinf(b) else (min(a, 0))
    return a // b if not math.isinf(b) else 0 if a >= 0 else -1


def _modulo(a: ValueRanges, b: ValueRanges) -> ValueRanges:
    if b.lower <= 0:
        return ANY
    if a.lower >= 0 and a.upper < b.lower:
        return a
    most = b.upper - 1
    return ValueRanges(0, min(most, a.upper) if a.lower >= 0 else most)


def _rounded(function: Callable[[Any], int]) -> Callable[[ValueRanges], ValueRanges]:
    def rule(a: ValueRanges) -> ValueRanges:
        ends = [b if math.isinf(b) else function(b) for b in a]
        return ValueRanges(ends[0], ends[1])

    return rule


def _less(a: ValueRanges, b: ValueRanges) -> ValueRanges:
    if a.upper < b.lower:
        return TRUE
    return FALSE if a.lower >= b.upper else EITHER


def _at_most(a: ValueRanges, b: ValueRanges) -> ValueRanges:
    if a.upper <= b.lower:
        return TRUE
    return FALSE if a.lower > b.upper else EITHER


def _equal(a: ValueRanges, b: ValueRanges) -> ValueRanges:
    if a.is_singleton() and b.is_singleton() and a.lower == b.lower:
        return TRUE
    return FALSE if a.upper < b.lower or b.upper < a.lower else EITHER


def _negated(a: ValueRanges) -> ValueRanges:
    return ValueRanges(not a.upper, not a.lower)


def _absolute(a: ValueRanges) -> ValueRanges:
    ends = [abs(b) for b in a]
    return ValueRanges(0 if a.lower <= 0 <= a.upper else min(ends), max(ends))


RULES: dict[Any, Callable[..., ValueRanges]] = {
    sympy.Add: _add,
    sympy.Mul: _multiply,
    sympy.Pow: _power,
    sympy.Max: lambda *a: ValueRanges(max(r.lower for r in a), max(r.upper for r in a)),
    sympy.Min: lambda *a: ValueRanges(min(r.lower for r in a), min(r.upper for r in a)),
    sympy.Abs: _absolute,
    written.FloorDiv: _divided(_floor_quotient),
    written.CleanDiv: _divided(_floor_quotient),
    written.IntTrueDiv: _divided(_quotient),
    written.FloatTrueDiv: _divided(_quotient),
    written.Mod: _modulo,
    written.PythonMod: _modulo,
    written.PowByNatural: _power,
    written.ToFloat: lambda a: ValueRanges(float(a.lower), float(a.upper)),
    written.CeilToInt: _rounded(math.ceil),
    written.FloorToInt: _rounded(math.floor),
    written.TruncToInt: _rounded(math.trunc),
    written.RoundToInt: _rounded(round),
    sympy.Eq: _equal,
    sympy.Ne: lambda a, b: _negated(_equal(a, b)),
    sympy.Lt: _less,
    sympy.Gt: lambda a, b: _less(b, a),
    sympy.Le: _at_most,
    sympy.Ge: lambda a, b: _at_most(b, a),
    sympy.Not: _negated,
    sympy.And: lambda *a: ValueRanges(all(r.lower for r in a), all(r.upper for r in a)),
    sympy.Or: lambda *a: ValueRanges(any(r.lower for r in a), any(r.upper for r in a)),
}
