"""What does it mean to set or delete an attribute of a value?

Mirrors: torch/_dynamo/variables/user_defined.py (method_setattr_standard)
"""

from __future__ import annotations

from types import (
    FunctionType,
    MemberDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.compiler.bytecode.attributes import attribute
from glasstorch.compiler.bytecode.classes import TABLES, class_of, in_mro, of_class
from glasstorch.compiler.bytecode.raising import Raised, of_the_program
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Constant,
    Known,
    TensorValue,
    Value,
    describe,
)
from glasstorch.nn.modules.module import Module


def store_attribute(recorder: Recorder, value: Value, name: str, new: Value | None) -> None:
    """Set an attribute of a value, or delete it."""
    if not isinstance(value, Known) or isinstance(value.value, type):
        raise Unsupported(f"a change of the attribute {name} of {describe(value)}")
    obj, effects = value.value, recorder.effects
    kind = type(obj)
    if isinstance(obj, ModuleType):
        if new is None:
            attribute(recorder, value, name)  # AttributeError if there is none
        effects.write_global(vars(obj), name, new)
        return
    if isinstance(obj, Module):
        _check_of_module(value, name, new)
    elif _has_setter(kind, object) and not isinstance(obj, BaseException):
        setter = in_mro(kind, "__delattr__" if new is None else "__setattr__")
        if not isinstance(setter, FunctionType | WrapperDescriptorType):
            raise Unsupported(f"a change of {name} of {describe(value)}, which has a __setattr__ of its own")
        if isinstance(setter, FunctionType):
            recorder.call(Known(setter), [value, Constant(name), *([] if new is None else [new])], {})
            return
    store_plainly(recorder, value, name, new)


def store_plainly(recorder: Recorder, value: Known, name: str, new: Value | None) -> None:
    """Set an attribute of an object, or delete it, as `object.__setattr__` does."""
    static = in_mro(type(value.value), name)
    if isinstance(value.value, BaseException):
        if name == "__traceback__":
            return
        if name.startswith("__") or not recorder.effects.is_new(value) or hasattr(type(static), "__set__"):
            raise Unsupported(f"a change of {name} of {describe(value)}")
    if isinstance(static, property):
        function = static.fdel if new is None else static.fset
        if function is None:
            what = "deleter" if new is None else "setter"
            owner = type(value.value).__name__
            raise Raised(AttributeError(f"property {name!r} of {owner!r} object has no {what}"))
        recorder.call(Known(function), [value, *([] if new is None else [new])], {})
        return
    if static is not None and not isinstance(static, MemberDescriptorType):
        setter = in_mro(type(static), "__delete__" if new is None else "__set__")
        if isinstance(setter, FunctionType):
            descriptor = of_class(recorder, type(value.value), name, static)
            recorder.call(Known(setter), [descriptor, value, *([] if new is None else [new])], {})
            return
        if hasattr(type(static), "__set__") or hasattr(type(static), "__delete__"):
            raise Unsupported(f"a change of {name} of {describe(value)}, which is a descriptor")
    if new is None and not _is_own(recorder, value, name):
        raise Raised(AttributeError(f"{type(value.value).__name__!r} object has no attribute {name!r}"))
    if static is None and new is not None and not hasattr(value.value, "__dict__"):
        raise Raised(AttributeError(f"{type(value.value).__name__!r} object has no attribute {name!r}"))
    recorder.effects.write(value, name, new)


def _is_own(recorder: Recorder, value: Known, name: str) -> bool:
    """Whether an attribute is one of the object itself."""
    with of_the_program():
        if recorder.effects.read(value, name) is not None:
            return True
    if recorder.effects.is_new(value):
        return False
    is_slot = isinstance(in_mro(type(value.value), name), MemberDescriptorType)
    return name in getattr(value.value, "__dict__", {}) or (is_slot and hasattr(value.value, name))


def _has_setter(kind: Any, plain: Any) -> bool:
    """Whether attributes of a class are set in another way than those of a plain one."""
    return (kind.__setattr__, kind.__delattr__) != (plain.__setattr__, plain.__delattr__)


def _check_of_module(value: Known, name: str, new: Value | None) -> None:
    """Whether an attribute of a module may be set: a buffer by a tensor, or what is no part of it by what is none."""
    module = value.value
    if _has_setter(type(module), Module) or name in TABLES:
        raise Unsupported(f"a change of {name} of {describe(value)}")
    is_part = isinstance(new, TensorValue) and class_of(new) is not Tensor
    is_part |= isinstance(new, Known) and isinstance(new.value, Module)
    if is_part or name in module._parameters or name in module._modules or new is None:
        raise Unsupported(f"a change of the parameter or submodule {name} of {describe(value)}")
    if name in module._buffers and not isinstance(new, TensorValue):
        raise Unsupported(f"a change of the buffer {name} of {describe(value)} to {describe(new)}")
