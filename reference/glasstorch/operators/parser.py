"""Which overload does a Python call mean, and what are its arguments?

Mirrors: torch/csrc/utils/python_arg_parser.h (PythonArgParser, FunctionSignature, FunctionParameter::check)
Differs: signatures come from the operators' schemas, not from generated strings; `__torch_function__` is not looked up.

The generated functions call the operator themselves when every argument plainly fits their first overload. Everything
else comes here: other overloads, numbers for tensors, `view(2, 3)` for `view([2, 3])`, keyword arguments, out=.
"""

from __future__ import annotations

import operator as builtin_operators
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple, TypeGuard

import numpy as np

from glasstorch.core import hooks
from glasstorch.core.device import device
from glasstorch.core.dtype import INTEGRAL, bool_, complex128, dtype, float64, int64
from glasstorch.core.errors import ArgumentTypeError, DeviceError, DtypeError, MissingKernelError
from glasstorch.core.generator import Generator
from glasstorch.core.geometry import Size
from glasstorch.core.layout import layout, memory_format, strided
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.core.typed_storage import is_storage
from glasstorch.dispatch.active_keys import compute_keys
from glasstorch.dispatch.operator import Operator, keys_of, registry
from glasstorch.dispatch.schema import Argument, Type
from glasstorch.operators.as_method import is_called_as_method
from glasstorch.operators.old_orders import OLD_ORDERS, warn_of_old_order

FUNCTIONS = "glasstorch.operators.generated.functions"  # the module that calls what is here
NUMBERS = frozenset((bool, int, float, complex))
TUPLE = "tuple of Tensors"
OPTIONS = ("dtype", "layout", "device", "pin_memory", "memory_format")  # None is as if they were not given
LISTS = frozenset((list, tuple, Size))
INT = frozenset((int,))

# Functions whose Tensor parameters take a Python number, which travels as a wrapped 0-dim tensor.
# Mirrors: should_allow_numbers_as_tensors in torch/csrc/utils/python_arg_parser.cpp
NUMBERS_AS_TENSORS = frozenset(
    name + suffix
    for name in [
        "add",
        "sub",
        "mul",
        "div",
        "subtract",
        "multiply",
        "divide",
        "true_divide",
        "floor_divide",
        "remainder",
    ]
    for suffix in ("", "_", "_out")
)

# Of these, those that take one number, on either side, and not two: PyTorch has an overload for each side.
ONE_NUMBER = frozenset(("remainder", "remainder_"))

PYTHON_TYPES = {float: float64, int: int64, bool: bool_, complex: complex128}


class _Missing:
    """What a parameter holds that was given nothing, nor by another name."""

    def __repr__(self) -> str:
        return "<required>"


MISSING: Any = _Missing()


class Position(NamedTuple):
    """Which argument is meant, counted from 1: a method's are those after its tensor. None where it came by name."""

    in_function: int | None
    in_method: int | None

    def words(self, as_method: bool) -> str:
        position = self.in_method if as_method else self.in_function
        return "" if position is None else f" (position {position})"


class Mismatch(Exception):
    """A call that a signature does not accept; the reason is put into words only if nobody else accepts it."""

    def __init__(self, template: str, *values: object) -> None:
        super().__init__(template, *values)
        self.template, self.values = template, values

    def reason(self, as_method: bool) -> str:
        return self.template.format(*(v.words(as_method) if isinstance(v, Position) else v for v in self.values))


class Parameter:
    """One parameter of a signature, with what every call needs of it worked out once."""

    __slots__ = ("argument", "convert", "default", "has_default", "keyword_only", "name")

    def __init__(self, argument: Argument, numbers_as_tensors: bool) -> None:
        self.argument = argument
        self.name = argument.name
        self.keyword_only = argument.keyword_only
        self.has_default = argument.default is not None
        self.default = argument.default_value if self.has_default else None
        convert = converter(argument.type, numbers_as_tensors)
        # None stands for an empty list where that is the default: `amax(dim=None)`.
        self.convert: Callable[[Any], Any] = (
            (lambda value: [] if value is None else convert(value)) if self.default == [] else convert
        )


