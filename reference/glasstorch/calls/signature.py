"""Does a Python call match an overload, and if not, why?

Mirrors: torch/csrc/utils/python_arg_parser.h (FunctionSignature, FunctionParameter)
Differs: a signature comes from the operator's schema, not from a generated string.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from glasstorch.calls.arguments import CONVERSIONS, REFUSED, converter, size_of
from glasstorch.dispatch.operator import Operator
from glasstorch.dispatch.schema import Argument
from glasstorch.dispatch.tags import Tag

TUPLE = "tuple of Tensors"


class Position(NamedTuple):
    """The position of an argument, counted from 1 (in a method, after `self`); None for a keyword argument."""

    in_function: int | None
    in_method: int | None

    def words(self, as_method: bool) -> str:
        position = self.in_method if as_method else self.in_function
        return "" if position is None else f" (position {position})"


class Mismatch(Exception):
    """A call that a signature does not accept; the message is only formatted if no overload accepts it."""

    def __init__(self, template: str, *values: object) -> None:
        super().__init__(template, *values)
        self.template, self.values = template, values

    def reason(self, as_method: bool) -> str:
        return self.template.format(*(v.words(as_method) if isinstance(v, Position) else v for v in self.values))


class Parameter:
    """One parameter of a signature, with everything that a call needs computed once."""

    __slots__ = ("argument", "convert", "default", "has_default", "keyword_only", "name")

    def __init__(self, argument: Argument, numbers_as_tensors: bool) -> None:
        self.argument = argument
        self.name = argument.name
        self.keyword_only = argument.keyword_only
        self.has_default = argument.default is not None
        self.default = argument.default_value if self.has_default else None
        convert = converter(argument.type, numbers_as_tensors)
        # None stands for an empty list if that is the default: `amax(dim=None)`.
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
        numbers_as_tensors = Tag.numbers_as_tensors in operator.tags
        shown = [a for a in schema.arguments if not (self.is_out and a.type.is_write)]
        self.parameters = [Parameter(a, numbers_as_tensors) for a in shown]
        self.positional = [a for a in shown if not a.keyword_only]
        self.is_factory = schema.is_factory
        self.has_self = bool(self.positional) and self.positional[0].name == "self"
        # `view(2, 3)`: the only parameter after self is a list of ints, so loose ints may replace the list. Where the
        # list has a fixed length, as in `adaptive_avg_pool2d(x, 5)`, one int stands for all of them.
        self.varargs: int | None = None
        at = 1 if self.has_self else 0
        last = self.positional[at:]
        if len(last) == 1 and last[0].type.is_list and _is_int(last[0]) and last[0].type.list_size in (None, 1):
            self.varargs = at

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:  # hot path: benchmarks/eager.py
        """All arguments in schema order, converted; a Mismatch names the one that does not fit."""
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
                raise Mismatch('missing 1 required positional arguments: "{}"', python_name(parameter.argument))
            converted = parameter.convert(value)
            if converted is REFUSED:
                raise self.refusal(parameter.argument, i if i < count else None, value)
            bound.append(converted)
        if unused:
            known = {p.name for p in self.parameters} | ({"input"} if self.has_self else set())
            unknown = next((name for name in kwargs if name not in known), "input")  # or self is given by both names
            raise Mismatch("got an unexpected keyword argument '{}'", unknown)
        return bound

    def _gather_varargs(self, args: Sequence[Any], at: int) -> Sequence[Any]:
        """`(self, 2, 3)` -> `(self, [2, 3])`."""
        loose = args[at:]
        if not loose or size_of(loose[0], 0) is None:
            return args
        return [*args[:at], list(loose)]

    def refusal(self, argument: Argument, index: int | None, value: Any, position: Position | None = None) -> Mismatch:
        """Why an argument does not accept a value, which was given in a position or by name."""
        name, kind = python_name(argument), kind_of(argument)
        if position is None:
            first = index == 0 or not self.has_self
            position = Position(None, None) if index is None else Position(index + 1, index + first)
        if not (argument.type.is_list and isinstance(value, list | tuple)):
            return Mismatch("argument '{}'{} must be {}, not {}", name, position, kind, type_name(value))
        convert = CONVERSIONS[argument.type.base]
        if _is_int(argument):
            at = next((i for i, element in enumerate(value) if size_of(element, i) is None), 0)
        else:
            at = next((i for i, element in enumerate(value) if convert(element) is REFUSED), 0)
        found = type_name(value[at])
        if argument.type.base == "Tensor":
            return Mismatch("expected Tensor as element {} in argument {}, but got {}", at, index, found)
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
        """The type that out= accepts, in words."""
        return TUPLE if len(self.outs) > 1 or self.outs[0].type.is_list else "Tensor"

    def __str__(self) -> str:
        return self.text(as_method=False)

    def text(self, as_method: bool) -> str:
        """The parameters as PyTorch writes them; those of a method without `self`."""
        parts = [_parameter_text(p) for p in self.positional[as_method and self.has_self :]]
        names = [_parameter_text(p.argument) for p in self.parameters if p.keyword_only]
        if self.is_out:
            names.append(f"{self.kind_of_out} out")
        if names:
            parts += ["*", *names]
        return f"({', '.join(parts)})"


def _is_int(argument: Argument) -> bool:
    return argument.type.base in ("int", "SymInt")


# Names in messages ----------------------------------------------------------------------------------

_WORDS = {
    "SymInt": "int",
    "Scalar": "Number",
    "ScalarType": "torch.dtype",
    "Device": "torch.device",
    "Layout": "torch.layout",
    "MemoryFormat": "torch.memory_format",
    "Generator": "torch.Generator",
}


def python_name(parameter: Argument) -> str:
    """The name in Python: the tensor `self` is called `input`."""
    return "input" if parameter.name == "self" and parameter.type.base == "Tensor" else parameter.name


def kind_of(parameter: Argument) -> str:
    """The type of a parameter in messages."""
    base = parameter.type.base
    if parameter.type.is_list:
        return "tuple of Scalars" if base == "Scalar" else f"tuple of {_WORDS.get(base, base)}s"
    return _WORDS.get(base, base)


def type_name(value: object) -> str:
    """The name of a value's type in messages."""
    kind = type(value)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def _parameter_text(parameter: Argument) -> str:
    default = "" if parameter.default is None else f" = {parameter.default}"
    return f"{kind_of(parameter)} {python_name(parameter)}{default}"
