"""How does an object of the outside become a value, and what is then assumed of it?

Mirrors: torch/_dynamo/variables/builder.py (VariableBuilder)
Differs: floats are constants, never symbols.
"""

from __future__ import annotations

import functools
from collections import OrderedDict, defaultdict
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Final

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.compiler.bytecode.contexts import context_of
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Constant,
    Group,
    Known,
    Mapping,
    Method,
    Partial,
    Sequence,
    SymbolValue,
    TensorValue,
    Value,
)
from glasstorch.core.device import device
from glasstorch.core.dtype import dtype
from glasstorch.core.geometry import Size
from glasstorch.core.layout import layout, memory_format
from glasstorch.core.symbols import is_symbol
from glasstorch.nn.modules.module import Module
from glasstorch.nn.modules.rnn import RNNBase
from glasstorch.nn.parameter import Buffer, Parameter

CONSTANTS: Final = (
    int, float, complex, bool, str, bytes, type(None), type(...), slice, range, dtype, device, layout, memory_format,
    Enum, frozenset,
)  # fmt: skip
OF_TUPLES: Final = ("__getitem__", "__iter__", "__len__", "__eq__", "__contains__", "__add__", "__mul__", "__hash__")
BY_IDENTITY: Final = (FunctionType, BuiltinFunctionType, ModuleType, type, Module)


def is_constant(obj: Any) -> bool:
    """Whether an object is a number, a text or the like, or a tuple of them: it can be a key, and equals its copy."""
    if isinstance(obj, tuple | frozenset):
        return type(obj) in (tuple, frozenset) and all(map(is_constant, obj))
    if isinstance(obj, Enum):
        return True
    return type(obj) in CONSTANTS or (isinstance(obj, CONSTANTS) and isinstance(obj, np.generic))


def is_plain_tuple(obj: tuple[Any, ...]) -> bool:
    """Whether an instance of a class that derives from tuple does what a tuple does, and holds nothing else."""
    kind = type(obj)
    if kind is tuple or kind is Size:
        return True
    changed = [name for parent in kind.__mro__[:-2] for name in vars(parent) if name in OF_TUPLES]
    return not changed and not getattr(obj, "__dict__", None)


def wrap(recorder: Recorder, obj: Any, source: Source) -> Value:
    """The value of an object that the function got from outside; what is assumed of it becomes guards.

    Tensors become inputs of the graph. Numbers and texts are constants, containers are looked into, and anything else
    is known by its identity or its class.
    """
    guards, where = recorder.guards, source.expression
    if isinstance(obj, Tensor):
        if type(obj) not in (Tensor, Parameter, Buffer):
            raise Unsupported(f"a tensor of the class {type(obj).__name__}, whose own methods are not known")
        return recorder.input(obj, source)
    if type(obj) is int and (number := recorder.number(obj, source)) is not None:
        return number
    if is_constant(obj) and not isinstance(obj, tuple):
        guards.equal(where, obj)
        return Constant(obj, source=source)
    if isinstance(obj, RNNBase):
        raise Unsupported("Attempted to wrap RNN, GRU, or LSTM")
    if isinstance(obj, BY_IDENTITY):
        guards.same_object(where, obj)
        return Known(obj, source=source)
    if isinstance(obj, tuple) and is_plain_tuple(obj):
        guards.length(where, obj)
        return Sequence([wrap(recorder, item, source.item(i)) for i, item in enumerate(obj)], type(obj), source=source)
    before = recorder.effects.known_as(obj, source)
    if before is not None:
        return before
    if type(obj) is list:
        guards.length(where, obj)
        found = recorder.effects.remember(obj, Sequence([], list, source=source))  # it may contain itself
        found.items += [wrap(recorder, item, source.item(i)) for i, item in enumerate(obj)]
        return found
    if type(obj) in (dict, OrderedDict) and all(map(is_constant, obj)):
        guards.keys(where, obj)
        table = recorder.effects.remember(obj, Mapping({}, type(obj), source=source))
        for key, item in obj.items():
            table.items[key] = wrap(recorder, item, source.item(key))
        return table
    if type(obj) is defaultdict and all(map(is_constant, obj)):
        guards.keys(where, obj)
        factory = (
            None
            if obj.default_factory is None
            else wrap(recorder, obj.default_factory, source.attribute("default_factory"))
        )
        table = recorder.effects.remember(obj, Mapping({}, defaultdict, factory, source=source))
        for key, item in obj.items():
            table.items[key] = wrap(recorder, item, source.item(key))
        return table
    if type(obj) is set and all(map(is_constant, obj)) and list(obj) == list(obj.copy()):
        guards.keys(where, obj)  # type: ignore[arg-type]  # a set has its order too
        return recorder.effects.remember(obj, Group(obj.copy(), source=source))
    if isinstance(obj, MethodType):
        guards.same_object(f"{where}.__func__", obj.__func__)
        owner = wrap(recorder, obj.__self__, source.attribute("__self__"))
        return Method(owner, Known(obj.__func__), source=source)
    context = context_of(recorder, obj, source)
    if context is not None:
        return context
    guards.same_type(where, obj)
    if type(obj) is functools.partial:
        function = wrap(recorder, obj.func, source.attribute("func"))
        args, kwargs = (
            wrap(recorder, obj.args, source.attribute("args")),
            wrap(recorder, obj.keywords, source.attribute("keywords")),
        )
        if isinstance(args, Sequence) and isinstance(kwargs, Mapping):
            return Partial(function, args.items, kwargs.items, source=source)
    return recorder.effects.remember(obj, Known(obj, source=source))


def made(obj: Any) -> Value:
    """The value of an object that the program itself has made of constants."""
    if isinstance(obj, list | tuple):
        return Sequence([made(item) for item in obj], type(obj))
    if isinstance(obj, dict):
        return Mapping({key: made(item) for key, item in obj.items()}, type(obj))
    if isinstance(obj, set):
        return Group(obj)
    if is_symbol(obj):
        return SymbolValue(obj)
    return Constant(obj) if is_constant(obj) else Known(obj)


def source_of(value: Value, name: str) -> Source | None:
    """Where an attribute of a value comes from."""
    return None if value.source is None else value.source.attribute(name)


__all__ = ["TensorValue", "made", "source_of", "wrap"]
