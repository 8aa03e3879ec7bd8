"""What does Python's arithmetic give for numbers that may be symbols?

Mirrors: torch/__init__.py (SymInt, sym_int, ..., _assert)

Of plain numbers each function gives a number. A symbol is asked for the symbol of the result (core/symbols.py).
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable
from typing import Any

from glasstorch.calls.overloaded import handle_torch_function, has_torch_function
from glasstorch.core.plain_types import PLAIN
from glasstorch.core.symbols import SymBool as SymBool
from glasstorch.core.symbols import SymFloat as SymFloat
from glasstorch.core.symbols import SymInt as SymInt

# Functions of `math` for symbols, by the names that PyTorch's graphs call.
OF_MATH = (
    "_sym_acos", "_sym_asin", "_sym_atan", "_sym_cos", "_sym_cosh", "_sym_log2", "_sym_sin", "_sym_sinh",
    "_sym_sqrt", "_sym_tan", "_sym_tanh",
)  # fmt: skip
__all__ = [
    "_sym_acos", "_sym_asin", "_sym_atan", "_sym_cos", "_sym_cosh", "_sym_log2", "_sym_sin", "_sym_sinh",
    "_sym_sqrt", "_sym_tan", "_sym_tanh",
    "SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt",
    "sym_sum",
]  # fmt: skip


def sym_int(a: Any) -> Any:
    """The number without its fraction."""
    if isinstance(a, SymInt | SymFloat):
        return a.__sym_int__()
    result: int = math.trunc(a)
    return result


def sym_float(a: Any) -> Any:
    """The number as a float."""
    if isinstance(a, SymInt | SymFloat):
        return a.__sym_float__()
    if has_torch_function((a,)):
        return handle_torch_function(sym_float, (a,), a)
    return float(a)


def sym_not(a: Any) -> Any:
    """Whether the condition is false."""
    if isinstance(a, SymBool):
        return a.__sym_not__()
    if has_torch_function((a,)):
        return handle_torch_function(sym_not, (a,), a)
    return not a


def sym_max(a: Any, b: Any) -> Any:
    """The greater of two numbers; a float if one of them is."""
    if isinstance(a, SymInt | SymFloat):
        return a.__sym_max__(b)
    if isinstance(b, SymInt | SymFloat):
        return b.__sym_max__(a)
    if has_torch_function((a, b)):
        return handle_torch_function(sym_max, (a, b), a, b)
    return _as_both(builtins.max(a, b), a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers; a float if one of them is."""
    if isinstance(a, SymInt | SymFloat):
        return a.__sym_min__(b)
    if isinstance(b, SymInt | SymFloat):
        return b.__sym_min__(a)
    if has_torch_function((a, b)):
        return handle_torch_function(sym_min, (a, b), a, b)
    return _as_both(builtins.min(a, b), a, b)


def _as_both(result: Any, a: Any, b: Any) -> Any:
    return float(result) if isinstance(a, float) or isinstance(b, float) else result


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """`t` if the condition holds, else `f`; both of one type."""
    if isinstance(b, SymBool):
        return b.__sym_ite__(t, f)
    if has_torch_function((b, t, f)):
        return handle_torch_function(sym_ite, (b, t, f), b, t, f)
    if type(b) is not bool or type(t) is not type(f):
        raise AssertionError(f"sym_ite expects a bool and two values of one type, got {b!r}, {t!r} and {f!r}")
    return t if b else f


def sym_sum(args: Any) -> Any:
    """The sum of numbers."""
    if any(isinstance(a, SymInt) for a in args):
        return functools.reduce(operator.add, args)
    if has_torch_function(args):
        return handle_torch_function(sym_sum, args, args)
    return builtins.sum(args)


def _of_math(name: str, function: Callable[[Any], float]) -> Callable[[Any], Any]:
    """A function of `math` that also takes symbols."""

    def of_number(a: Any) -> Any:
        if isinstance(a, SymInt | SymFloat):
            return a.__sym_float__().node.unary(name)
        if has_torch_function((a,)):
            return handle_torch_function(of_number, (a,), a)
        return function(a)

    of_number.__name__ = of_number.__qualname__ = f"_sym_{name}"
    of_number.__doc__ = f"`math.{name}`."
    return of_number


_sym_sqrt = sym_sqrt = _of_math("sqrt", math.sqrt)
_sym_cos = _of_math("cos", math.cos)
_sym_cosh = _of_math("cosh", math.cosh)
_sym_sin = _of_math("sin", math.sin)
_sym_sinh = _of_math("sinh", math.sinh)
_sym_tan = _of_math("tan", math.tan)
_sym_tanh = _of_math("tanh", math.tanh)
_sym_asin = _of_math("asin", math.asin)
_sym_acos = _of_math("acos", math.acos)
_sym_atan = _of_math("atan", math.atan)
_sym_log2 = _of_math("log2", math.log2)


def _assert(condition: object, message: object) -> None:
    """Python's `assert` as a function, which PyTorch's tracers can see; models check their sizes with it."""
    if type(condition) not in PLAIN and has_torch_function((condition,)):
        handle_torch_function(_assert, (condition,), condition, message)
        return
    if not condition:
        raise AssertionError(message)
