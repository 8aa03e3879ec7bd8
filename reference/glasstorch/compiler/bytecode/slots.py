"""What do methods give that are written in C and called through a class, as `object.__setattr__` is?

Mirrors: torch/_dynamo/variables/user_defined.py (method_setattr_standard), torch/_dynamo/variables/builtin.py
"""

from __future__ import annotations

from typing import Any

from glasstorch.compiler.bytecode.attributes import attribute
from glasstorch.compiler.bytecode.classes import class_of
from glasstorch.compiler.bytecode.objects import new_object
from glasstorch.compiler.bytecode.operations import same, text_of
from glasstorch.compiler.bytecode.raising import Raised
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.storing import store_plainly
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import Constant, Known, Value, describe, known
from glasstorch.nn.modules.module import Module

NONE = Constant(None)


def slot(recorder: Recorder, obj: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """What a call of such a method gives."""
    name = obj.__name__
    if not args:
        raise Unsupported(f"a call of {name} without an object")
    owner, *rest = args
    if obj is object.__new__:
        kind: Any = known(owner)
        if rest or kwargs:
            raise Unsupported(f"object.__new__ of {kind.__name__} with arguments")
        return new_object(recorder, kind, [])
    if isinstance(owner, Known) and not isinstance(owner.value, Module | type):
        if obj in (object.__setattr__, object.__delattr__) or name in ("__setattr__", "__delattr__"):
            store_plainly(recorder, owner, known(rest[0]), rest[1] if name == "__setattr__" else None)
            return NONE
        if obj is object.__init__:
            if rest or kwargs:
                raise Raised(TypeError("object.__init__() takes exactly one argument (the instance to initialize)"))
            return NONE
        if name == "__init__" and isinstance(owner.value, BaseException) and not kwargs:
            recorder.effects.set_args(owner, rest)
            return NONE
        if name in ("__str__", "__repr__") and isinstance(owner.value, BaseException):
            return Constant(text_of(recorder, owner, name))
        if name in ("__eq__", "__ne__") and obj in (object.__eq__, object.__ne__):
            if not same(recorder, owner, rest[0]):
                return Known(NotImplemented)
            return Constant(name == "__eq__")
        raise Unsupported(f"{name} of {describe(owner)}")
    if isinstance(owner, Known):
        raise Unsupported(f"{name} of {describe(owner)}")
    if not issubclass(class_of(owner), obj.__objclass__):
        raise Unsupported(f"{obj.__qualname__} of {describe(owner)}")
    return recorder.call(attribute(recorder, owner, name), rest, kwargs)
