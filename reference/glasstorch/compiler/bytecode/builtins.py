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
from glasstorch.compiler.bytecode.raising import Raised, evaluated
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Constant,
    Group,
    Iterating,
    Known,
    Mapping,
    Method,
    Sequence,
    TensorValue,
    Value,
    View,
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
    if isinstance(value, Mapping | Group):
        return map(made, value.items)
    if isinstance(value, View):
        return _of_view(value)
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


def _of_view(value: View) -> Iterator[Value]:
    items = value.owner.items
    if value.what == "values":
        return iter(items.values())
    return map(made, items) if value.what == "keys" else (Sequence([made(k), v], tuple) for k, v in items.items())


def _isinstance(recorder: Recorder, value: Value, kinds: Value) -> Value:
    return Constant(issubclass(class_of(value), known(kinds)))


def _len(recorder: Recorder, value: Value) -> Value:
    if isinstance(value, TensorValue):
        return Constant(value.example.shape[0])
    if isinstance(value, View):
        return Constant(len(value.owner.items))
    if isinstance(value, Sequence | Mapping | Group):
        return Constant(len(value.items))
    return Constant(evaluated(len, known(value)))


def _getattr(recorder: Recorder, value: Value, name: Value, *default: Value) -> Value:
    try:
        return attribute(recorder, value, known(name))
    except Raised as raised:
        if not isinstance(raised.error, AttributeError):
            raise
        if default:
            return default[0]
        raise


def _hasattr(recorder: Recorder, value: Value, name: Value) -> Value:
    try:
        attribute(recorder, value, known(name))
    except Raised as raised:
        if not isinstance(raised.error, AttributeError):
            raise
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


CHANGING_OPERATORS: Final = (operator.ior, operator.iand, operator.isub, operator.ixor)
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
            recorder.effects.change(left)
            left.items.extend(list(right.items))
            return left
        if function in (operator.add, operator.iadd) and plain_kind(left.kind) is plain_kind(right.kind):
            return Sequence([*left.items, *right.items], plain_kind(left.kind))
    if isinstance(left, Sequence) and function is operator.mul:
        return Sequence(evaluated(operator.mul, left.items, known(right)), plain_kind(left.kind))
    if isinstance(left, Mapping) and isinstance(right, Mapping) and function in (operator.or_, operator.ior):
        return _united(recorder, function, left, right)
    if isinstance(left, Group) and function in CHANGING_OPERATORS:
        recorder.effects.change(left)
        left.items = evaluated(function, left.items, known(right))
        return left
    if isinstance(left, Sequence | Mapping) and function not in READING:
        raise Unsupported(f"{function.__name__} of {describe(left)}")
    if is_known(left) and is_known(right):
        return made(evaluated(function, known(left), known(right)))
    raise Unsupported(f"{function.__name__} of {describe(left)} and {describe(right)}")


def _united(recorder: Recorder, function: Any, left: Mapping, right: Mapping) -> Value:
    if function is operator.ior:
        recorder.effects.change(left)
        left.items.update(right.items)
        return left
    if left.kind is not dict or right.kind is not dict:
        raise Unsupported(f"| of {left.kind.__name__} and {right.kind.__name__}")
    return Mapping({**left.items, **right.items})


def subscript(recorder: Recorder, value: Value, key: Value) -> Value:
    """An item of a value."""
    if isinstance(value, TensorValue) or has_tensor(key):
        return recorder.call_function(operator.getitem, [value, key], {})
    if isinstance(value, Sequence):
        found = evaluated(operator.getitem, value.items if value.kind is list else tuple(value.items), known(key))
        return found if isinstance(found, Value) else Sequence(list(found), plain_kind(value.kind))
    if isinstance(value, Mapping):
        return _item(recorder, value, known(key))
    if isinstance(value, Known) and not isinstance(value.value, type):
        return Method(value, Known(type(value.value).__getitem__))
    return made(evaluated(operator.getitem, known(value), known(key)))


def _item(recorder: Recorder, value: Mapping, key: Any) -> Value:
    if value.factory is not None and not evaluated(value.items.__contains__, key):
        recorder.effects.change(value)
        value.items[key] = recorder.call(value.factory, [], {})
    return evaluated(operator.getitem, value.items, key)  # type: ignore[no-any-return]


def store_item(recorder: Recorder, value: Value, key: Value, new: Value) -> Value:
    """Set an item of a tensor, which is a node, or of a list or dict."""
    if isinstance(value, TensorValue):
        return recorder.call_function(operator.setitem, [value, key, new], {})
    if isinstance(value, Mapping):
        recorder.effects.change(value)
        evaluated(value.items.__setitem__, known(key), new)
    elif isinstance(value, Sequence) and value.kind is list:
        recorder.effects.change(value)
        place = known(key)
        evaluated(value.items.__setitem__, place, list(items_of(recorder, new)) if isinstance(place, slice) else new)
    else:
        raise Unsupported(f"a change of an item of {describe(value)}")
    return Constant(None)


def delete_item(recorder: Recorder, value: Value, key: Value) -> Value:
    """Delete an item of a list or dict."""
    if not isinstance(value, Mapping) and not (isinstance(value, Sequence) and value.kind is list):
        raise Unsupported(f"the deletion of an item of {describe(value)}")
    recorder.effects.change(value)
    evaluated(operator.delitem, value.items, known(key))
    return Constant(None)


def equal(recorder: Recorder, left: Value, right: Value) -> bool:
    """Whether two values are one object or equal, as the search in a list asks."""
    if left is right:
        return True
    return bool(known(binary(recorder, operator.eq, left, right)))


def contains(recorder: Recorder, container: Value, item: Value) -> bool:
    """Whether an item is in a container."""
    if isinstance(container, Mapping | Group):
        return bool(evaluated(container.items.__contains__, known(item)))
    if isinstance(container, View) and container.what == "keys":
        return bool(evaluated(container.owner.items.__contains__, known(item)))
    if isinstance(container, Sequence | View | Iterating):
        return any(equal(recorder, other, item) for other in items_of(recorder, container))
    return bool(evaluated(operator.contains, known(container), known(item)))


def order(recorder: Recorder, items: list[Value], key: Value, reverse: Any) -> list[Value]:
    """Values in the order of what a function gives for them."""
    given = (
        items if isinstance(key, Constant) and key.value is None else [recorder.call(key, [item], {}) for item in items]
    )
    keys = [known(value) for value in given]
    places = evaluated(sorted, range(len(items)), key=keys.__getitem__, reverse=reverse)
    return [items[place] for place in places]
