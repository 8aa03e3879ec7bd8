"""What is an attribute of a value?

Mirrors: torch/_dynamo/variables/tensor.py (method_attr_*), torch/_dynamo/variables/user_defined.py (var_getattr)
Differs: an attribute that the program cannot reach by an expression again is refused if it can change.
"""

from __future__ import annotations

import functools
import inspect
from enum import Enum
from types import (
    FunctionType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.compiler.bytecode.classes import (
    TABLES,
    class_of,
    guard_static,
    in_mro,
    is_of_the_program,
    of_class,
    place_of,
)
from glasstorch.compiler.bytecode.contexts import context_attribute
from glasstorch.compiler.bytecode.raising import Raised, evaluated, of_the_program
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
    Super,
    SymbolValue,
    TensorValue,
    Traceback,
    Value,
    View,
    describe,
    known,
)
from glasstorch.compiler.bytecode.wrapping import made, wrap
from glasstorch.core.geometry import Size
from glasstorch.nn.modules.module import Module

# What is known of a tensor before its elements are.
FACTS: Final = (
    "shape", "dtype", "device", "ndim", "layout", "requires_grad", "is_leaf", "is_sparse", "is_cuda", "is_meta",
    "itemsize", "nbytes",
)  # fmt: skip
PLAIN_READERS: Final = (object.__getattribute__, BaseException.__getattribute__, None)


def attribute(recorder: Recorder, value: Value, name: str) -> Value:
    """The attribute of a value; AttributeError where the object has none, Unsupported where it is not understood."""
    if isinstance(value, TensorValue):
        return _of_tensor(recorder, value, name)
    if isinstance(value, Sequence | Mapping | Group):
        return _of_container(value, name)
    if isinstance(value, SymbolValue):
        return _of_constant(recorder, Constant(known(value)), name)
    if isinstance(value, Constant):
        return _of_constant(recorder, value, name)
    if isinstance(value, Known):
        return _of_known(recorder, value, name)
    if isinstance(value, Context):
        return context_attribute(value, name)
    if isinstance(value, Super):
        return _of_super(recorder, value, name)
    if isinstance(value, Function):
        return _of_function(value, name)
    if isinstance(value, Partial) and name in ("func", "args", "keywords"):
        parts = {"func": value.function, "args": Sequence(value.args, tuple), "keywords": Mapping(value.kwargs)}
        return parts[name]
    if isinstance(value, View | Iterating):
        return Method(value, name)
    if isinstance(value, Method) and name == "__self__":
        return value.owner
    if isinstance(value, Method) and name == "__func__" and isinstance(value.function, Value):
        return value.function
    raise Unsupported(f"the attribute {name} of {describe(value)}")


def _of_tensor(recorder: Recorder, value: TensorValue, name: str) -> Value:
    if name in FACTS:
        fact = getattr(value.example, name)
        if name == "is_leaf" and value.source is not None:
            place = value.source.expression
            fact = recorder.tensors[value.proxy.node].is_leaf
            recorder.guards.add("IS_LEAF", place, f"{place}.is_leaf is {fact}")
        return made(fact)
    found = getattr(Tensor, name, None)
    if found is None:
        if value.source is not None and name in vars(recorder.tensors[value.proxy.node]):
            return wrap(recorder, vars(recorder.tensors[value.proxy.node])[name], value.source.attribute(name))
        if value.source is not None:
            place = value.source.expression
            recorder.guards.add("NOT_PRESENT_IN_GENERIC_DICT", place, f"{name!r} not in {place}.__dict__")
        raise Raised(AttributeError(f"'Tensor' object has no attribute {name!r}"))
    if name.startswith("is_") and not callable(found):  # what it is kept as, which its guard looks at
        return made(getattr(value.example, name))
    if name == "grad":
        return _grad(recorder, value)
    if name in ("grad_fn", "data_ptr"):
        raise Unsupported(f"{name} of a tensor, which is not known while the program is captured")
    if inspect.isfunction(found):
        return Method(value, name)
    return recorder.call_function(getattr, [value, Constant(name)], {})