class Signature:
    """One overload as Python sees it."""

    def __init__(self, function: str, operator: Operator) -> None:
        self.operator = operator
        schema = operator.schema
        self.is_out = schema.is_out
        self.outs = schema.out_arguments
        numbers_as_tensors = function in NUMBERS_AS_TENSORS
        self.one_number = function in ONE_NUMBER
        shown = [a for a in schema.arguments if not (self.is_out and a.type.is_write)]
        self.parameters = [Parameter(a, numbers_as_tensors) for a in shown]
        self.positional = [a for a in shown if not a.keyword_only]
        self.is_factory = schema.is_factory
        self.has_self = bool(self.positional) and self.positional[0].name == "self"
        # `view(2, 3)`: the one parameter after self takes a list of ints, so loose ints may stand for it.
        self.varargs: int | None = None
        at = 1 if self.has_self else 0
        if len(self.positional) == at + 1 and self.positional[at].type.is_list and _is_int(self.positional[at]):
            self.varargs = at

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:  # hot path: benchmarks/eager.py
        """All arguments in schema order, converted; Mismatch says which does not fit."""
        if self.varargs is not None:
            args = self._gather_varargs(args, self.varargs)
        count = len(args)
        if count > len(self.positional):
            raise Mismatch("takes {} positional arguments but {} were given", len(self.positional), count)
        bound: list[Any] = []
        unused = len(kwargs)
        for i, parameter in enumerate(self.parameters):
            name = parameter.name
            if i < count:
                if unused and name in kwargs:
                    raise Mismatch("got multiple values for argument '{}'", name)
                value = args[i]
            elif unused and name in kwargs:
                value = kwargs[name]
                unused -= 1
            elif unused and name == "self" and "input" in kwargs:
                value = kwargs["input"]
                unused -= 1
            elif parameter.has_default:
                bound.append(parameter.default)
                continue
            else:
                raise Mismatch('missing 1 required positional arguments: "{}"', _python_name(parameter.argument))
            converted = parameter.convert(value)
            if converted is REFUSED:
                raise self._refusal(parameter.argument, i if i < count else None, value)
            bound.append(converted)
        if unused:
            known = {p.name for p in self.parameters} | ({"input"} if self.has_self else set())
            unknown = next((name for name in kwargs if name not in known), "input")  # or self is given by both names
            raise Mismatch("got an unexpected keyword argument '{}'", unknown)
        if self.one_number and None not in (bound[0]._number, bound[1]._number):
            raise Mismatch("one of two arguments must be Tensor, not both Number")
        return bound

    def _gather_varargs(self, args: Sequence[Any], at: int) -> Sequence[Any]:
        """`(self, 2, 3)` -> `(self, [2, 3])`."""
        loose = args[at:]
        if not loose or _size(loose[0], 0) is None:
            return args
        return [*args[:at], list(loose)]

    def _refusal(self, argument: Argument, place: int | None, value: Any) -> Mismatch:
        name, kind = _python_name(argument), _describe(argument)
        first = place == 0 or not self.has_self
        position = Position(None, None) if place is None else Position(place + 1, place + first)
        if not (argument.type.is_list and isinstance(value, list | tuple)):
            return Mismatch("argument '{}'{} must be {}, not {}", name, position, kind, _type_name(value))
        convert = _CONVERT[argument.type.base]
        if _is_int(argument):
            at = next((i for i, element in enumerate(value) if _size(element, i) is None), 0)
        else:
            at = next((i for i, element in enumerate(value) if convert(element) is REFUSED), 0)
        found = _type_name(value[at])
        if argument.type.base == "Tensor":
            return Mismatch("expected Tensor as element {} in argument {}, but got {}", at, place, found)
        if at == 0:
            return Mismatch(
                "argument '{}'{} must be {}, but found element of type {} at pos 0",
                name,
                position,
                kind,
                found,
            )
        return Mismatch(
            "argument '{}' failed to unpack the object at pos {} with error \"type must be {},but got {}\"",
            name,
            at + 1,
            kind,
            found,
        )

    @property
    def kind_of_out(self) -> str:
        """What out= takes."""
        return TUPLE if len(self.outs) > 1 or self.outs[0].type.is_list else "Tensor"

    def __str__(self) -> str:
        return self.text(as_method=False)

    def text(self, as_method: bool) -> str:
        """The parameters as PyTorch writes them; of a method without its tensor."""
        parts = [_parameter_text(p) for p in self.positional[as_method and self.has_self :]]
        names = [_parameter_text(p.argument) for p in self.parameters if p.keyword_only]
        if self.is_out:
            names.append(f"{self.kind_of_out} out")
        if names:
            parts += ["*", *names]
        return f"({', '.join(parts)})"


