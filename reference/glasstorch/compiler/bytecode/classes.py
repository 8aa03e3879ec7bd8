"""What is the class of a value, what does it define, and who may change it?

Mirrors: torch/_dynamo/variables/user_defined.py (get_source_by_walking_mro)
"""

from __future__ import annotations

import functools
from types import (
    FunctionType,
    GeneratorType,
    MethodType,
)
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.values import (
    Context,
    Function,
    Generator,
    Group,
    Known,
    Mapping,
    Method,
    Partial,
    Sequence,
    SymbolValue,
    TensorValue,
    Value,
    View,
    known,
)
from glasstorch.compiler.bytecode.wrapping import wrap

LIBRARY: Final = "glasstorch"
TABLES: Final = ("_parameters", "_buffers", "_modules")  # where a module keeps what it has registered


def in_mro(kind: type[Any], name: str) -> Any:
    """What a class or the first of its parents defines under a name, as it is defined; None if none does."""
    return next((vars(parent)[name] for parent in kind.__mro__ if name in vars(parent)), None)


def module_in_the_library(obj: Any) -> str:
    """The module of the library that defines a function or a class; nothing if it is not the library's."""
    module: str = getattr(obj, "__module__", None) or ""
    return module if module.partition(".")[0] in (LIBRARY, "torch") else ""


def is_of_the_program(kind: Any) -> bool:
    """Whether a class is one that a program may change at any time."""
    return is_written_in_python(kind) and not module_in_the_library(kind)


def is_written_in_python(kind: Any) -> bool:
    """Whether a class is made by a `class` statement, or one of NumPy's or the like that can be changed as those."""
    return bool(kind.__flags__ & 1 << 9)


def of_class(recorder: Recorder, kind: Any, name: str, static: Any) -> Value:
    """What a class, or one of its parents, defines under a name; of a class of the library, without a guard."""
    owner = next(parent for parent in kind.__mro__ if name in vars(parent))
    if isinstance(static, FunctionType) and not is_of_the_program(owner):
        return Known(static)
    if not hasattr(type(static), "__get__") or isinstance(static, FunctionType):  # the class itself gives it, as it is
        return wrap(recorder, static, Source(recorder.guards.name_of(kind)).attribute(name))
    return wrap(recorder, static, Source(f"{recorder.guards.name_of(owner)}.__dict__").item(name))


def guard_static(recorder: Recorder, kind: Any, name: str, static: Any) -> None:
    """Guard that a class still has a property or the like, which is no object of its own for the program."""
    owner = next(parent for parent in kind.__mro__ if name in vars(parent))
    if is_of_the_program(owner):
        recorder.guards.same_object(f"{recorder.guards.name_of(owner)}.__dict__[{name!r}]", static)


def place_of(recorder: Recorder, value: Known) -> str:
    """The expression that leads to an object of the outside; to one that stays the same, its name in the guards."""
    return recorder.guards.name_of(value.value) if value.source is None else value.source.expression


def class_of(value: Value) -> Any:
    """The class of the object that a value stands for."""
    if isinstance(value, TensorValue):
        return type(value.example) if not hasattr(value.example, "fake_mode") else _class_of_tensor(value)
    if isinstance(value, Sequence | Mapping | Context):
        return value.kind
    if isinstance(value, SymbolValue):
        return value.example.node.pytype
    if isinstance(value, View):
        return type(getattr({}, value.what)())
    kinds: dict[type[Any], Any] = {
        Group: set, Function: FunctionType, Method: MethodType, Generator: GeneratorType, Partial: functools.partial,
    }  # fmt: skip
    if type(value) in kinds:
        return kinds[type(value)]
    return type(value.value if isinstance(value, Known) else known(value))


def _class_of_tensor(value: TensorValue) -> Any:
    node_type = value.proxy.node.type
    return Tensor if node_type is None else node_type
