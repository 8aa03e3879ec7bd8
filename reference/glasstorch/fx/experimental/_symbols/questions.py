"""What can a program ask about symbols?

Mirrors: torch/fx/experimental/symbolic_shapes.py (guard_int, guard_or_false, statically_known_true, free_symbols ...)
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator
from typing import Any

import sympy

from glasstorch._tensor import Tensor
from glasstorch.core.layout import strided
from glasstorch.core.symbols import SYMBOLS, SymBool, SymFloat, SymInt
from glasstorch.fx.experimental._symbols.node import SymNode
from glasstorch.fx.experimental._symbols.ranges import ANY, ValueRanges

# Values -------------------------------------------------------------------------------------------------------------


def guard_int(a: SymInt | int) -> int:
    """The number that an int symbol stands for; a guard says that it is that."""
    if isinstance(a, SymInt):
        return int(a)
    if type(a) is not int:
        raise AssertionError(f"Expected int, got {a}")
    return a


def guard_float(a: SymFloat | float) -> float:
    """The number that a float symbol stands for; a guard says that it is that."""
    if not isinstance(a, SymFloat | float):
        raise AssertionError(f"Expected float, got {a}")
    return float(a)


def guard_bool(a: SymBool | bool) -> bool:
    """Whether a condition holds; a guard says so."""
    if not isinstance(a, SymBool | bool):
        raise AssertionError(f"Expected bool, got {a}")
    return bool(a)


SCALARS: tuple[Any, ...] = (
    ((SymBool, bool), guard_bool),
    ((SymInt, int), guard_int),
    ((SymFloat, float), guard_float),
)


def guard_scalar(a: Any) -> Any:
    """The value of a symbol of any kind; a guard says that it is that."""
    for kinds, guard in SCALARS:
        if isinstance(a, kinds):
            return guard(a)
    raise AssertionError(f"unrecognized scalar {a}")


def guard_or_false(a: SymBool | bool) -> bool:
    """Whether a condition holds, with a guard; false where that depends on elements."""
    return a.node.guard_or_false("", 0) if isinstance(a, SymBool) else guard_bool(a)


def guard_or_true(a: SymBool | bool) -> bool:
    """Whether a condition holds, with a guard; true where that depends on elements."""
    return a.node.guard_or_true("", 0) if isinstance(a, SymBool) else guard_bool(a)


def guard_size_oblivious(expr: SymBool | bool) -> bool:
    """Whether a condition holds, with a guard; sizes that depend on elements count as neither 0 nor 1."""
    if not isinstance(expr, SymBool | bool):
        raise AssertionError(f"Expected bool, got {type(expr)}")
    return expr.node.guard_size_oblivious("", 0) if isinstance(expr, SymBool) else expr


def _known(x: SymBool | bool) -> bool | None:
    if not isinstance(x, SymBool):
        return guard_bool(x)
    value = x.node.shape_env._maybe_evaluate_static(x.node.expr)
    return None if value is None else bool(value)


def statically_known_true(x: SymBool | bool) -> bool:
    """Whether a condition certainly holds for all sizes. No guard is noted."""
    return _known(x) is True


def statically_known_false(x: SymBool | bool) -> bool:
    """Whether a condition certainly does not hold, for no sizes. No guard is noted."""
    return _known(x) is False


definitely_true, definitely_false = statically_known_true, statically_known_false


def guarding_hint_or_throw(a: Any) -> Any:
    """The value for the sizes of the example, without a guard; an error where it depends on elements."""
    return a.node.require_hint() if isinstance(a, SYMBOLS) else a


def optimization_hint(a: Any, fallback: int | None = None) -> Any:
    """As `guarding_hint_or_throw`, but `fallback` where it depends on elements."""
    return a.node.require_hint(fallback) if isinstance(a, SYMBOLS) else a


def has_guarding_hint(a: Any) -> bool:
    """Whether a value has an example."""
    return bool(a.node.has_hint()) if isinstance(a, SYMBOLS) else True


def _has_value(a: Any, kinds: tuple[type, ...], what: str) -> bool:
    if not isinstance(a, kinds):
        raise AssertionError(f"Expected {what}, got {type(a)}")
    return not isinstance(a, SYMBOLS) or not a.node.expr.free_symbols


def is_concrete_int(a: SymInt | int) -> bool:
    """Whether an int is a number, or a symbol that equals one by now."""
    return _has_value(a, (SymInt, int), "int or SymInt")


def is_concrete_float(a: SymFloat | float) -> bool:
    """Whether a float is a number, or a symbol that equals one by now."""
    return _has_value(a, (SymFloat, float), "float or SymFloat")


def is_concrete_bool(a: SymBool | bool) -> bool:
    """Whether a condition is known by now."""
    return _has_value(a, (SymBool, bool), "bool or SymBool")


def has_static_value(a: Any) -> bool:
    """Whether a value is certain for all sizes."""
    if not isinstance(a, SYMBOLS):
        return True
    if a.node.is_bool():
        return _known(a) is not None  # type: ignore[arg-type]
    return bool(a.node.shape_env.bound_sympy(a.node.expr).is_singleton())


def expect_true(a: SymBool | bool, skip: int = 0) -> bool:
    """Let a condition hold: by a guard, or by an assertion where it depends on elements."""
    return a.node.expect_true("", 0) if isinstance(a, SymBool) else guard_bool(a)


def sym_eq(x: Any, y: Any) -> Any:
    """Whether two numbers or lists of them are equal: a condition, which is not decided."""
    if isinstance(x, list | tuple) and isinstance(y, list | tuple):
        return functools.reduce(sym_and, map(sym_eq, x, y), True) if len(x) == len(y) else False
    if not all(isinstance(v, int | SymInt) for v in (x, y)):
        raise AssertionError(f"unexpected sym_eq between {type(x)} {type(y)}")
    return x == y


def sym_and(x: Any, *others: Any) -> Any:
    """Whether all conditions hold: a condition, which is not decided."""
    return functools.reduce(operator.and_, others, x)


def sym_or(x: Any, *others: Any) -> Any:
    """Whether one of the conditions holds: a condition, which is not decided."""
    return functools.reduce(operator.or_, others, x)


def constrain_range(a: SymInt | int, *, min: int | None = None, max: int | None = None) -> None:
    """Let a symbol without an example lie between two numbers, without a guard."""
    within = ValueRanges(ANY.lower if min is None else min, ANY.upper if max is None else max)
    if within.upper < within.lower:
        raise ValueError(
            "Maximum value to constrain_as_size can't be less than the specified min value, received "
            f"min={min} and max={max}"
        )
    if isinstance(a, int):
        if a not in within:
            raise ValueError(f"Invalid value {a} for range [{within.lower}:{within.upper}]")
        return
    a.node.shape_env._constrain_range(a.node.expr, *within)


def constrain_range_for_size(a: SymInt, min: int | None = None, max: int | None = None) -> None:
    """Let a symbol without an example be a size."""
    if not a.node.expr.is_Symbol:
        raise AssertionError(f"only a symbol can be constrained, got {a}")
    a.node.shape_env._constrain_range_for_size(a.node.expr, min, max)


def constrain_unify(a: SymInt | int, b: SymInt | int) -> None:
    """Let two numbers be equal."""
    owner: Any = a if isinstance(a, SymInt) else b
    if isinstance(owner, SymInt):
        owner.node.shape_env._constrain_unify(a, b)
    elif a != b:
        raise AssertionError(f"Expected {a} == {b}")


# Symbols ------------------------------------------------------------------------------------------------------------


def is_symbolic(val: Any) -> bool:
    """Whether a value is a symbol and not a ragged size."""
    return isinstance(val, SYMBOLS) and isinstance(val.node, SymNode)


def is_nested_int(s: Any) -> bool:
    """Whether a value is the ragged size of a nested tensor."""
    return isinstance(s, SymInt) and bool(s.node.is_nested_int())


def _expressions(value: Any) -> Iterator[Any]:
    if isinstance(value, SYMBOLS):
        if is_symbolic(value):
            yield value.node.expr
    elif isinstance(value, SymNode):
        yield value.expr
    elif isinstance(value, sympy.Basic):
        yield value
    elif isinstance(value, Tensor):
        yield from _expressions(value._shape)
        if value.layout is strided:
            yield from _expressions((*value.strides(), value._offset))
    elif isinstance(value, dict):
        yield from _expressions([*value.keys(), *value.values()])
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _expressions(item)


def free_symbols(val: Any) -> set[Any]:
    """The symbols that occur in a value: in a size, in a tensor's geometry, in what a container holds."""
    return {symbol for expr in _expressions(val) for symbol in expr.free_symbols}


def has_free_symbols(val: Any) -> bool:
    """Whether there are any."""
    return bool(free_symbols(val))


def free_unbacked_symbols(x: Any) -> set[Any]:
    """The symbols that stand for numbers which depend on elements."""
    return {symbol for symbol in free_symbols(x) if symbol.name.startswith(("u", "zuf"))}


def has_free_unbacked_symbols(x: Any) -> bool:
    """Whether there are any."""
    return bool(free_unbacked_symbols(x))


def has_symbolic_sizes_strides(elem: Tensor) -> bool:
    """Whether a size, a stride or the offset of a tensor is a symbol."""
    return any(is_symbolic(v) for v in (*elem._shape, *elem.strides(), elem._offset))


def create_contiguous(shape: Any) -> list[Any]:
    """Row-major strides."""
    strides: list[Any] = [1]
    for size in reversed(shape[1:]):
        strides.append(size * strides[-1])
    return strides[::-1]