def _grad(recorder: Recorder, value: TensorValue) -> Value:
    """The gradient of a leaf of the outside, which is an input too; what a program computes has none yet."""
    if value.source is None:
        return Constant(None)
    tensor = recorder.tensors[value.proxy.node]
    if not tensor.is_leaf:
        raise Unsupported("grad of a tensor with a history, which is kept only where the program asked for it")
    return wrap(recorder, tensor.grad, value.source.attribute("grad"))


def _of_container(value: Sequence | Mapping | Group, name: str) -> Value:
    kind: Any = set if isinstance(value, Group) else value.kind
    if isinstance(value, Sequence) and hasattr(kind, name) and not inspect.isroutine(getattr(kind, name)):
        return _field(value, name)
    method = in_mro(kind, name)
    if isinstance(method, FunctionType) and kind is not Size and not _is_generated(kind, name):
        return Method(value, Known(method))
    if isinstance(method, classmethod) and isinstance(method.__func__, FunctionType):
        return Method(Known(kind), Known(method.__func__))
    if not hasattr(kind, name):
        raise Raised(AttributeError(f"{kind.__name__!r} object has no attribute {name!r}"))
    return Method(value, name)


def _is_generated(kind: type[Any], name: str) -> bool:
    """Whether a method is one of those that `namedtuple` makes."""
    return hasattr(kind, "_fields") and name in ("_replace", "_asdict")


def _field(value: Sequence, name: str) -> Value:
    """A named item of a tuple: which one, an instance with numbers in place of the items says."""
    numbers = range(len(value.items))
    numbered = value.kind(*numbers) if hasattr(value.kind, "_fields") else value.kind(numbers)
    number: int = getattr(numbered, name)
    return value.items[number]


def _of_constant(recorder: Recorder, value: Constant, name: str) -> Value:
    kind = type(value.value)
    static = in_mro(kind, name)
    if isinstance(value.value, Enum) and isinstance(static, FunctionType | classmethod | property):
        if isinstance(static, FunctionType):
            return Method(value, of_class(recorder, kind, name, static))
        if isinstance(static, property) and static.fget is not None:
            return recorder.call(Known(static.fget), [value], {})
        if isinstance(static, classmethod):
            return Method(Known(kind), Known(static.__func__))
    found = evaluated(getattr, value.value, name)
    return Method(value, name) if callable(found) and not isinstance(found, type) else made(found)


def _of_function(value: Function, name: str) -> Value:
    if name == "__name__":
        return Constant(value.code.co_name)
    if name == "__qualname__":
        return Constant(value.code.co_qualname)
    if name == "__doc__":
        text = value.code.co_consts[0] if value.code.co_consts else None
        return Constant(text if isinstance(text, str) else None)
    if name == "__module__":
        return made(value.names.get("__name__"))
    if name == "__code__":
        return Known(value.code)
    raise Unsupported(f"{name} of {describe(value)}")


def _of_super(recorder: Recorder, value: Super, name: str) -> Value:
    """A method of the classes after a class."""
    is_class = isinstance(value.owner, Known) and isinstance(value.owner.value, type)
    kind: Any = value.owner.value if is_class else class_of(value.owner)  # type: ignore[attr-defined]
    order = kind.__mro__[kind.__mro__.index(value.after) + 1 :]
    static = next((vars(parent)[name] for parent in order if name in vars(parent)), None)
    if static is None:
        raise Raised(AttributeError(f"'super' object has no attribute {name!r}"))
    if isinstance(static, staticmethod):
        return Known(static.__func__)
    if isinstance(static, classmethod):
        return Method(value.owner if is_class else Known(kind), Known(static.__func__))
    if isinstance(static, property) and static.fget is not None:
        return recorder.call(Known(static.fget), [value.owner], {})
    if isinstance(static, FunctionType):
        owner = next(parent for parent in order if name in vars(parent))
        function = of_class(recorder, owner, name, static)
        return function if is_class else Method(value.owner, function)
    if isinstance(static, WrapperDescriptorType | MethodDescriptorType):
        return Known(static) if is_class else Method(value.owner, Known(static))
    if name == "__new__" and static is object.__new__:
        return Known(static)
    raise Unsupported(f"{name} of super()")


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
        return _outside(recorder, value, name, evaluated(getattr, obj, name))
    if isinstance(obj, type):
        return _of_class(recorder, value, name)
    if name in TABLES and recorder.effects.attributes.get(id(obj)):
        raise Unsupported(f"{name} of {describe(value)}, of which the program has changed attributes")
    if name == "__class__":
        return Known(type(obj))
    if name == "__dict__":
        return _table(recorder, value)
    return _of_object(recorder, value, name)


