"""How does an object of the outside become a value, and what is then assumed of it?

Mirrors: torch/_dynamo/variables/builder.py (VariableBuilder)
Differs: numbers are constants, never symbols.
"""

from __future__ import annotations

from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import Constant, Known, Mapping, Method, Sequence, TensorValue, Value
from glasstorch.core.device import device
from glasstorch.core.dtype import dtype
from glasstorch.core.layout import layout, memory_format
from glasstorch.nn.modules.module import Module
from glasstorch.nn.parameter import Buffer, Parameter

CONSTANTS: Final = (
    int, float, complex, bool, str, bytes, type(None), type(...), slice, range, dtype, device, layout, memory_format,
    Enum, frozenset,
)  # fmt: skip
BY_IDENTITY: Final = (FunctionType, BuiltinFunctionType, ModuleType, type, Module)


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
    if isinstance(obj, CONSTANTS):
        guards.equal(where, obj)
        return Constant(obj, source=source)
    if type(obj) is list or isinstance(obj, tuple):
        guards.length(where, obj)
        items = [wrap(recorder, item, source.item(i)) for i, item in enumerate(obj)]
        return Sequence(items, type(obj), source=source)
    if type(obj) is dict and all(isinstance(key, CONSTANTS) for key in obj):
        guards.keys(where, obj)
        return Mapping({key: wrap(recorder, item, source.item(key)) for key, item in obj.items()}, source=source)
    if isinstance(obj, MethodType):
        guards.same_object(f"{where}.__func__", obj.__func__)
        owner = wrap(recorder, obj.__self__, source.attribute("__self__"))
        return Method(owner, Known(obj.__func__), source=source)
    if isinstance(obj, BY_IDENTITY):
        guards.same_object(where, obj)
    else:
        guards.same_type(where, obj)
    return Known(obj, source=source)


def made(obj: Any) -> Value:
    """The value of an object that the program itself has made of constants."""
    if isinstance(obj, list | tuple):
        return Sequence([made(item) for item in obj], type(obj))
    if isinstance(obj, dict):
        return Mapping({key: made(item) for key, item in obj.items()})
    return Constant(obj) if isinstance(obj, CONSTANTS) else Known(obj)


def source_of(value: Value, name: str) -> Source | None:
    """Where an attribute of a value comes from."""
    return None if value.source is None else value.source.attribute(name)


__all__ = ["TensorValue", "made", "source_of", "wrap"]