class PythonFunction:
    """All overloads behind one Python name; calling it picks one and runs its operator."""

    def __init__(self, name: str, overloads: Sequence[str], outs: Sequence[str] = (), namespace: str = "aten") -> None:
        self.name = name
        self._overloads = [f"{namespace}::{overload}" for overload in overloads]
        self._outs = [f"{namespace}::{out}" for out in outs]

    @cached_property
    def signatures(self) -> list[Signature]:
        return [Signature(self.name, registry.find(name)) for name in self._overloads]

    @cached_property
    def out_signatures(self) -> list[Signature]:
        return [Signature(self.name, registry.find(name)) for name in self._outs]

    @cached_property
    def is_factory(self) -> bool:
        """Whether one of the overloads makes a tensor on a device that it is told."""
        return any(signature.is_factory for signature in self.signatures)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        if out is not None:
            return self._call_out(args, kwargs, out)
        requires_grad = kwargs.pop("requires_grad", False) if self.is_factory else False
        signature, bound = self.choose(self.signatures, args, kwargs)
        keys = compute_keys(keys_of(bound))
        result = signature.operator.table[keys](keys, *bound)
        return result.requires_grad_() if requires_grad else result

    def by_names(self, others: dict[str, Any], **arguments: Any) -> Any:
        """A call with keywords that Python did not know.

        So `axis` may come in the place of a `dim` that was left out, and not beside one.
        """
        return self(**self._given(arguments), **others)

    def with_more(self, args: Sequence[Any], **arguments: Any) -> Any:
        """A call with more arguments by position than Python knew places for."""
        return self(*args, **self._given(arguments))

    def _given(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments that the caller gave: what has its default counts as not given."""
        defaults = {p.name: p.default for p in self.signatures[0].parameters if p.has_default}
        return {
            name: value
            for name, value in arguments.items()
            if value is not MISSING and not (name in defaults and _is_same(value, defaults[name]))
        }

    def choose(
        self, signatures: Sequence[Signature], args: Sequence[Any], kwargs: dict[str, Any], out: Any = None
    ) -> tuple[Signature, list[Any]]:
        """The first overload that accepts the arguments, with its bound arguments; `out` fits all of these."""
        mismatches = []
        for signature in signatures:
            try:
                return signature, signature.bind(args, kwargs)
            except Mismatch as mismatch:
                mismatches.append(mismatch.with_traceback(None))  # with it, this frame would keep itself alive
        renamed = _with_torch_names(kwargs)
        if renamed != list(kwargs):
            return self.choose(signatures, args, dict(zip(renamed, kwargs.values(), strict=True)), out)
        in_old_order = self._in_old_order(signatures, args, kwargs)
        if in_old_order is not None:
            return in_old_order
        as_method = is_called_as_method(FUNCTIONS)
        reasons = [mismatch.reason(as_method) for mismatch in mismatches]
        if out is not None:
            others = [s for s in self.out_signatures if s not in signatures]
            reasons += [f"argument 'out' must be {s.kind_of_out}, not {_type_name(out)}" for s in others]
            signatures, kwargs = [*signatures, *others], {**kwargs, "out": out}
        if len(signatures) == 1:
            expected = signatures[0].text(as_method)
            raise ArgumentTypeError(f"{self.name}(): {reasons[0]}; expected {self.name}{expected}")
        named = [f"{k}={_type_name(v)}" for k, v in kwargs.items() if v is not None or k not in OPTIONS]
        got = ", ".join([*map(_type_name, args[as_method:]), *named])
        texts = [s.text(as_method) for s in signatures]
        lines = "".join(f"\n * {text}\n      {reason}" for text, reason in zip(texts, reasons, strict=True))
        raise ArgumentTypeError(
            f"{self.name}() received an invalid combination of arguments - got ({got}), but expected one of:{lines}"
        )

    def _in_old_order(
        self, signatures: Sequence[Signature], args: Sequence[Any], kwargs: dict[str, Any]
    ) -> tuple[Signature, list[Any]] | None:
        """The overload that accepts the arguments in an order of which PyTorch warns."""
        for order in OLD_ORDERS.get(self.name, ()):
            named = dict(zip(order, args, strict=False))
            if len(named) < len(args) or not named.keys().isdisjoint(kwargs):
                continue
            for signature in signatures:
                with suppress(Mismatch):
                    bound = signature.bind((), named | kwargs)
                    warn_of_old_order(self.name, order, [str(s) for s in signatures])
                    return signature, bound
        return None

    def _call_out(self, args: Sequence[Any], kwargs: dict[str, Any], out: Any) -> Any:
        if not self.out_signatures:
            raise ArgumentTypeError(
                f"{self.name}() has no out= form; expected one of {[str(s) for s in self.signatures]}"
            )
        takes_list = self.out_signatures[0].outs[0].type.is_list
        kinds = {s.kind_of_out for s in self.out_signatures}
        if len(kinds) == 1 and isinstance(out, list | tuple) != (kinds == {TUPLE}):
            raise ArgumentTypeError(f"{self.name}(): argument 'out' must be {kinds.pop()}, not {_type_name(out)}")
        outs = list(out) if isinstance(out, list | tuple) else [out]
        for tensor in outs:
            if not isinstance(tensor, TensorImpl):
                raise ArgumentTypeError(f"{self.name}(): argument 'out' must be Tensor, not {_type_name(tensor)}")
        requires_grad = kwargs.pop("requires_grad", False) if self.is_factory else False
        fitting = [s for s in self.out_signatures if takes_list or len(s.outs) == len(outs)]
        if not fitting:
            raise ArgumentTypeError(
                f"{self.name}(): out= got {len(outs)} tensors, expected {len(self.out_signatures[0].outs)}"
            )
        for name in OPTIONS:
            if kwargs.get(name, ...) is None:
                del kwargs[name]
        if self.is_factory:
            _check_options_of_out(kwargs, outs[0])
        signature, bound = self.choose(fitting, args, kwargs, out)
        bound += [outs] if takes_list else outs
        keys = compute_keys(keys_of(bound))
        result = signature.operator.table[keys](keys, *bound)
        return result.requires_grad_() if requires_grad else result

    def __repr__(self) -> str:
        return f"<function {self.name} of operators {', '.join(self._overloads)}>"


# NumPy's names for parameters, tried where a call under its own names fits no overload.
# Mirrors: numpy_compatibility_arg_names in torch/csrc/utils/python_arg_parser.cpp
NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim", "x": "input", "a": "input", "x1": "input", "x2": "other"}


def _is_same(value: object, default: object) -> bool:
    """Whether a value is that of a default, which is never a tensor."""
    return type(value) is type(default) and value == default


def _with_torch_names(names: Iterable[str]) -> list[str]:
    """Names of arguments with NumPy's replaced."""
    given = list(names)
    renamed = [NUMPY_NAMES.get(name, name) for name in given]
    return renamed if len(set(renamed)) == len(given) else given


def _check_options_of_out(kwargs: dict[str, Any], out: TensorImpl) -> None:
    """Take a factory's options out of the arguments: beside out= they may only repeat what that tensor has.

    Mirrors: check_out_type_matches in tools/autograd/templates/python_torch_functions.cpp
    """
    wanted = _dtype(kwargs.pop("dtype", out.dtype))
    if wanted is not out.dtype:
        name = getattr(wanted, "scalar_name", wanted)
        raise DtypeError(f"dtype {name} does not match dtype of out parameter ({out.dtype.scalar_name})")
    on = _device(kwargs.pop("device", out.device))
    if getattr(on, "type", None) != out.device.type:
        raise DeviceError(f"device type {on} does not match device type of out parameter ({out.device})")
    for name in ("layout", "pin_memory"):
        kwargs.pop(name, None)


def is_ints(value: object) -> TypeGuard[Sequence[int]]:
    """Whether a value is a list of ints as a kernel takes it, with nothing to convert."""
    return type(value) in LISTS and INT.issuperset(map(type, value))  # type: ignore[call-overload]


def is_tensors(value: object) -> TypeGuard[Sequence[Any]]:
    """Whether a value is a list of tensors as a kernel takes it."""
    return type(value) in LISTS and all(isinstance(v, TensorImpl) for v in value)  # type: ignore[attr-defined]


def method_operator(function: Callable[..., Any], self: Any, other: Any) -> Any:
    """A binary operator of Python: NotImplemented where the function does not take the other operand's type.

    Mirrors: TypeError_to_NotImplemented_ in python_variable_methods.cpp
    Differs: any TypeError passes the turn on there, also one from a mistake further down, which is so hidden
    """
    try:
        return function(self, other)
    except ArgumentTypeError:
        return NotImplemented


def reflected_operator(function: Callable[..., Any], self: Any, other: Any) -> Any:
    """As `method_operator`, of a tensor on the operator's right; Python asks with one, a direct call may not."""
    if not isinstance(self, TensorImpl):
        raise ArgumentTypeError(
            f"a reflected operator of Tensor doesn't apply to a '{type(self).__name__}' object; expected a Tensor first"
        )
    return method_operator(function, self, other)


def equality_operator(function: Callable[..., Any], self: Any, other: Any) -> Any:
    """`==`, which as in PyTorch is the one operator that reads an array as a tensor."""
    if isinstance(other, np.ndarray) and other.dtype.kind in "biufc":
        other = hooks.tensor_hooks.from_array(np.ascontiguousarray(other))
    return method_operator(function, self, other)


# How a Python value becomes each base type of a schema; REFUSED where it cannot. --------------------------------

REFUSED = object()


def _is_int(argument: Argument) -> bool:
    return argument.type.base in ("int", "SymInt")


def _as_index(value: Any) -> int | None:
    """An int, from anything that is one: Python and NumPy ints, 0-dim integer tensors. bool is not one."""
    if type(value) is int:
        return value
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, TensorImpl):
        if value._shape or value.dtype.category != INTEGRAL:
            return None
        return int(value.host_array())
    try:
        return builtin_operators.index(value)
    except TypeError:
        return None


