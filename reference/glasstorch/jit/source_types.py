"""Which value does an expression of source text have before it is one of a graph?

Mirrors: torch/csrc/jit/frontend/sugared_value.h (SugaredValue, SimpleValue, ConstantValue), script_type_parser.cpp
    (ScriptTypeParser)
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.jit.ir import Value
from glasstorch.jit.source_text import not_understood
from glasstorch.jit.types import (
    ANY,
    BOOL,
    DEVICE,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    STRING,
    TENSOR,
    ListType,
    OptionalType,
    TupleType,
    Type,
    type_of,
)

WORDS: Final[dict[str, Type]] = {
    "Tensor": TENSOR,
    "int": INT,
    "float": FLOAT,
    "bool": BOOL,
    "str": STRING,
    "number": NUMBER,
    "Device": DEVICE,
    "NoneType": NONE,
    "None": NONE,
    "Any": ANY,
}
MOST_PARTS: Final = 1000  # of a tuple, those of its tuples included: a short text could state any number


@dataclass(frozen=True)
class Constant:
    """A number, a string, a device, None or a tensor that the archive holds."""

    value: Any


@dataclass(frozen=True)
class HeldTensor:
    """A parameter or a buffer: `path` is its name in the outermost module."""

    path: str
    tensor: Tensor


@dataclass(frozen=True)
class Function:
    """A function of the archive, by its path."""

    path: str


@dataclass(frozen=True)
class ListOf:
    """A list that is written out; its element type is None where an empty one does not say."""

    elements: tuple[Any, ...]
    element: Type | None


@dataclass(frozen=True)
class TupleOf:
    """A tuple that is written out, or the results of an operator that has several."""

    elements: tuple[Any, ...]


def type_in_graph(given: Any) -> Type | None:
    """The type of a value without facts about tensors; None for what is no value of a graph, such as a module."""
    match given:
        case Value():
            return given.type.unshaped()
        case Constant():
            return type_of(given.value).unshaped()
        case HeldTensor():
            return TENSOR
        case ListOf():
            return None if given.element is None else ListType(given.element)
        case TupleOf():
            types = [type_in_graph(element) for element in given.elements]
            return TupleType(tuple(type for type in types if type is not None)) if None not in types else None
    return None


def read_type(record: str, node: ast.expr) -> Type:
    """The type that an annotation states."""
    match node:
        case ast.Name(id=name) if name in WORDS:
            return WORDS[name]
        case ast.Constant(value=None):
            return NONE
        case ast.Subscript(value=ast.Name(id="List"), slice=inner):
            return ListType(read_type(record, inner))
        case ast.Subscript(value=ast.Name(id="Optional"), slice=inner):
            return OptionalType(read_type(record, inner))
        case ast.Subscript(value=ast.Name(id="Tuple"), slice=ast.Tuple(elts=inner)):
            return TupleType(tuple(read_type(record, element) for element in inner))
        case ast.Subscript(value=ast.Name(id="Tuple"), slice=inner):
            return TupleType((read_type(record, inner),))
    raise not_understood(record, node, "this type is not known")


def count_parts(type: Type) -> int:
    """How many parts a type has; counted up to a little over the most that there may be."""
    if not isinstance(type, TupleType):
        return 1
    total = 0
    for element in type.elements:
        total += count_parts(element)
        if total > MOST_PARTS:
            break
    return total
