"""Which operator does a call in source text mean?

Mirrors: torch/csrc/jit/frontend/schema_matching.cpp (matchSchemas, tryMatchSchema, tryConvertToType)
Differs: of PyTorch's conversions there are those of written numbers: an int for a float, a number for a tensor.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.dispatch.operator import Operator, registry
from glasstorch.dispatch.schema import Argument, FunctionSchema
from glasstorch.jit.numbers import tensor_of
from glasstorch.jit.source_types import Constant, ListOf, type_in_graph
from glasstorch.jit.types import BOOL, FLOAT, NUMBER, TENSOR, ListType, OptionalType, Type, from_schema, plain_constant


def find_operator(kind: str, given: list[Any], named: dict[str, Any]) -> tuple[Operator, list[Any]] | None:
    """The first overload that takes these arguments, and one value for each of its arguments; None if none does.

    Overloads with out= come last, as in a graph; those that need a conversion after all that do not.
    """
    overloads = sorted(registry.overloads(*kind.split("::", 1)), key=lambda found: found.schema.is_out)
    for converts in (False, True):
        for operator in overloads:
            bound = _bound(operator.schema, given, named, converts)
            if bound is not None:
                return operator, bound
    return None


def _bound(schema: FunctionSchema, given: list[Any], named: dict[str, Any], converts: bool) -> list[Any] | None:
    if named.keys() - {argument.name for argument in schema.arguments}:
        return None
    positional = sum(not argument.keyword_only for argument in schema.arguments)
    if len(given) > positional:
        return None
    bound: list[Any] = []
    for i, argument in enumerate(schema.arguments):
        if i < len(given):
            if argument.name in named:
                return None
            value = given[i]
        elif argument.name in named:
            value = named[argument.name]
        elif argument.default is not None:
            bound.append(_default(argument))
            continue
        else:
            return None
        fitting = _fitting(from_schema(argument.type), value, converts)
        if fitting is None:
            return None
        bound.append(fitting)
    return bound


def _default(argument: Argument) -> Any:
    """The default of an argument, as the tracer would record it."""
    value = plain_constant(argument.default_value)
    type = from_schema(argument.type)
    if isinstance(type, OptionalType) and value is not None:
        type = type.element
    if isinstance(type, ListType) and isinstance(value, list):
        return ListOf(tuple(map(Constant, value)), type.element)
    return Constant(float(value) if type == FLOAT else value)


def _fitting(asked: Type, given: Any, converts: bool) -> Any:
    """The value if it is of the type that is asked for, converted if that is allowed; else None."""
    if isinstance(given, ListOf) and not given.elements and given.element is None:
        inner = asked.element if isinstance(asked, OptionalType) else asked
        return ListOf((), inner.element) if isinstance(inner, ListType) else None
    type = type_in_graph(given)
    if type is None:
        return None
    if type.is_subtype_of(asked) or (type == BOOL and NUMBER.is_subtype_of(asked)):
        return given
    if not converts:
        return None
    inner = asked.element if isinstance(asked, OptionalType) else asked
    if isinstance(given, Constant) and type.is_subtype_of(NUMBER):
        if inner == FLOAT:
            return Constant(float(given.value))
        if inner == TENSOR:
            made: Tensor = tensor_of(given.value)
            return Constant(made)
    if isinstance(given, ListOf) and isinstance(inner, ListType):
        parts = [_fitting(inner.element, element, converts) for element in given.elements]
        return None if None in parts else ListOf(tuple(parts), inner.element)
    return None
