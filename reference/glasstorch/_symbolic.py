"""What stands for sizes that are not known yet?

Mirrors: torch/__init__.py (SymInt, sym_int, ..., _assert)
Differs: every size is an int when a program runs, but the ragged one of a nested tensor (core/symbols.py). Of the other
    two classes nothing is an instance: they are for programs that ask. The functions compute with numbers.
"""

from __future__ import annotations

import builtins
import math
from typing import Any, NoReturn

from glasstorch.calls.overloaded import handle_torch_function, has_torch_function
from glasstorch.core.plain_types import PLAIN
from glasstorch.core.symbols import SymInt as SymInt

__all__ = [
    "SymBool", "SymFloat", "SymInt", "sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt",
    "sym_sum",
]  # fmt: skip


class SymFloat:
    """A float that a compiler does not know yet; there are none here."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused."""
        raise TypeError("SymFloat: numbers are floats in glasstorch, nothing is traced with symbols for them")


class SymBool:
    """A bool that a compiler does not know yet; there are none here."""

    def __new__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        """Refused."""
        raise TypeError("SymBool: conditions are bools in glasstorch, nothing is traced with symbols for them")


def sym_int(a: Any) -> int:
    """The number without its fraction."""
    result: int = math.trunc(a)
    return result


def sym_float(a: Any) -> float:
    """The number as a float."""
    if has_torch_function((a,)):
        return handle_torch_function(sym_float, (a,), a)
    return float(a)


def sym_not(a: Any) -> bool:
    """Whether the condition is false."""
    if has_torch_function((a,)):
        return handle_torch_function(sym_not, (a,), a)
    return not a


def sym_max(a: Any, b: Any) -> Any:
    """The greater of two numbers; a float if one of them is."""
    if has_torch_function((a, b)):
        return handle_torch_function(sym_max, (a, b), a, b)
    return _as_both(builtins.max(a, b), a, b)


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers; a float if one of them is."""
    if has_torch_function((a, b)):
        return handle_torch_function(sym_min, (a, b), a, b)
    return _as_both(builtins.min(a, b), a, b)


def _as_both(result: Any, a: Any, b: Any) -> Any:
    return float(result) if isinstance(a, float) or isinstance(b, float) else result


def sym_sqrt(a: Any) -> float:
    """The square root."""
    if has_torch_function((a,)):
        return handle_torch_function(sym_sqrt, (a,), a)
    return math.sqrt(a)


def sym_ite(b: Any, t: Any, f: Any) -> Any:
    """`t` if the condition holds, else `f`; both of one type."""
    if has_torch_function((b, t, f)):
        return handle_torch_function(sym_ite, (b, t, f), b, t, f)
    if type(b) is not bool or type(t) is not type(f):
        raise AssertionError(f"sym_ite expects a bool and two values of one type, got {b!r}, {t!r} and {f!r}")
    return t if b else f


def sym_sum(args: Any) -> Any:
    """The sum of numbers."""
    if has_torch_function(args):
        return handle_torch_function(sym_sum, args, args)
    return builtins.sum(args)


def _assert(condition: object, message: object) -> None:
    """Python's `assert` as a function, which PyTorch's tracers can see; models check their sizes with it."""
    if type(condition) not in PLAIN and has_torch_function((condition,)):
        handle_torch_function(_assert, (condition,), condition, message)
        return
    if not condition:
        raise AssertionError(message)
