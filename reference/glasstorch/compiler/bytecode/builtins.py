"""Which of Python's own functions are understood, and what do they give?

Mirrors: torch/_dynamo/variables/builtin.py
Differs: a table of a few dozen functions; any other one of Python's is called only with what is known.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, Final

from glasstorch.autograd.modes import _set_grad_enabled, is_grad_enabled
from glasstorch.compiler.bytecode.attributes import attribute
from glasstorch.compiler.bytecode.classes import class_of, in_mro
from glasstorch.compiler.bytecode.contexts import set_mode
from glasstorch.compiler.bytecode.objects import (
    IN_PLACE,
    OPERATORS,
    is_users,
)
from glasstorch.compiler.bytecode.operations import asked, binary, hashed, items_of, text_of, truth
from glasstorch.compiler.bytecode.raising import Raised, evaluated
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.storing import store_attribute
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Constant,
    Function,
    Group,
    Known,
    Mapping,
    Method,
    Partial,
    Sequence,
    TensorValue,
    Value,
    View,
    as_key,
    describe,
    known,
)
from glasstorch.outside_data.from_data import is_tensor
from glasstorch.python_forms.fact_functions import is_complex, is_floating_point, numel

Call = Callable[..., Value]
NONE: Final = Constant(None)


def _isinstance(recorder: Recorder, value: Value, kinds: Value) -> Value:
    return Constant(issubclass(class_of(value), known(kinds)))


def _len(recorder: Recorder, value: Value) -> Value:
    if isinstance(value, TensorValue):
        return Constant(value.example.shape[0])
    if isinstance(value, View):
        return Constant(len(value.owner.items))
    if is_users(value):
        return asked(recorder, value, "__len__")
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


def _sequence(kind: type[Any]) -> Call:
    def make(recorder: Recorder, value: Value | None = None) -> Value:
        return Sequence([] if value is None else list(items_of(recorder, value)), kind)

    return make


def _dict(recorder: Recorder, value: Value | None = None, /, **named: Value) -> Value:
    items: dict[Any, Value] = {}
    if isinstance(value, Mapping):
        items.update(value.items)
    elif value is not None:
        for pair in items_of(recorder, value):
            parts = list(items_of(recorder, pair))
            if len(parts) != 2:
                raise Unsupported(f"dict() of pairs of which one is {describe(pair)}")
            items[evaluated(hashed, as_key(parts[0]))] = parts[1]
    return Mapping({**items, **named})


def _type(recorder: Recorder, value: Value, *rest: Value) -> Value:
    if rest:
        raise Unsupported("type() with three arguments, which makes a class")
    return Known(class_of(value))


def _setattr(recorder: Recorder, value: Value, name: Value, new: Value) -> Value:
    store_attribute(recorder, value, known(name), new)
    return Constant(None)


def _delattr(recorder: Recorder, value: Value, name: Value) -> Value:
    store_attribute(recorder, value, known(name), None)
    return Constant(None)


def _vars(recorder: Recorder, value: Value) -> Value:
    return attribute(recorder, value, "__dict__")


def _bool(recorder: Recorder, value: Value = Constant(False)) -> Value:  # noqa: B008  # a constant
    return Constant(truth(recorder, value))


def _callable(recorder: Recorder, value: Value) -> Value:
    if isinstance(value, Function | Method | Partial):
        return Constant(True)
    if is_users(value):
        return Constant(in_mro(type(value.value), "__call__") is not None)  # type: ignore[attr-defined]
    return Constant(callable(value.value) if isinstance(value, Known | Constant) else False)


def _text(recorder: Recorder, value: Value = Constant(""), *rest: Value) -> Value:  # noqa: B008  # a constant
    return Constant(text_of(recorder, value) if not rest else evaluated(str, known(value), *map(known, rest)))


def _repr(recorder: Recorder, value: Value) -> Value:
    return Constant(text_of(recorder, value, "__repr__"))


def _defaultdict(recorder: Recorder, factory: Value = NONE, value: Value | None = None, /, **named: Value) -> Value:
    is_none = isinstance(factory, Constant) and factory.value is None
    made_ = _dict(recorder, value, **named)
    assert isinstance(made_, Mapping)
    return Mapping(made_.items, defaultdict, None if is_none else factory)


def _ordered_dict(recorder: Recorder, value: Value | None = None, /, **named: Value) -> Value:
    made_ = _dict(recorder, value, **named)
    assert isinstance(made_, Mapping)
    return Mapping(made_.items, OrderedDict)


def _is_grad_enabled(recorder: Recorder) -> Value:
    return Constant(is_grad_enabled())


def _set_mode(recorder: Recorder, enabled: Value) -> Value:
    set_mode(recorder, known(enabled))
    return Constant(None)


def _is_tensor(recorder: Recorder, value: Value) -> Value:
    return Constant(isinstance(value, TensorValue))


def _operator(function: Any) -> Call:
    def apply(recorder: Recorder, left: Value, right: Value) -> Value:
        return binary(recorder, function, left, right)

    return apply


def _by_owner(name: str) -> Call:
    """A function of the library that is the method of its first argument."""

    def ask(recorder: Recorder, input: Value, *args: Value, **kwargs: Value) -> Value:  # PyTorch's name
        return recorder.call(attribute(recorder, input, name), list(args), kwargs)

    return ask


UNDERSTOOD: Final[dict[Any, Call]] = {
    isinstance: _isinstance, len: _len, getattr: _getattr, hasattr: _hasattr, list: _sequence(list),
    tuple: _sequence(tuple), dict: _dict, type: _type, setattr: _setattr, delattr: _delattr, vars: _vars, bool: _bool,
    callable: _callable, str: _text, repr: _repr, defaultdict: _defaultdict, OrderedDict: _ordered_dict,
    is_grad_enabled: _is_grad_enabled, _set_grad_enabled: _set_mode, is_tensor: _is_tensor, numel: _by_owner("numel"),
    is_floating_point: _by_owner("is_floating_point"), is_complex: _by_owner("is_complex"),
    **{function: _operator(function) for function in (*OPERATORS, *IN_PLACE, operator.getitem)},
}  # fmt: skip

# Functions without effects, which are called when all that they get is known.
PURE: Final = frozenset(
    [
        abs, bytes, chr, complex, divmod, float, format, frozenset, hash, int, issubclass, ord, pow, range,
        round, slice,
        *(function for function in vars(math).values() if inspect.isbuiltin(function)),
    ]
)  # fmt: skip