def _size(value: Any, place: int) -> int | None:
    """An int in a list: also a tensor of one element, and after the first place a bool.

    Mirrors: is_int_or_symint_list and intlistWithDefault in torch/csrc/utils/python_arg_parser.{cpp,h}
    """
    if place and type(value) is bool:
        return int(value)
    if isinstance(value, TensorImpl) and value.dtype.category == INTEGRAL and all(n == 1 for n in value._shape):
        return int(value.host_array().item())
    return _as_index(value)


def sizes_of(values: Sequence[Any]) -> list[int] | None:
    """The ints of a list as every parameter that is one reads it; None where one of the values is no int."""
    sizes = [_size(value, place) for place, value in enumerate(values)]
    return None if None in sizes else sizes  # type: ignore[return-value]


def _tensor(value: Any) -> Any:
    return value if isinstance(value, TensorImpl) else REFUSED


def _scalar(value: Any) -> Any:
    if type(value) in NUMBERS:
        return value
    if isinstance(value, int):  # of a subclass
        return int(value)
    if isinstance(value, float):  # NumPy's, for one
        return float(value)
    if isinstance(value, complex):
        return complex(value)
    if isinstance(value, np.bool_ | np.complexfloating):
        return float(value)  # as PyTorch reads it; NumPy warns of a dropped part
    if isinstance(value, np.number):
        return value.item()
    if isinstance(value, TensorImpl) and not value._shape and not _requires_grad(value):
        return value.host_array().item()
    return REFUSED


