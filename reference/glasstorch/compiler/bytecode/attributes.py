"""What is an attribute of a value?

Mirrors: torch/_dynamo/variables/tensor.py (method_attr_*), torch/_dynamo/variables/user_defined.py (var_getattr)
Differs: properties and attributes of user-defined classes raise Unsupported.
"""

from __future__ import annotations

import inspect
from types import FunctionType, MemberDescriptorType, ModuleType
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.compiler.bytecode.raising import Raised, evaluated, of_the_program
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Constant,
    Group,
    Known,
    Mapping,
    Method,
    Sequence,
    TensorValue,
    Value,
    describe,
    known,
)
from glasstorch.compiler.bytecode.wrapping import made, source_of, wrap
from glasstorch.nn.modules.module import Module

# What is known of a tensor before its elements are.
FACTS: Final = (
    "shape", "dtype", "device", "ndim", "layout", "requires_grad", "is_leaf", "is_sparse", "is_cuda", "is_meta",
    "itemsize", "nbytes",
)  # fmt: skip
TABLES: Final = ("_parameters", "_buffers", "_modules")  # where a module keeps what it has registered


def attribute(recorder: Recorder, value: Value, name: str) -> Value:
    """The attribute of a value; AttributeError where the object has none, Unsupported where it is not understood."""
    if isinstance(value, TensorValue):
        return _of_tensor(recorder, value, name)
    if isinstance(value, Sequence | Mapping | Group):
        return _of_container(value, name)
    if isinstance(value, Constant):
        return _of_constant(value, name)
    if isinstance(value, Known):
        return _of_known(recorder, value, name)
    raise Unsupported(f"the attribute {name} of {describe(value)}")


def _of_tensor(recorder: Recorder, value: TensorValue, name: str) -> Value:
    if name in FACTS:
        return made(getattr(value.example, name))
    found = getattr(Tensor, name, None)
    if found is None:
        raise Raised(AttributeError(f"'Tensor' object has no attribute {name!r}"))
    if name in ("grad", "grad_fn", "data_ptr", "backward"):
        raise Unsupported(f"{name} of a tensor, which is not known while the program is captured")
    if inspect.isfunction(found):
        return Method(value, name)
    return recorder.call_function(getattr, [value, Constant(name)], {})


def _of_container(value: Sequence | Mapping | Group, name: str) -> Value:
    kind: Any = set if isinstance(value, Group) else value.kind
    if isinstance(value, Sequence) and hasattr(kind, name) and not inspect.isroutine(getattr(kind, name)):
        return _field(value, name)
    if not hasattr(kind, name):
        raise Raised(AttributeError(f"{kind.__name__!r} object has no attribute {name!r}"))
    return Method(value, name)


def _field(value: Sequence, name: str) -> Value:
    """A named item of a tuple: which one, an instance with numbers in place of the items says."""
    numbers = range(len(value.items))
    numbered = value.kind(*numbers) if hasattr(value.kind, "_fields") else value.kind(numbers)
    number: int = getattr(numbered, name)
    return value.items[number]


def _of_constant(value: Constant, name: str) -> Value:
    found = evaluated(getattr, value.value, name)
    return Method(value, name) if callable(found) else made(found)


def _of_known(recorder: Recorder, value: Known, name: str) -> Value:
    obj = value.value
    with of_the_program():
        written = recorder.effects.read(value, name)
    if written is not None:
        return written
    if isinstance(obj, Module):
        found = _of_module(recorder, value, name)
        if found is not None:
            return found
    if isinstance(obj, ModuleType):
        with of_the_program():
            written = recorder.effects.read_global(vars(obj), name)
        if written is not None:
            return written
    if isinstance(obj, ModuleType | type):
        return _outside(recorder, value, name, evaluated(getattr, obj, name))
    if name in (*TABLES, "__dict__") and recorder.effects.attributes.get(id(obj)):
        raise Unsupported(f"{name} of {describe(value)}, of which the program has changed attributes")
    if name == "__dict__":
        raise Unsupported(f"__dict__ of {describe(value)}")
    own = getattr(obj, "__dict__", {})
    if name in own:
        return _outside(recorder, value, name, own[name])
    static = inspect.getattr_static(type(obj), name, None)
    if isinstance(static, property):
        raise Unsupported(f"the property {name} of {describe(value)}")
    if isinstance(static, FunctionType):
        return Method(value, Known(static))
    if isinstance(static, staticmethod | classmethod):
        function = Known(static.__func__)
        return function if isinstance(static, staticmethod) else Method(Known(type(obj)), function)
    if static is None:
        raise Raised(AttributeError(f"{type(obj).__name__!r} object has no attribute {name!r}"))
    return _outside(recorder, value, name, getattr(obj, name))


def _of_module(recorder: Recorder, value: Known, name: str) -> Value | None:
    """A parameter, buffer or submodule, as the module's table has it."""
    for table in TABLES:
        members = getattr(value.value, table)
        if name in members:
            member = members[name]
            if value.source is None:
                raise Unsupported(f"{name} of a module that the program has made while it is captured")
            return wrap(recorder, member, Source(f"{value.source.expression}.{table}[{name!r}]"))
    return None


def _outside(recorder: Recorder, value: Known, name: str, found: Any) -> Value:
    """An attribute of an object of the outside."""
    source = source_of(value, name)
    if source is not None and name.isidentifier():
        return wrap(recorder, found, source)
    if isinstance(found, Tensor | list | dict):
        raise Unsupported(f"{name} of an object whose place in the program is not known")
    return made(found)


def store_attribute(recorder: Recorder, value: Value, name: str, new: Value | None) -> None:
    """Set an attribute of a value, or delete it, where Python would do no more than that."""
    if not isinstance(value, Known) or isinstance(value.value, type):
        raise Unsupported(f"a change of the attribute {name} of {describe(value)}")
    obj, effects = value.value, recorder.effects
    if new is None:
        attribute(recorder, value, name)  # AttributeError if there is none
    if isinstance(obj, ModuleType):
        effects.write_global(vars(obj), name, new)
        return
    kind = type(obj)
    static = inspect.getattr_static(kind, name, None)
    if static is not None and hasattr(type(static), "__set__") and not isinstance(static, MemberDescriptorType):
        raise Unsupported(f"a change of {name} of {describe(value)}, which is a descriptor")
    if isinstance(obj, Module):
        _check_of_module(value, name, new)
    elif _has_setter(kind, object):
        raise Unsupported(f"a change of {name} of {describe(value)}, which has a __setattr__ of its own")
    effects.write(value, name, new)


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


def members(recorder: Recorder, value: Known) -> list[Value]:
    """The submodules of a container of modules, in order."""
    names = list(value.value._modules)
    if value.source is not None:
        recorder.guards.keys(f"{value.source.expression}._modules", value.value._modules)
    return [attribute(recorder, value, name) for name in names]


def class_of(value: Value) -> Any:
    """The class of the object that a value stands for."""
    if isinstance(value, TensorValue):
        return type(value.example) if not hasattr(value.example, "fake_mode") else _class_of_tensor(value)
    if isinstance(value, Sequence):
        return value.kind
    if isinstance(value, Mapping):
        return value.kind
    if isinstance(value, Group):
        return set
    return type(value.value if isinstance(value, Known) else known(value))


def _class_of_tensor(value: TensorValue) -> Any:
    node_type = value.proxy.node.type
    return Tensor if node_type is None else node_type
