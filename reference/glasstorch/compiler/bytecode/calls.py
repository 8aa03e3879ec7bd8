"""What does a call give: a node, the result of a function that is executed symbolically too, or a constant?

Mirrors: torch/_dynamo/symbolic_convert.py (call_function, InliningInstructionTranslator), torch/_dynamo/trace_rules.py
Differs: the library's functions are told by where they are defined; there is no list of rules.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import BuiltinFunctionType, CellType, FunctionType, MethodDescriptorType, MethodType
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.compiler.bytecode.attributes import attribute
from glasstorch.compiler.bytecode.builtins import PURE, UNDERSTOOD, subscript
from glasstorch.compiler.bytecode.containers import container_method
from glasstorch.compiler.bytecode.marked import marked
from glasstorch.compiler.bytecode.raising import evaluated
from glasstorch.compiler.bytecode.recorder import Recorder
from glasstorch.compiler.bytecode.sources import Source
from glasstorch.compiler.bytecode.unsupported import Unsupported
from glasstorch.compiler.bytecode.values import (
    Cell,
    Constant,
    Function,
    Group,
    Iterating,
    Known,
    Mapping,
    Method,
    Sequence,
    TensorValue,
    Value,
    describe,
    has_tensor,
    is_known,
    known,
)
from glasstorch.compiler.bytecode.wrapping import made, wrap
from glasstorch.dispatch.overload import OpOverload
from glasstorch.fx._names import qualified_name
from glasstorch.nn.modules.module import Module

LIBRARY: Final = "glasstorch"
LAYERS: Final = ("glasstorch.nn.modules", "glasstorch.nn.parallel")  # whose methods are executed as a program's are
# Where functions are defined that compute with tensors, and do nothing else.
COMPUTING: Final = (
    "glasstorch.operators.generated", "glasstorch.nn.functions", "glasstorch.python_forms", "glasstorch.functional",
    "glasstorch.outside_data",
)  # fmt: skip
Inline = Callable[[Function, list[Value], dict[str, Value]], Value]

HOOKS: Final = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


class Caller:
    """Calls values. `inline` executes a Python function symbolically."""

    def __init__(self, recorder: Recorder, inline: Inline) -> None:
        self.recorder = recorder
        self.inline = inline

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """What a call gives."""
        if isinstance(function, Function):
            return self.inline(function, args, kwargs)
        if isinstance(function, Method):
            return self._method(function, args, kwargs)
        if not isinstance(function, Known | Constant):
            raise Unsupported(f"a call of {describe(function)}")
        return self._known(function, function.value, args, kwargs)

    def _method(self, method: Method, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if isinstance(method.function, Value):
            return self.call(method.function, [method.owner, *args], kwargs)
        owner, name = method.owner, method.function
        if isinstance(owner, TensorValue):
            return self._tensor_method(owner, name, args, kwargs)
        if isinstance(owner, Sequence | Mapping | Group):
            return container_method(self.recorder, owner, name, args, kwargs)
        given, named = map(known, args), {key: known(value) for key, value in kwargs.items()}
        return made(evaluated(getattr(known(owner), name), *given, **named))

    def _tensor_method(self, owner: TensorValue, name: str, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if name in ("size", "dim", "numel", "stride", "is_contiguous", "is_floating_point", "is_complex", "nelement"):
            found = getattr(owner.example, name)
            return made(found(*map(known, args), **{key: known(value) for key, value in kwargs.items()}))
        if name in ("item", "tolist", "numpy", "__bool__", "__int__", "__float__"):
            raise Unsupported(f"{name}() of a tensor, whose elements are not known while the program is captured")
        return self.recorder.call_method(name, [owner, *args], kwargs)

    def _known(self, function: Value, obj: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        meaning = marked(self.recorder, self.call, function, args, kwargs)
        if meaning is not None:
            return meaning
        if isinstance(obj, Module):
            return self._module(function, obj, args, kwargs)
        try:
            if obj in UNDERSTOOD:
                return UNDERSTOOD[obj](self.recorder, *args, **kwargs)
            is_pure = obj in PURE
        except TypeError:  # it has no hash
            is_pure = False
        if is_pure:
            return self._pure(obj, args, kwargs)
        if isinstance(obj, type) and issubclass(obj, tuple) and hasattr(obj, "_fields"):
            return self._named_tuple(obj, args, kwargs)
        if isinstance(obj, MethodType):
            return self.call(Known(obj.__func__), [made(obj.__self__), *args], kwargs)
        if self._is_of_the_library(obj):
            return self.recorder.call_function(obj, args, kwargs)
        if isinstance(obj, FunctionType):
            return self.inline(self.function_of(function, obj), args, kwargs)
        if isinstance(obj, MethodDescriptorType | BuiltinFunctionType) and not has_tensor(Sequence(args, list)):
            raise Unsupported(f"a call of the builtin {obj.__name__}, of which nothing is known here")
        raise Unsupported(f"a call of {describe(function)}")

    def _named_tuple(self, kind: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        given = dict(zip(kind._fields, args, strict=False)) | kwargs
        defaults = {name: made(default) for name, default in kind._field_defaults.items()}
        items = [given.get(name, defaults.get(name)) for name in kind._fields]
        if len(args) > len(kind._fields) or set(kwargs) - set(kind._fields) or None in items:
            raise TypeError(f"{kind.__name__}: {len(args)} arguments and {list(kwargs)} do not fit {kind._fields}")
        return Sequence([item for item in items if item is not None], kind)

    def _pure(self, obj: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if any(isinstance(arg, TensorValue) for arg in args):
            if obj in (abs, pow):
                return self.recorder.call_function(obj, args, kwargs)
            raise Unsupported(f"{obj.__name__}() of a tensor, whose elements are not known while it is captured")
        given = [Sequence(list(arg.items), list) if isinstance(arg, Iterating) else arg for arg in args]
        if not all(map(is_known, given)):
            raise Unsupported(f"{obj.__name__}() of {', '.join(map(describe, given))}")
        return made(obj(*map(known, given), **{name: known(value) for name, value in kwargs.items()}))

    def _is_of_the_library(self, obj: Any) -> bool:
        """Whether a function is one of the library's operators or functions, which a graph calls."""
        if isinstance(obj, OpOverload) or hasattr(obj, "overloads"):
            return True
        module = getattr(obj, "__module__", None) or ""
        if module.partition(".")[0] not in (LIBRARY, "torch") or module.startswith(LAYERS):
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

    def function_of(self, value: Value, obj: FunctionType) -> Function:
        """A Python function, with its defaults and the variables of outer functions as values."""
        source = value.source
        cells = [
            self._cell(obj, cell, None if source is None else source.cell(i))
            for i, cell in enumerate(obj.__closure__ or ())
        ]
        place = None if source is None else source.attribute("__defaults__")
        defaults = tuple(
            self._of_function(obj, default, None if place is None else place.item(i))
            for i, default in enumerate(obj.__defaults__ or ())
        )
        place = None if source is None else source.attribute("__kwdefaults__")
        keywords = {
            name: self._of_function(obj, default, None if place is None else place.item(name))
            for name, default in (obj.__kwdefaults__ or {}).items()
        }
        return Function(obj.__code__, obj.__globals__, defaults, keywords, tuple(cells))

    def _cell(self, obj: FunctionType, cell: CellType, source: Source | None) -> Cell:
        """A variable of an outer function, which is one however many functions share it."""
        cells = self.recorder.effects.cells
        if id(cell) not in cells:
            try:
                found = cell.cell_contents
            except ValueError:  # it is not set yet
                raise Unsupported(
                    f"{obj.__name__}, which has a variable of an outer function that is not set"
                ) from None
            place = None if source is None else source.attribute("cell_contents")
            self.recorder.effects.kept.append(cell)
            cells[id(cell)] = Cell(self._of_function(obj, found, place), cell, source)
        return cells[id(cell)]

    def _of_function(self, obj: FunctionType, found: Any, source: Source | None) -> Value:
        """A default value or an outer variable of a function."""
        if source is not None:
            return wrap(self.recorder, found, source)
        if isinstance(found, Tensor | list | dict):
            raise Unsupported(f"{obj.__name__}, which holds a {type(found).__name__} and whose place is not known")
        return made(found)


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
                raise TypeError(f"{code.co_name}() got multiple values for argument {name!r}")
            bound[name] = named.pop(name)
    if code.co_flags & inspect.CO_VARARGS:
        bound[next(rest)] = Sequence(list(args[count:]), tuple)
    elif len(args) > count:
        raise TypeError(f"{code.co_name}() takes {count} positional arguments but {len(args)} were given")
    if code.co_flags & inspect.CO_VARKEYWORDS:
        bound[next(rest)] = Mapping(named)
    elif named:
        raise TypeError(f"{code.co_name}() got an unexpected keyword argument {next(iter(named))!r}")
    with_default = names[count - len(function.defaults) : count]
    for name, default in (*zip(with_default, function.defaults, strict=True), *function.keyword_defaults.items()):
        bound.setdefault(name, default)
    missing = [name for name in names[: count + keyword_only] if name not in bound]
    if missing:
        raise TypeError(f"{code.co_name}() missing required argument {missing[0]!r}")
    return bound


__all__ = ["Caller", "bind", "subscript"]
