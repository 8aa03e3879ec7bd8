"""What do Python's operators, loops and questions give: sums, items, truth, identity, order, texts?

Mirrors: torch/_dynamo/variables/builtin.py, torch/_dynamo/variables/object_protocol.py
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from enum import Enum
from types import FunctionType
from typing import Any, Final

from glasstorch.compiler.bytecode.attributes import members
from glasstorch.compiler.bytecode.classes import in_mro, is_written_in_python
from glasstorch.compiler.bytecode.objects import (
    class_name,
    is_users,
    iterated,
    of_users,
    special,
    truth_of_object,
)
from glasstorch.compiler.bytecode.raising import Raised, evaluated
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Constant,
    Context,
    Function,
    Group,
    Iterating,
    Known,
    Mapping,
    Method,
    Partial,
    Sequence,
    SymbolSlice,
    SymbolValue,
    TensorValue,
    Traceback,
    Value,
    View,
    as_key,
    describe,
    has_tensor,
    is_known,
    known,
    plain_kind,
)
from glasstorch.compiler.bytecode.wrapping import BY_IDENTITY, made
from glasstorch.core.dtype import dtype
from glasstorch.core.layout import layout, memory_format
from glasstorch.nn.modules.container import ModuleList, Sequential

Call = Callable[..., Value]
SINGLE: Final = (bool, type(None), type(...), Enum, dtype, layout, memory_format)  # equal objects are the same one
CHANGING_OPERATORS: Final = (operator.ior, operator.iand, operator.isub, operator.ixor)
# Operators of Python that change neither operand.
READING: Final = frozenset([operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge, operator.or_])


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
    if is_users(value):
        return iterated(recorder, value)
    if isinstance(value, Constant | Known):
        return map(made, evaluated(iter, value.value))
    raise Unsupported(f"a loop over {describe(value)}")


def _of_view(value: View) -> Iterator[Value]:
    items = value.owner.items
    if value.what == "values":
        return iter(items.values())
    return map(made, items) if value.what == "keys" else (Sequence([made(k), v], tuple) for k, v in items.items())


def asked(recorder: Recorder, value: Value, name: str, *args: Value) -> Value:
    """What a method of an object's class says that Python calls itself."""
    method = special(recorder, value, name)
    if method is None:
        raise Raised(TypeError(f"{class_name(value)!r} object has no {name}"))
    return recorder.call(method, list(args), {})


def binary(recorder: Recorder, function: Callable[..., Any], left: Value, right: Value) -> Value:
    """What an operator of Python gives: a node where a tensor is an operand, the result itself where both are known."""
    if is_users(left) or is_users(right):
        return of_users(recorder, function, left, right)
    if isinstance(left, TensorValue) or isinstance(right, TensorValue):
        return recorder.call_function(function, [left, right], {})
    if is_number(left) and is_number(right) and (isinstance(left, SymbolValue) or isinstance(right, SymbolValue)):
        numbers = [value.example if isinstance(value, SymbolValue) else known(value) for value in (left, right)]
        return made(evaluated(function, *numbers))
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


def is_number(value: Value) -> bool:
    """Whether a value is a number, known or not."""
    return isinstance(value, SymbolValue) or (isinstance(value, Constant) and isinstance(value.value, int | float))


def _united(recorder: Recorder, function: Any, left: Mapping, right: Mapping) -> Value:
    if function is operator.ior:
        recorder.effects.change(left)
        left.items.update(right.items)
        return left
    if left.kind is not dict or right.kind is not dict:
        raise Unsupported(f"| of {left.kind.__name__} and {right.kind.__name__}")
    return Mapping({**left.items, **right.items})


def slice_of(parts: list[Value]) -> Value:
    """A slice between numbers, some of which may be symbols."""
    has_symbols = any(isinstance(part, SymbolValue) for part in parts)
    return SymbolSlice(parts) if has_symbols else Constant(slice(*map(known, parts)))


def subscript(recorder: Recorder, value: Value, key: Value) -> Value:
    """An item of a value."""
    if isinstance(value, TensorValue) or has_tensor(key):
        return recorder.call_function(operator.getitem, [value, key], {})
    if isinstance(value, Sequence):
        found = evaluated(operator.getitem, value.items if value.kind is list else tuple(value.items), known(key))
        return found if isinstance(found, Value) else Sequence(list(found), plain_kind(value.kind))
    if isinstance(value, Mapping):
        return _item(recorder, value, as_key(key))
    if is_users(value):
        return asked(recorder, value, "__getitem__", key)
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
        evaluated(value.items.__setitem__, as_key(key), new)
    elif isinstance(value, Sequence) and value.kind is list:
        recorder.effects.change(value)
        place = known(key)
        evaluated(value.items.__setitem__, place, list(items_of(recorder, new)) if isinstance(place, slice) else new)
    elif is_users(value):
        asked(recorder, value, "__setitem__", key, new)
    else:
        raise Unsupported(f"a change of an item of {describe(value)}")
    return Constant(None)


def delete_item(recorder: Recorder, value: Value, key: Value) -> Value:
    """Delete an item of a list or dict."""
    if is_users(value):
        return asked(recorder, value, "__delitem__", key)
    if not isinstance(value, Mapping) and not (isinstance(value, Sequence) and value.kind is list):
        raise Unsupported(f"the deletion of an item of {describe(value)}")
    recorder.effects.change(value)
    evaluated(operator.delitem, value.items, as_key(key))
    return Constant(None)