def _of_class(recorder: Recorder, value: Known, name: str) -> Value:
    """An attribute of a class."""
    obj = value.value
    static = in_mro(obj, name)
    if static is None and type(obj) is not type and isinstance(in_mro(type(obj), "__getattr__"), FunctionType):
        raise Unsupported(f"{name} of the class {obj.__name__}, whose metaclass says what that is")
    if isinstance(static, staticmethod | classmethod):
        guard_static(recorder, obj, name, static)
    if isinstance(static, classmethod) and isinstance(static.__func__, FunctionType):
        return Method(value, Known(static.__func__))
    found = evaluated(getattr, obj, name)
    if isinstance(found, MethodType):
        raise Unsupported(f"{name} of the class {obj.__name__}")
    if static is None:
        return made(found)  # of the metaclass
    return _outside(recorder, value, name, found)


def _table(recorder: Recorder, value: Known) -> Value:
    """All attributes of an object; none of them can be set from here on."""
    effects = recorder.effects
    found = effects.attributes_of(value)
    if effects.is_new(value):
        items: dict[Any, Value] = {key: item for key, item in found.items.items() if item is not None}
    elif found.items or value.source is None or type(value.value.__dict__) is not dict:
        raise Unsupported(f"__dict__ of {describe(value)}, of which the program has changed attributes")
    else:
        wrapped = wrap(recorder, value.value.__dict__, value.source.attribute("__dict__"))
        if not isinstance(wrapped, Mapping):
            raise Unsupported(f"__dict__ of {describe(value)}")
        items = wrapped.items
    found.looked_at = True
    return Mapping(items, frozen=f"the __dict__ of {describe(value)}")


def _of_object(recorder: Recorder, value: Known, name: str) -> Value:
    """An attribute of an object of a class: of itself, or what its class defines, bound to it."""
    obj = value.value
    kind, is_new = type(obj), recorder.effects.is_new(value)
    if in_mro(kind, "__getattribute__") not in PLAIN_READERS:
        raise Unsupported(f"{name} of {describe(value)}, which has a __getattribute__ of its own")
    static = in_mro(kind, name)
    if isinstance(static, property | staticmethod | classmethod | functools.cached_property):
        guard_static(recorder, kind, name, static)
    if isinstance(static, property):
        return _of_property(recorder, value, name, static)
    own = {} if is_new else getattr(obj, "__dict__", {})
    if name in own:
        return _outside(recorder, value, name, own[name])
    if not is_new and hasattr(obj, "__dict__") and is_of_the_program(kind):
        place = place_of(recorder, value)
        recorder.guards.add("NOT_PRESENT_IN_GENERIC_DICT", place, f"{name!r} not in {place}.__dict__")
    if isinstance(static, FunctionType):
        return Method(value, of_class(recorder, kind, name, static))
    if isinstance(static, staticmethod | classmethod):
        function = Known(static.__func__)
        return function if isinstance(static, staticmethod) else Method(Known(kind), function)
    if isinstance(static, functools.cached_property):
        found = recorder.call(Known(static.func), [value], {})
        recorder.effects.write(value, name, found)
        return found
    if isinstance(static, MemberDescriptorType) and not is_new and hasattr(obj, name):
        return _outside(recorder, value, name, getattr(obj, name))
    if isinstance(obj, BaseException) and is_new:
        return _of_error(recorder, value, name, static)
    if static is None or isinstance(static, MemberDescriptorType):
        return _missing(recorder, value, name)
    getter = in_mro(type(static), "__get__")
    if isinstance(getter, FunctionType):
        return recorder.call(Known(getter), [of_class(recorder, kind, name, static), value, Known(kind)], {})
    if isinstance(static, WrapperDescriptorType | MethodDescriptorType):
        return Method(value, Known(static))
    if getter is not None and is_new:
        raise Unsupported(f"{name} of {describe(value)}")
    if is_new:
        return of_class(recorder, kind, name, static)
    return _outside(recorder, value, name, getattr(obj, name))


