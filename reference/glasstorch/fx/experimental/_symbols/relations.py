"""What follows from an equation or an inequality?

Mirrors: torch/fx/experimental/symbolic_shapes.py (canonicalize_bool_expr, get_implications),
    torch/utils/_sympy/solve.py (try_solve)
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import sympy

from glasstorch.fx.experimental._symbols.functions import FloorDiv

MIRRORED: Final = {
    sympy.Eq: sympy.Eq,
    sympy.Ne: sympy.Ne,
    sympy.Ge: sympy.Le,
    sympy.Gt: sympy.Lt,
    sympy.Le: sympy.Ge,
    sympy.Lt: sympy.Gt,
}
ORDERED: Final = (sympy.Gt, sympy.Ge, sympy.Lt, sympy.Le)
STEPS: Final = 5  # in which an unknown is isolated; what needs more is left


def is_relation(expr: Any) -> bool:
    """Whether an expression is `==`, `!=`, `<`, `<=`, `>` or `>=` of two others."""
    return type(expr) in MIRRORED


def _integer_factor(term: Any) -> int:
    if term.is_Integer:
        return abs(int(term))
    return abs(int(term.args[0])) if term.is_Mul and term.args[0].is_Integer else 1


def _is_negative(term: Any) -> bool:
    number = term if term.is_Number else term.args[0] if term.is_Mul else None
    return number is not None and bool(number.is_Number and number.is_negative)


def canonical(expr: Any) -> Any:
    """A relation with `<` or `<=` in place of `>` and `>=`, positive terms on both sides, and no common factor.

    Two ways to write one relation become the same, so that what is known can be looked up.
    """
    if isinstance(expr, sympy.And | sympy.Or):
        return expr.func(*map(canonical, expr.args))
    if not is_relation(expr):
        return expr
    left, right, kind = expr.lhs, expr.rhs, expr.func
    if kind in (sympy.Gt, sympy.Ge):
        left, right, kind = right, left, MIRRORED[kind]
    difference = sympy.expand(right - left)
    terms = sympy.Add.make_args(difference)
    factor = math.gcd(*map(_integer_factor, terms)) or 1
    terms = [term / factor for term in terms]
    lower = sympy.Add(*[-term for term in terms if _is_negative(term)])
    upper = sympy.Add(*[term for term in terms if not _is_negative(term)])
    return kind(lower, upper, evaluate=False)


def implications(expr: Any) -> dict[Any, Any]:
    """Relations that are certainly true or false, given one that is true."""
    known: dict[Any, Any] = {}
    for one in _implied(expr):
        e = canonical(one)
        if isinstance(e, sympy.Eq | sympy.Ne):
            opposite = sympy.Eq if isinstance(e, sympy.Ne) else sympy.Ne
            for left, right in ((e.lhs, e.rhs), (e.rhs, e.lhs)):
                known[e.func(left, right, evaluate=False)] = sympy.true
                known[opposite(left, right, evaluate=False)] = sympy.false
        else:
            known[e] = sympy.true
            known[canonical(sympy.Not(e))] = sympy.false
    return known


def _implied(expr: Any) -> Iterator[Any]:
    yield expr
    if isinstance(expr, sympy.Eq):
        yield sympy.Le(expr.lhs, expr.rhs, evaluate=False)
        yield sympy.Ge(expr.lhs, expr.rhs, evaluate=False)
    elif isinstance(expr, sympy.Lt):
        yield sympy.Le(expr.lhs, expr.rhs, evaluate=False)
        yield sympy.Ne(expr.lhs, expr.rhs, evaluate=False)
        if expr.lhs.is_integer and expr.rhs.is_integer:
            yield sympy.Le(expr.lhs, expr.rhs - 1, evaluate=False)
    elif isinstance(expr, sympy.Le):
        yield sympy.Lt(expr.lhs, expr.rhs + 1, evaluate=False)


def solved(expr: Any, unknown: Any, through_floor: bool = True) -> tuple[Any, Any] | None:
    """A relation with an unknown alone on its left, and its right side; None where that is not found.

    `through_floor` lets `a // b > c` become an inequality of `a`, which is no equivalence of equations.
    """
    if not is_relation(expr) or expr.lhs.has(unknown) == expr.rhs.has(unknown):
        return None
    e = expr if expr.lhs.has(unknown) else MIRRORED[expr.func](expr.rhs, expr.lhs)
    for _ in range(STEPS):
        if not is_relation(e):
            return None
        step = _isolated_further(e, unknown, through_floor)
        if step == e:
            break
        e = step
    return (e, e.rhs) if is_relation(e) and e.lhs == unknown else None


def _isolated_further(e: Any, unknown: Any, through_floor: bool) -> Any:
    kind = e.func
    if isinstance(e.lhs, sympy.Add):
        others = sympy.Add(*[a for a in e.lhs.args if not a.has(unknown)])
        e = kind(e.lhs - others, e.rhs - others)
    if is_relation(e) and isinstance(e.lhs, sympy.Mul):
        factor = sympy.Mul(*[a for a in e.lhs.args if not a.has(unknown)])
        in_order = kind in ORDERED
        if not (in_order and factor.is_negative is None) and not (not in_order and e.rhs.is_zero):
            turned = MIRRORED[kind] if in_order and factor.is_negative else kind
            e = turned(e.lhs / factor, e.rhs / factor)
    if not (through_floor and is_relation(e) and isinstance(e.lhs, FloorDiv)):
        return e
    base, divisor = e.lhs.args
    if not (divisor.is_positive and e.rhs.is_integer and isinstance(e, ORDERED)):
        return e
    if isinstance(e, sympy.Gt | sympy.Ge):
        return sympy.Ge(base, (e.rhs + int(isinstance(e, sympy.Gt))) * divisor)
    return sympy.Lt(base, (e.rhs + int(isinstance(e, sympy.Le))) * divisor)
