"""What does a call give: a node, the result of a function that is executed symbolically too, or a constant?

Mirrors: torch/_dynamo/symbolic_convert.py (call_function, InliningInstructionTranslator), torch/_dynamo/trace_rules.py
Differs: the library's functions are told by where they are defined; there is no list of rules.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from types import (
    BuiltinFunctionType,
    CellType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    WrapperDescriptorType,
)
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.compiler.bytecode import builtins, iterators
from glasstorch.compiler.bytecode.attributes import attribute
from glasstorch.compiler.bytecode.builtins import PURE
from glasstorch.compiler.bytecode.classes import in_mro, is_written_in_python, module_in_the_library
from glasstorch.compiler.bytecode.containers import container_method
from glasstorch.compiler.bytecode.contexts import UNDERSTOOD as CONTEXTS
from glasstorch.compiler.bytecode.contexts import context_method, make_context
from glasstorch.compiler.bytecode.iterators import iterator_method
from glasstorch.compiler.bytecode.marked import marked
from glasstorch.compiler.bytecode.not_in_a_graph import call_of_the_library, method_without_effect
from glasstorch.compiler.bytecode.objects import instantiate, is_users, special
from glasstorch.compiler.bytecode.operations import items_of, same, subscript, truth
from glasstorch.compiler.bytecode.raising import Raised, evaluated
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.slots import slot
from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Cell,
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
    TensorValue,
    Value,
    View,
    describe,
    is_known,
    known,
)
from glasstorch.compiler.bytecode.wrapping import made, wrap
from glasstorch.core.device import device
from glasstorch.core.geometry import Size
from glasstorch.core.type_info import finfo, iinfo
from glasstorch.dispatch.overload import OpOverload
from glasstorch.fx._names import qualified_name
from glasstorch.nn.modules.module import Module

# Whose functions and methods are executed as a program's are.
LAYERS: Final = ("glasstorch.nn.modules", "glasstorch.nn.parallel", "glasstorch.nn.utils")
# Where functions are defined that compute with tensors, and do nothing else.
COMPUTING: Final = (
    "glasstorch.operators.generated", "glasstorch.nn.functions", "glasstorch.python_forms", "glasstorch.functional",
    "glasstorch.outside_data",
)  # fmt: skip
UNDERSTOOD: Final = {**builtins.UNDERSTOOD, **iterators.UNDERSTOOD}
OF_CONSTANTS: Final = (Size, device, finfo, iinfo)  # classes whose objects are made of constants
Inline = Callable[[Function, list[Value], dict[str, Value]], Value]

HOOKS: Final = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class Caller:
    """Calls values. `inline` executes a Python function symbolically."""

    def __init__(self, recorder: Recorder, inline: Inline) -> None:
        self.recorder = recorder
        self.inline = inline
        recorder.call = self.call
        recorder.truth = partial(truth, recorder)
        recorder.same = partial(same, recorder)
        recorder.items = partial(items_of, recorder)

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """What a call gives."""
        if isinstance(function, Function):
            return self.inline(function, args, kwargs)
        if isinstance(function, Method):
            return self._method(function, args, kwargs)
        if isinstance(function, Partial):
            return self.call(function.function, [*function.args, *args], {**function.kwargs, **kwargs})
        if not isinstance(function, Known | Constant):
            raise Unsupported(f"a call of {describe(function)}")
        return self._known(function, function.value, args, kwargs)

    def _method(self, method: Method, args: list[Value], kwargs: dict[str, Value]) -> Value:
        own: Any = method.function.value if isinstance(method.function, Known) else None
        if isinstance(method.owner, TensorValue) and _is_own_method(own):
            return self._tensor_method(method.owner, own.__name__, args, kwargs)
        if isinstance(method.function, Value):
            return self.call(method.function, [method.owner, *args], kwargs)
        owner, name = method.owner, method.function
        if isinstance(owner, TensorValue):
            return self._tensor_method(owner, name, args, kwargs)
        if isinstance(owner, Sequence | Mapping | Group | View):
            return container_method(self.recorder, owner, name, args, kwargs)
        if isinstance(owner, Iterating):
            return iterator_method(self.recorder, owner, name, args)
        if isinstance(owner, Context):
            return context_method(self.recorder, owner, name)
        if isinstance(owner, Known) and name == "with_traceback":
            return owner
        drained = [Sequence(list(arg.items), list) if isinstance(arg, Iterating) else arg for arg in args]
        given, named = map(known, drained), {key: known(value) for key, value in kwargs.items()}
        return made(evaluated(getattr(known(owner), name), *given, **named))

    def _tensor_method(self, owner: TensorValue, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name in ("size", "dim", "numel", "stride", "is_contiguous", "is_floating_point", "is_complex", "nelement"):
            found = getattr(owner.example, name)
            return made(evaluated(found, *map(known, args), **{key: known(value) for key, value in kwargs.items()}))
        if name == "backward":
            raise Unsupported("backward() of a tensor, which changes gradients that the graph does not know")
        if name in ("item", "tolist", "numpy", "__bool__", "__int__", "__float__"):
            raise Unsupported(f"{name}() of a tensor, whose elements are not known while the program is captured")
        if method_without_effect(owner, name, args, kwargs):
            return owner
        return self.recorder.call_method(name, [owner, *args], kwargs)

    def _known(self, function: Value, obj: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if is_users(function) and not isinstance(obj, Module):
            return self._object(function, args, kwargs)
        meaning = marked(self.recorder, self.call, function, args, kwargs)
        if meaning is not None:
            return meaning
        if isinstance(obj, Module):
            return self._module(function, obj, args, kwargs)
        if obj in UNDERSTOOD:
            return self._understood(obj, args, kwargs)
        if obj in PURE:
            return self._pure(obj, args, kwargs)
        if isinstance(obj, WrapperDescriptorType | MethodDescriptorType) or obj is object.__new__:
            return slot(self.recorder, obj, args, kwargs)
        if isinstance(obj, type):
            return self._class(obj, args, kwargs)
        if self._is_of_the_library(obj):
            return call_of_the_library(self.recorder, obj, args, kwargs)
        if isinstance(obj, FunctionType):
            return self.inline(self.function_of(function, obj), args, kwargs)
        if isinstance(obj, BuiltinFunctionType):
            raise Unsupported(f"a call of the builtin {obj.__name__}, of which nothing is known here")
        raise Unsupported(f"a call of {describe(function)}")

    def _understood(self, obj: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """What a function of Python gives that has a plain twin here."""
        try:
            return UNDERSTOOD[obj](self.recorder, *args, **kwargs)
        except TypeError as error:
            if error.__traceback__ is not None and error.__traceback__.tb_next is None:  # the call itself
                raise Unsupported(f"a call of {obj.__name__} with {len(args) + len(kwargs)} arguments") from error
            raise

    def _object(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """What an object gives that can be called."""
        obj = function.value  # type: ignore[attr-defined]
        if isinstance(obj, MethodType):
            return self.call(Known(obj.__func__), [made(obj.__self__), *args], kwargs)
        if not self.recorder.effects.is_new(function) and self._is_operator(obj):  # type: ignore[arg-type]
            return self.recorder.call_function(obj, args, kwargs)
        method = special(self.recorder, function, "__call__")
        if method is None:
            raise Raised(TypeError(f"{type(obj).__name__!r} object is not callable"))
        return self.call(method, args, kwargs)

    def _class(self, kind: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """What a call of a class gives."""
        if kind in CONTEXTS:
            return make_context(self.recorder, kind, args, kwargs)
        if issubclass(kind, tuple) and hasattr(kind, "_fields"):
            return self._named_tuple(kind, args, kwargs)
        if kind in OF_CONSTANTS:
            return made(evaluated(kind, *map(known, args), **{name: known(value) for name, value in kwargs.items()}))
        if module_in_the_library(kind):
            raise Unsupported(f"a call of {qualified_name(kind)}, which a graph cannot hold")
        if is_written_in_python(kind) or issubclass(kind, BaseException):
            return instantiate(self.recorder, kind, args, kwargs)
        raise Unsupported(f"a call of {kind.__name__}, of which nothing is known here")

    def _named_tuple(self, kind: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        owner = next(parent for parent in kind.__mro__ if "_fields" in vars(parent))
        if in_mro(kind, "__new__") is not vars(owner).get("__new__") or isinstance(
            in_mro(kind, "__init__"), FunctionType
        ):
            raise Unsupported(f"a call of {kind.__name__}, which has a __new__ or an __init__ of its own")
        given = dict(zip(kind._fields, args, strict=False)) | kwargs
        defaults = {name: made(default) for name, default in kind._field_defaults.items()}
        items = [given.get(name, defaults.get(name)) for name in kind._fields]
        if len(args) > len(kind._fields) or set(kwargs) - set(kind._fields) or None in items:
            raise Unsupported(f"{kind.__name__}: {len(args)} arguments and {list(kwargs)} do not fit {kind._fields}")
        return Sequence([item for item in items if item is not None], kind)

    def _pure(self, obj: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if any(isinstance(arg, TensorValue) for arg in args):
            if obj in (abs, pow):
                return self.recorder.call_function(obj, args, kwargs)
            raise Unsupported(f"{obj.__name__}() of a tensor, whose elements are not known while it is captured")
        given = [Sequence(list(arg.items), list) if isinstance(arg, Iterating) else arg for arg in args]
        if not all(map(is_known, given)):
            raise Unsupported(f"{obj.__name__}() of {', '.join(map(describe, given))}")
        return made(evaluated(obj, *map(known, given), **{name: known(value) for name, value in kwargs.items()}))

    def _is_operator(self, obj: Any) -> bool:
        return isinstance(obj, OpOverload) or "overloads" in dir(type(obj))

    def _is_of_the_library(self, obj: Any) -> bool:
        """Whether a function is one of the library's operators or functions, which a graph calls."""
        if isinstance(obj, OpOverload) or hasattr(obj, "overloads"):
            return True
        module = module_in_the_library(obj)
        if not module or module.startswith(LAYERS):
            return False
        if computes(obj):
            return True
        raise Unsupported(f"a call of {qualified_name(obj)}, which a graph cannot hold")

    def _module(self, value: Value, module: Module, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The result of a module's `forward`, which is executed symbolically."""
        if any(getattr(module, name) for name in HOOKS):
            raise Unsupported(f"a call of {type(module).__name__}, which has hooks")
        if type(module).__call__ is not Module.__call__:
            raise Unsupported(f"a call of {type(module).__name__}, which has a __call__ of its own")
        if value.source is not None:
            where, guards = value.source.expression, self.recorder.guards
            guards.equal(f"{where}.training", module.training)
            guards.add("EMPTY_NN_MODULE_HOOKS_DICT", where, " and ".join(f"not {where}.{name}" for name in HOOKS))
            if "forward" not in vars(module):
                guards.add("NOT_PRESENT_IN_GENERIC_DICT", where, f"'forward' not in {where}.__dict__")
        forward = attribute(self.recorder, value, "forward")
        return self.call(forward, args, kwargs)

    def bound_function_of(self, source: Source, obj: FunctionType) -> Function:
        """A Python function whose arguments are all given, so that its defaults do not matter."""
        cells = [self._cell(cell, source.cell(i)) for i, cell in enumerate(obj.__closure__ or ())]
        return Function(obj.__code__, obj.__globals__, closure=tuple(cells))

    def function_of(self, value: Value, obj: FunctionType) -> Function:
        """A Python function, with its defaults and the variables of outer functions as values."""
        source = value.source or Source(self.recorder.guards.name_of(obj))
        cells = [self._cell(cell, source.cell(i)) for i, cell in enumerate(obj.__closure__ or ())]
        place = source.attribute("__defaults__")
        defaults = tuple(
            wrap(self.recorder, default, place.item(i)) for i, default in enumerate(obj.__defaults__ or ())
        )
        place = source.attribute("__kwdefaults__")
        keywords = {
            name: wrap(self.recorder, default, place.item(name)) for name, default in (obj.__kwdefaults__ or {}).items()
        }
        return Function(obj.__code__, obj.__globals__, defaults, keywords, tuple(cells))

    def _cell(self, cell: CellType, source: Source) -> Cell:
        """A variable of an outer function, which is one however many functions share it."""
        effects = self.recorder.effects
        found = effects.cells.get(id(cell))
        if found is None:
            effects.kept.append(cell)
            found = effects.cells[id(cell)] = Cell(None, cell, source)
            try:
                contents = cell.cell_contents
            except ValueError:  # it is not set yet
                self.recorder.guards.add("EMPTY_CELL", source.expression, f"is_empty({source.expression})")
            else:
                found.contents = wrap(self.recorder, contents, source.attribute("cell_contents"))
        elif found.source is not None and found.source != source:
            place, first = source.expression, found.source.expression
            self.recorder.guards.add("DUPLICATE_INPUT", place, f"{place} is {first}")
        return found


def _is_own_method(function: Any) -> bool:
    """Whether a function is a method of tensors."""
    return isinstance(function, FunctionType) and getattr(Tensor, function.__name__, None) is function


def is_of_a_library(obj: Any) -> bool:
    """Whether a function is defined in this library, or in PyTorch."""
    return bool(module_in_the_library(obj))


def computes(obj: Any) -> bool:
    """Whether something is a function of the library that computes with tensors, and does nothing else."""
    module = getattr(obj, "__module__", None) or ""
    return module.startswith(COMPUTING) and not isinstance(obj, type)


def bind(function: Function, args: list[Value], kwargs: dict[str, Value]) -> dict[str, Value]:
    """The arguments of a call by the names of the parameters; TypeError where they do not fit, as in Python."""
    code = function.code
    names = code.co_varnames
    count, keyword_only = code.co_argcount, code.co_kwonlyargcount
    bound = dict(zip(names[:count], args, strict=False))
    rest = iter(names[count + keyword_only :])
    named = dict(kwargs)
    for name in names[code.co_posonlyargcount : count + keyword_only]:
        if name in named:
            if name in bound:
                raise _misfit(function, args, kwargs)
            bound[name] = named.pop(name)
    if code.co_flags & inspect.CO_VARARGS:
        bound[next(rest)] = Sequence(list(args[count:]), tuple)
    elif len(args) > count:
        raise _misfit(function, args, kwargs)
    if code.co_flags & inspect.CO_VARKEYWORDS:
        bound[next(rest)] = Mapping(named)
    elif named:
        raise _misfit(function, args, kwargs)
    with_default = names[count - len(function.defaults) : count]
    for name, default in (*zip(with_default, function.defaults, strict=True), *function.keyword_defaults.items()):
        bound.setdefault(name, default)
    if any(name not in bound for name in names[: count + keyword_only]):
        raise _misfit(function, args, kwargs)
    return bound


def _misfit(function: Function, args: list[Value], kwargs: dict[str, Value]) -> Raised:
    """Python's own error for arguments that do not fit: that of an empty function with the same parameters."""
    code = function.code
    flags = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    count = code.co_argcount + code.co_kwonlyargcount + bool(flags & inspect.CO_VARARGS)
    names = code.co_varnames[: count + bool(flags & inspect.CO_VARKEYWORDS)]
    empty = (lambda: None).__code__.replace(
        co_argcount=code.co_argcount, co_posonlyargcount=code.co_posonlyargcount, co_name=code.co_name,
        co_kwonlyargcount=code.co_kwonlyargcount, co_varnames=names, co_nlocals=len(names),
        co_qualname=code.co_qualname, co_flags=inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS | flags,
    )  # fmt: skip
    stand_in = FunctionType(empty, {}, code.co_name, (None,) * len(function.defaults))
    stand_in.__kwdefaults__ = dict.fromkeys(function.keyword_defaults)
    try:
        stand_in(*args, **kwargs)
    except TypeError as error:
        return Raised(error.with_traceback(None))
    raise AssertionError(f"these arguments fit {code.co_qualname}")


__all__ = ["Caller", "bind", "subscript"]
