"""What does an expression of source text stand for?

Mirrors: torch/csrc/jit/frontend/ir_emitter.cpp (to_ir::emitExpr, emitSugaredExpr, emitApplyExpr)
"""

from __future__ import annotations

import ast
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.core.device import device_from
from glasstorch.jit.archive_writer import ROOT
from glasstorch.jit.archived_object import ArchivedObject
from glasstorch.jit.ir import Value
from glasstorch.jit.numbers import CASTS
from glasstorch.jit.source_nodes import Nodes, is_a
from glasstorch.jit.source_text import SourceError, not_understood
from glasstorch.jit.source_types import Constant, Function, HeldTensor, ListOf, TupleOf, read_type, type_in_graph
from glasstorch.jit.types import NUMBER, ListType, OptionalType, TupleType, Type

NUMBERS: Final = {"inf": float("inf"), "nan": float("nan")}
KINDS_OF_CASTS: Final = {name: kind for kind, name in CASTS.items()}


class Expressions(ABC):
    """Evaluates the expressions of one method, in which `names` have these values."""

    def __init__(self, nodes: Nodes, record: str, names: dict[str, Any]) -> None:
        self.nodes = nodes
        self.record = record
        self.names = names

    @abstractmethod
    def call_method(self, held: ArchivedObject, name: str, given: list[Any], at: ast.AST) -> Any:
        """What a method of a module returns."""

    @abstractmethod
    def call_function(self, path: str, given: list[Any], at: ast.AST) -> Any:
        """What a function that stands beside the classes returns."""

    def bad(self, node: ast.AST, why: str) -> SourceError:
        """The error for a part of this text."""
        return not_understood(self.record, node, why)

    def value(self, given: Any, at: ast.AST) -> Value:
        """The value in the graph."""
        return self.nodes.value(given, self.record, at)

    def evaluate(self, node: ast.expr) -> Any:
        """What an expression stands for."""
        match node:
            case ast.Constant(value=bool() | float() | str() | None as value):
                return Constant(value)
            case ast.Constant(value=int(value)) if value < 2**63:
                return Constant(value)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.negative(node, self.evaluate(operand))
            case ast.Name(id=name):
                if name in self.names:
                    return self.names[name]
                if name in NUMBERS:
                    return Constant(NUMBERS[name])
                raise self.bad(node, "this name has no value")
            case ast.Attribute(value=ast.Name(id="CONSTANTS"), attr=name):
                number = re.fullmatch(r"c(\d{1,9})", name)
                if number is None or int(number[1]) >= len(self.nodes.constants):
                    raise self.bad(node, f"the archive has {len(self.nodes.constants)} constants")
                return Constant(self.nodes.constants[int(number[1])])
            case ast.Attribute() if _is_path(node):
                return Function(ast.unparse(node))
            case ast.Attribute(value=owner, attr=name):
                return self.attribute(node, self.evaluate(owner), name)
            case ast.List(elts=elements):
                return self.list_of(node, [self.evaluate(element) for element in elements])
            case ast.Tuple(elts=elements):
                return TupleOf(tuple(self.evaluate(element) for element in elements))
            case ast.Subscript(value=owner, slice=ast.Constant(value=int(at))):
                return self.item(node, self.evaluate(owner), at)
            case ast.Call():
                return self.call(node)
        raise self.bad(node, "this expression is not one of a traced program")

    def negative(self, node: ast.expr, given: Any) -> Constant:
        """The number with a minus sign."""
        if isinstance(given, Constant) and type(given.value) in (int, float):
            return Constant(-given.value)
        raise self.bad(node, "a minus sign belongs before a number")

    def attribute(self, node: ast.expr, owner: Any, name: str) -> Any:
        """An attribute of a module."""
        if not isinstance(owner, ArchivedObject) or name not in owner.state:
            raise self.bad(node, f"there is no attribute {name} of a module here")
        value = owner.state[name]
        if isinstance(value, Tensor):
            return HeldTensor(f"{self.nodes.paths[id(owner)]}{name}", value)
        if isinstance(value, ArchivedObject):
            return value
        if isinstance(value, bool | int | float | str | None | Device):
            return Constant(value)
        raise self.bad(node, f"an attribute of the type {type(value).__name__} is not known")

    def list_of(self, node: ast.expr, elements: list[Any]) -> ListOf:
        """A list that is written out; all its elements have one type."""
        types = list(dict.fromkeys(type_in_graph(element) for element in elements))
        if len(types) > 1 and all(type is not None and type.is_subtype_of(NUMBER) for type in types):
            types = [NUMBER]
        if len(types) > 1 or None in types:
            raise self.bad(node, "the elements of a list have one type; `annotate` says which where they do not")
        return ListOf(tuple(elements), types[0] if types else None)

    def item(self, node: ast.expr, owner: Any, at: int) -> Any:
        """One element of a tuple or of a list of ints."""
        if isinstance(owner, TupleOf | ListOf) or isinstance(type_in_graph(owner), TupleType):
            count = len(owner.elements if isinstance(owner, TupleOf | ListOf) else owner.type.elements)
            if at < count:
                return self.parts(owner, count, node)[at]
        return self.nodes.insert("aten::__getitem__", [owner, Constant(at)], {}, self.record, node)

    # Calls ----------------------------------------------------------------------------------------------------------

    def call(self, node: ast.Call) -> Any:
        """What a call gives: an operator's results, those of a child's method, or a value as another type."""
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="torch"), attr="device"), args=[ast.Constant(value=str(on))]
            ):
                return Constant(device_from(on))
            case ast.Call(func=ast.Attribute(value=ast.Name(id="torch"), attr=name)):
                return self.operator(node, f"aten::{name}")
            case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name(id="ops"), attr=space), attr=name)):
                return self.operator(node, f"{space}::{name}")
            case ast.Call(func=ast.Name(id="annotate" | "unchecked_cast"), args=[type, value], keywords=[]):
                return self.annotated(node, read_type(self.record, type), value)
            case ast.Call(func=ast.Name(id="getattr"), args=[owner, ast.Constant(value=str(name))], keywords=[]):
                return self.attribute(node, self.evaluate(owner), name)
            case ast.Call(func=ast.Name(id=name), args=[_]) if name in KINDS_OF_CASTS:
                return self.operator(node, KINDS_OF_CASTS[name])
            case ast.Call(func=ast.Name(id=name), keywords=[]) if isinstance(self.names.get(name), Function):
                return self.call_function(self.names[name].path, list(map(self.evaluate, node.args)), node)
            case ast.Call(func=ast.Attribute(value=owner, attr=name), keywords=[]):
                held = self.evaluate(owner)
                if isinstance(held, ArchivedObject):
                    return self.call_method(held, name, list(map(self.evaluate, node.args)), node)
        raise self.bad(node, "this function is not known")

    def device(self, node: ast.Call) -> Constant:
        """A device that is written out."""
        match node:
            case ast.Call(args=[ast.Constant(value=str(name))], keywords=[]):
                return Constant(device_from(name))
        raise self.bad(node, 'a device has a name, such as torch.device("cpu")')

    def operator(self, node: ast.Call, kind: str) -> Any:
        """The results of an operator."""
        given = [self.evaluate(argument) for argument in node.args]
        named = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                raise self.bad(node, "arguments are written out")
            named[keyword.arg] = self.evaluate(keyword.value)
        return self.nodes.insert(kind, given, named, self.record, node)

    def annotated(self, node: ast.Call, type: Type, value: ast.expr) -> Any:
        """A value whose type is stated: that of a list is the list's, for its elements have none in common."""
        inner = type.element if isinstance(type, OptionalType) else type
        if isinstance(value, ast.List) and isinstance(inner, ListType):
            elements = tuple(self.evaluate(element) for element in value.elts)
            if not all(is_a(element, inner.element) for element in elements):
                raise self.bad(node, f"not all elements are of the type {inner.element}")
            return ListOf(elements, inner.element)
        given = self.evaluate(value)
        found = type_in_graph(given)
        if found is None or not (found.is_subtype_of(type) or type.is_subtype_of(found)):
            raise self.bad(node, f"the value is of the type {found}, and {type} is stated")
        return given

    def parts(self, given: Any, count: int, at: ast.AST) -> Sequence[Any]:
        """The elements of a tuple or a list of this length."""
        parts: Sequence[Any]
        match given:
            case TupleOf() | ListOf():
                parts = given.elements
            case Value(type=TupleType(elements=types)):
                parts = self.unpacked("prim::TupleUnpack", given, types)
            case Value(type=ListType(element=type)):
                parts = self.unpacked("prim::ListUnpack", given, [type] * count)
            case _:
                raise self.bad(at, "only a tuple or a list has parts")
        if len(parts) != count:
            raise self.bad(at, f"{len(parts)} values for {count} names")
        return parts

    def unpacked(self, kind: str, given: Value, types: Sequence[Type]) -> tuple[Value, ...]:
        """The elements of a tuple or a list in the graph."""
        graph = self.nodes.graph
        return graph.insert_node(graph.create(kind, [given], list(types))).outputs


def _is_path(node: ast.expr) -> bool:
    """Whether an expression is the path of what stands in the archive: `__torch__.a.b`."""
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and node.id == ROOT