def _requires_grad(tensor: TensorImpl) -> bool:
    return bool(getattr(tensor, "requires_grad", False))


def _int(value: Any) -> Any:
    index = _as_index(value)
    return REFUSED if index is None else index


def _float(value: Any) -> Any:
    number = _scalar(value)
    return REFUSED if number is REFUSED or isinstance(number, bool | complex) else float(number)


def _bool(value: Any) -> Any:
    if type(value) is bool:
        return value
    return bool(value) if isinstance(value, np.bool_) else REFUSED


def _instance(kind: type) -> Callable[[Any], Any]:
    return lambda value: value if isinstance(value, kind) else REFUSED


def _layout(value: Any) -> Any:
    if isinstance(value, layout) and value is not strided:
        raise MissingKernelError(f"the layout {value} is not in glasstorch; expected {strided}, which every tensor has")
    return value if isinstance(value, layout) else REFUSED


def _dtype(value: Any) -> Any:
    if isinstance(value, dtype):
        return value
    return PYTHON_TYPES.get(value, REFUSED) if isinstance(value, type) else REFUSED


def _device(value: Any) -> Any:
    if isinstance(value, device):
        return value
    if isinstance(value, str):
        return device(value)
    return device("cuda", value) if type(value) is int else REFUSED


def _storage(value: Any) -> Any:
    return value if is_storage(value) else REFUSED