def _of_property(recorder: Recorder, value: Known, name: str, static: property) -> Value:
    if not isinstance(static.fget, FunctionType):
        raise Unsupported(f"the property {name} of {describe(value)}")
    try:
        return recorder.call(Known(static.fget), [value], {})
    except Raised as raised:
        if isinstance(raised.error, AttributeError) and in_mro(type(value.value), "__getattr__") is not None:
            return _missing(recorder, value, name)
        raise


def _of_error(recorder: Recorder, value: Known, name: str, static: Any) -> Value:
    """An attribute of an error that the program has made."""
    if name == "with_traceback":
        return Method(value, name)
    if name == "__traceback__":
        return Traceback()
    if name == "__cause__":
        return Constant(None)
    if static is None:
        return _missing(recorder, value, name)
    if isinstance(static, WrapperDescriptorType | MethodDescriptorType) and name in ("__init__", "__str__", "__repr__"):
        return Method(value, Known(static))
    if hasattr(type(static), "__get__"):
        raise Unsupported(f"{name} of an error")
    return of_class(recorder, type(value.value), name, static)


def _missing(recorder: Recorder, value: Known, name: str) -> Value:
    """What `__getattr__` gives for a name that is not found otherwise."""
    kind = type(value.value)
    if isinstance(value.value, Module):
        place = place_of(recorder, value)
        for table in ("__dict__", *TABLES):
            recorder.guards.add("NOT_PRESENT_IN_GENERIC_DICT", place, f"{name!r} not in {place}.{table}")
    if is_of_the_program(kind) and in_mro(kind, name) is None and not recorder.effects.is_new(value):
        place = place_of(recorder, value)
        recorder.guards.add("NOT_PRESENT_IN_CLASS", place, f"lacks({place}, {name!r})")
    getter = in_mro(kind, "__getattr__")
    if isinstance(getter, FunctionType) and not isinstance(value.value, Module):
        return recorder.call(of_class(recorder, kind, "__getattr__", getter), [value, Constant(name)], {})
    if getter is not None and not (isinstance(value.value, Module) and getter is in_mro(Module, "__getattr__")):
        raise Unsupported(f"{name} of {describe(value)}, which has a __getattr__ of its own")
    raise Raised(AttributeError(f"{kind.__name__!r} object has no attribute {name!r}"))


def _of_module(recorder: Recorder, value: Known, name: str) -> Value | None:
    """A parameter, buffer or submodule, as the module's table has it."""
    for table in TABLES:
        if table not in vars(value.value):
            raise Unsupported(f"{name} of a module that is made while the program is captured")
        members = getattr(value.value, table)
        known_members = recorder.effects.outside.get(id(members))
        if isinstance(known_members, Mapping) and id(known_members) in recorder.effects.containers:
            if name in known_members.items:  # the program has changed the table
                return known_members.items[name]
        elif name in members:
            member = members[name]
            return wrap(recorder, member, Source(f"{place_of(recorder, value)}.{table}[{name!r}]"))
    return None


def _outside(recorder: Recorder, value: Known, name: str, found: Any) -> Value:
    """An attribute of an object of the outside."""
    place = Source(place_of(recorder, value))
    if not name.isidentifier():
        raise Unsupported(f"the attribute {name!r} of {describe(value)}")
    return wrap(recorder, found, place.attribute(name))


def members(recorder: Recorder, value: Known) -> list[Value]:
    """The submodules of a container of modules, in order."""
    names = list(value.value._modules)
    if id(recorder.effects.outside.get(id(value.value._modules))) in recorder.effects.containers:
        raise Unsupported(f"a loop over {describe(value)}, whose modules the program has changed")
    if value.source is not None:
        recorder.guards.keys(f"{value.source.expression}._modules", value.value._modules)
    return [attribute(recorder, value, name) for name in names]
