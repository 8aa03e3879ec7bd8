"""Which of Python's own functions are understood, and what do they give?

Mirrors: torch/_dynamo/variables/builtin.py
Differs: a table of a few dozen functions; any other one of Python's is called only with what is known.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any, Final

from glasstorch.compiler.bytecode.attributes import attribute, class_of, members
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Constant,
    Iterating,
    Known,
    Mapping,
    Method,
    Sequence,
    TensorValue,
    Value,
    describe,
    has_tensor,
    is_known,
    known,
    plain_kind,
)
from glasstorch.compiler.bytecode.wrapping import made
from glasstorch.nn.modules.container import ModuleList, Sequential

Call = Callable[..., Value]


def items_of(recorder: Recorder, value: Value) -> Iterator[Value]:
    """The items of a value, for a loop over it."""
    if isinstance(value, Iterating):
        return value.items
    if isinstance(value, Sequence):
        return iter(value.items)
    if isinstance(value, Mapping):
        return map(made, value.items)
    if isinstance(value, TensorValue):
        if not value.example.dim():
            raise Unsupported("a loop over a tensor without dimensions")
        count = value.example.shape[0]
        return iter([recorder.call_function(operator.getitem, [value, Constant(i)], {}) for i in range(count)])
    if isinstance(value, Known) and isinstance(value.value, ModuleList | Sequential):
        return iter(members(recorder, value))
    if isinstance(value, Constant):
        return map(made, value.value)
    raise Unsupported(f"a loop over {describe(value)}")


def _isinstance(recorder: Recorder, value: Value, kinds: Value) -> Value:
    return Constant(issubclass(class_of(value), known(kinds)))


def _len(recorder: Recorder, value: Value) -> Value:
    if isinstance(value, TensorValue):
        return Constant(value.example.shape[0])
    return Constant(len(value.items) if isinstance(value, Sequence | Mapping) else len(known(value)))


def _getattr(recorder: Recorder, value: Value, name: Value, *default: Value) -> Value:
    try:
        return attribute(recorder, value, known(name))
    except AttributeError:
        if default:
            return default[0]
        raise


def _hasattr(recorder: Recorder, value: Value, name: Value) -> Value:
    try:
        attribute(recorder, value, known(name))
    except AttributeError:
        return Constant(False)
    return Constant(True)


def _zip(recorder: Recorder, *values: Value, **options: Value) -> Value:
    columns = [items_of(recorder, value) for value in values]
    strict = known(options["strict"]) if "strict" in options else False
    return Iterating(Sequence(list(row), tuple) for row in zip(*columns, strict=strict))


def _enumerate(recorder: Recorder, value: Value, start: Value | None = None) -> Value:
    numbers = itertools.count(known(start) if start is not None else 0)
    return Iterating(Sequence([Constant(next(numbers)), item], tuple) for item in items_of(recorder, value))


def _sum(recorder: Recorder, value: Value, start: Value | None = None) -> Value:
    total: Value = Constant(0) if start is None else start
    for item in items_of(recorder, value):
        total = binary(recorder, operator.add, total, item)
    return total


def _sequence(kind: type[Any]) -> Call:
    def make(recorder: Recorder, value: Value | None = None) -> Value:
        return Sequence([] if value is None else list(items_of(recorder, value)), kind)

    return make


def _dict(recorder: Recorder, value: Value | None = None, **named: Value) -> Value:
    items: dict[Any, Value] = {}
    if isinstance(value, Mapping):
        items.update(value.items)
    elif value is not None:
        for pair in items_of(recorder, value):
            key, item = items_of(recorder, pair)
            items[known(key)] = item
    return Mapping({**items, **named})


def _reversed(recorder: Recorder, value: Value) -> Value:
    return Iterating(iter(list(items_of(recorder, value))[::-1]))


def _iter(recorder: Recorder, value: Value) -> Value:
    return Iterating(items_of(recorder, value))


def _next(recorder: Recorder, value: Value, *default: Value) -> Value:
    if not isinstance(value, Iterating):
        raise Unsupported(f"next of {describe(value)}")
    return next(value.items, *default)


def _type(recorder: Recorder, value: Value) -> Value:
    return Known(class_of(value))


UNDERSTOOD: Final[dict[Any, Call]] = {
    isinstance: _isinstance, len: _len, getattr: _getattr, hasattr: _hasattr, zip: _zip, enumerate: _enumerate,
    sum: _sum, list: _sequence(list), tuple: _sequence(tuple), dict: _dict, reversed: _reversed, iter: _iter,
    next: _next, type: _type,
}  # fmt: skip

# Functions without effects, which are called when all that they get is known.
PURE: Final = frozenset(
    [
        abs, all, any, bool, bytes, callable, chr, complex, divmod, float, format, frozenset, hash, int, issubclass,
        max, min, ord, pow, range, repr, round, slice, sorted, str, functools.reduce,
        *(function for function in vars(math).values() if inspect.isbuiltin(function)),
    ]
)  # fmt: skip


# Operators of Python that change neither operand.
READING: Final = frozenset([operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.or_])


def binary(recorder: Recorder, function: Callable[..., Any], left: Value, right: Value) -> Value:
    """What an operator of Python gives: a node where a tensor is an operand, the result itself where both are known."""
    if isinstance(left, TensorValue) or isinstance(right, TensorValue):
        return recorder.call_function(function, [left, right], {})
    if function is operator.getitem:
        return subscript(recorder, left, right)
    if isinstance(left, Sequence) and isinstance(right, Sequence):
        if function is operator.iadd and left.kind is list:
            left.items.extend(right.items)
            return left
        if function in (operator.add, operator.iadd) and plain_kind(left.kind) is plain_kind(right.kind):
            return Sequence([*left.items, *right.items], plain_kind(left.kind))
    if isinstance(left, Sequence) and function is operator.mul:
        return Sequence(left.items * known(right), plain_kind(left.kind))
    if isinstance(left, Sequence | Mapping) and function not in READING:
        raise Unsupported(f"{function.__name__} of {describe(left)}")
    if is_known(left) and is_known(right):
        return made(function(known(left), known(right)))
    raise Unsupported(f"{function.__name__} of {describe(left)} and {describe(right)}")


def subscript(recorder: Recorder, value: Value, key: Value) -> Value:
    """An item of a value."""
    if isinstance(value, TensorValue) or has_tensor(key):
        return recorder.call_function(operator.getitem, [value, key], {})
    if isinstance(value, Sequence):
        found = value.items[known(key)]
        return Sequence(found, plain_kind(value.kind)) if isinstance(found, list) else found
    if isinstance(value, Mapping):
        return value.items[known(key)]
    if isinstance(value, Known) and not isinstance(value.value, type):
        return Method(value, Known(type(value.value).__getitem__))
    return made(known(value)[known(key)])