def equal(recorder: Recorder, left: Value, right: Value) -> bool:
    """Whether two values are one object or equal, as the search in a list asks."""
    if left is right:
        return True
    return truth(recorder, binary(recorder, operator.eq, left, right))


def contains(recorder: Recorder, container: Value, item: Value) -> bool:
    """Whether an item is in a container."""
    if isinstance(container, TensorValue):
        raise Unsupported("whether an item is in a tensor")
    if is_users(container):
        if special(recorder, container, "__contains__") is not None:
            return truth(recorder, asked(recorder, container, "__contains__", item))
        return any(equal(recorder, other, item) for other in items_of(recorder, container))
    if isinstance(container, Mapping | Group):
        return bool(evaluated(container.items.__contains__, as_key(item)))
    if isinstance(container, View) and container.what == "keys":
        return bool(evaluated(container.owner.items.__contains__, as_key(item)))
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


def truth(recorder: Recorder, value: Value) -> bool:
    """Whether a value is true, which must not depend on a tensor's elements."""
    if isinstance(value, TensorValue):
        raise Unsupported("a branch on a tensor, whose elements are not known while the program is captured")
    if isinstance(value, Sequence | Mapping | Group):
        return bool(value.items)
    if isinstance(value, View):
        return bool(value.owner.items)
    if isinstance(value, Constant | SymbolValue):
        return bool(known(value))
    if isinstance(value, Function | Method | Partial | Context | Iterating | Traceback):
        return True
    if isinstance(value, Known):
        return truth_of_object(recorder, value) if is_users(value) else True
    raise Unsupported(f"a branch on {describe(value)}")


def same(recorder: Recorder, left: Value, right: Value) -> bool:
    """Whether two values stand for one object, where the guards say so of each call."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Constant) and isinstance(one.value, SINGLE):
            return isinstance(other, Constant) and other.value is one.value
        if isinstance(one, Known) and isinstance(one.value, BY_IDENTITY):
            return isinstance(other, Known) and other.value is one.value
    if isinstance(left, TensorValue) and isinstance(right, TensorValue):
        left, right = recorder.input_of(left), recorder.input_of(right)
        if left.source is None or right.source is None:
            return left.example is right.example  # fake tensors are one where tensors are
    if left is right:
        return True
    objects = (Constant, Known, TensorValue, Sequence, Mapping, Group, Function, Method, Iterating)
    if isinstance(left, objects) and isinstance(right, objects) and type(left) is not type(right):
        return False
    if left.source is not None and right.source is not None:
        return _same_outside(recorder, left, right, left.source, right.source)
    if isinstance(left, Known) and isinstance(right, Known):
        return _same_object(recorder, left, right)
    if all(isinstance(value, Mapping | Group | Iterating) or _is_list(value) for value in (left, right)):
        return False  # at least one of them is new
    raise Unsupported(f"whether {describe(left)} is {describe(right)}: only their values are known")


def _same_object(recorder: Recorder, left: Known, right: Known) -> bool:
    """Whether two objects are one, of which at most one has a place that the guards can look up."""
    found = left.value is right.value
    for one, other in ((left, right), (right, left)):
        if one.source is not None and not recorder.effects.is_new(other):
            where, what = one.source.expression, recorder.guards.name_of(other.value)
            recorder.guards.add("ID_MATCH", where, f"{where} is {'' if found else 'not '}{what}")
    return found


def _same_outside(recorder: Recorder, left: Value, right: Value, one: Source, other: Source) -> bool:
    if not all(isinstance(value, Known | TensorValue | Mapping | Group) or _is_list(value) for value in (left, right)):
        raise Unsupported(f"whether {describe(left)} is {describe(right)}: only their values are known")
    found = isinstance(left, Known) and isinstance(right, Known) and left.value is right.value
    first, second = one.expression, other.expression
    recorder.guards.add("ID_MATCH", first, f"{first} is {'' if found else 'not '}{second}")
    return found


def _is_list(value: Value) -> bool:
    return isinstance(value, Sequence) and value.kind is list


def text_of(recorder: Recorder, value: Value, name: str = "__str__") -> str:
    """What `str()` or `repr()` gives."""
    if not isinstance(value, Known) or not is_users(value):
        return str(evaluated(str if name == "__str__" else repr, known(value)))
    kind = type(value.value)
    static = in_mro(kind, name)
    if name == "__str__" and static is object.__str__:
        return text_of(recorder, value, "__repr__")
    if isinstance(static, FunctionType):
        return str(known(recorder.call(Known(static), [value], {})))
    if isinstance(value.value, BaseException) and recorder.effects.is_new(value):
        args = recorder.effects.attributes_of(value).items["args"]
        assert args is not None
        base = next(parent for parent in kind.__mro__ if not is_written_in_python(parent))
        text = str(static(base(*known(args))))
        return text if name == "__str__" else text.replace(base.__name__, kind.__name__, 1)
    raise Unsupported(f"the text of {describe(value)}")


def hashed(key: Any) -> Any:
    hash(key)
    return key