_CONVERT: dict[str, Callable[[Any], Any]] = {
    "Tensor": _tensor,
    "Scalar": _scalar,
    "int": _int,
    "SymInt": _int,
    "float": _float,
    "bool": _bool,
    "str": _instance(str),
    "ScalarType": _dtype,
    "Device": _device,
    "Layout": _layout,
    "MemoryFormat": _instance(memory_format),
    "Generator": _instance(Generator),
    "Storage": _storage,
}


def converter(kind: Type, numbers_as_tensors: bool) -> Callable[[Any], Any]:
    """The conversion for one parameter: its value, or REFUSED."""
    one = _CONVERT[kind.base]
    if kind.is_list:
        convert = _list_converter(kind, one)
    elif kind.base == "Tensor" and numbers_as_tensors:
        convert = _tensor_or_number
    else:
        convert = one
    if not kind.is_optional:
        return convert
    return lambda value: None if value is None else convert(value)


def _tensor_or_number(value: Any) -> Any:
    if isinstance(value, TensorImpl):
        return value
    if isinstance(value, bool | int | float | complex | np.number | np.bool_):
        return hooks.tensor_hooks.wrapped_number(_scalar(value))
    return REFUSED


def _list_converter(kind: Type, one: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A list of converted elements; a single int stands for a list of a fixed length."""
    size = kind.list_size
    single = size if kind.base != "Tensor" else None
    optional_elements = kind.suffixes[0] == "?"
    ints = kind.base in ("int", "SymInt")

    def convert(value: Any) -> Any:
        if not isinstance(value, list | tuple):
            if single is None:
                return REFUSED
            element = one(value)
            return REFUSED if element is REFUSED else [element] * single
        if ints:
            return REFUSED if (sizes := sizes_of(value)) is None else sizes
        elements = [None if v is None and optional_elements else one(v) for v in value]
        return REFUSED if any(e is REFUSED for e in elements) else elements

    return convert


# What the messages call things ----------------------------------------------------------------------------------

_WORDS = {
    "SymInt": "int",
    "Scalar": "Number",
    "ScalarType": "torch.dtype",
    "Device": "torch.device",
    "Layout": "torch.layout",
    "MemoryFormat": "torch.memory_format",
    "Generator": "torch.Generator",
}


def _python_name(parameter: Argument) -> str:
    return "input" if parameter.name == "self" else parameter.name


def _describe(parameter: Argument) -> str:
    word = _WORDS.get(parameter.type.base, parameter.type.base)
    return f"tuple of {word}s" if parameter.type.is_list else word


def _type_name(value: object) -> str:
    kind = type(value)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def _parameter_text(parameter: Argument) -> str:
    default = "" if parameter.default is None else f" = {parameter.default}"
    return f"{_describe(parameter)} {_python_name(parameter)}{default}"
