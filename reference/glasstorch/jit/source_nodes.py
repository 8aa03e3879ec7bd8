"""How does a node of a call in source text come into the graph?

Mirrors: torch/csrc/jit/frontend/ir_emitter.cpp (to_ir::emitBuiltinCall), torch/csrc/jit/passes/lower_graph.cpp

A value of the text is one of the graph, or one that is not yet in it (`source_types`): a constant, a parameter or a
list is inserted in front of the node that uses it, as the tracer does it, so that a graph that is printed and read has
the same nodes in the same order. Parameters become inputs of the graph in the order of their first use.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.jit.archived_object import ArchivedObject
from glasstorch.jit.ir import Graph, SourceRange, Value
from glasstorch.jit.numbers import result_type
from glasstorch.jit.source_operators import find_operator
from glasstorch.jit.source_text import Sources, not_understood
from glasstorch.jit.source_types import (
    MOST_PARTS,
    Constant,
    HeldTensor,
    ListOf,
    TupleOf,
    count_parts,
    type_in_graph,
)
from glasstorch.jit.types import ANY, TENSOR, TupleType, Type, from_schema


class Nodes:
    """The graph that is being built, and what all methods that it consists of share."""

    def __init__(self, sources: Sources, constants: Sequence[Tensor], outermost: ArchivedObject) -> None:
        self.graph = Graph()
        self.sources = sources
        self.constants = constants
        self.used: list[str] = []  # the names of the parameters that are inputs
        self.paths = paths(outermost)
        self.calls = self.depth = 0  # of methods: how many there were, and how many are not yet done
        self._inputs: dict[int, Value] = {}  # by the id of a tensor that a module holds

    def value(self, given: Any, record: str, at: ast.AST) -> Value:
        """The value in the graph; one that is not in it yet is inserted."""
        match given:
            case Value():
                return given
            case Constant():
                return self.graph.insert_constant(given.value)
            case HeldTensor():
                return self._input(given)
            case ListOf() if given.element is not None:
                values = [self.value(element, record, at) for element in given.elements]
                return self.graph.insert_list(given.element, values)
            case TupleOf():
                values = [self.value(element, record, at) for element in given.elements]
                made = TupleType(tuple(value.type for value in values))
                if count_parts(made) > MOST_PARTS:
                    raise not_understood(record, at, f"a tuple of more than {MOST_PARTS} parts")
                return self.graph.insert("prim::TupleConstruct", values, made)
            case ListOf():
                raise not_understood(record, at, "an empty list needs `annotate` to say what its elements are")
        raise not_understood(record, at, f"expected a value of the graph, not {type(given).__name__}")

    def _input(self, held: HeldTensor) -> Value:
        key = id(held.tensor)
        if key not in self._inputs:
            self._inputs[key] = self.graph.add_input("", TENSOR)
            self.used.append(held.path)
        return self._inputs[key]

    def insert(self, kind: str, given: list[Any], named: dict[str, Any], record: str, at: ast.AST) -> Any:
        """Insert the node of an operator; returns its result, or its results as a TupleOf."""
        if not named:
            returned = result_type(kind, [type_in_graph(one) or ANY for one in given])
            if returned is not None:
                return self.graph.insert(kind, [self.value(one, record, at) for one in given], returned)
        matched = find_operator(kind, given, named)
        if matched is None:
            shown = [str(type_in_graph(one) or type(one).__name__) for one in (*given, *named.values())]
            raise not_understood(record, at, f"glasstorch has no operator {kind} for ({', '.join(shown)})")
        operator, bound = matched
        values = [self.value(one, record, at) for one in bound]
        results = [from_schema(one.type) for one in operator.schema.returns]
        node = self.graph.insert_node(self.graph.create(kind, values, results))
        node.source = SourceRange(record, getattr(at, "lineno", 0), getattr(at, "col_offset", 0))
        if node.maybe_operator() is not operator:
            raise not_understood(record, at, f"a graph cannot tell that this {kind} is {operator.name}")
        return node.output if len(results) == 1 else TupleOf(node.outputs)


def is_a(given: Any, type: Type) -> bool:
    found = type_in_graph(given)
    return found is not None and found.is_subtype_of(type)


def paths(outermost: ArchivedObject) -> dict[int, str]:
    """The first path to each module, by the object's id."""
    found = {id(outermost): ""}
    waiting = [outermost]
    for held in waiting:
        for name, value in held.state.items():
            if isinstance(value, ArchivedObject) and id(value) not in found:
                found[id(value)] = f"{found[id(held)]}{name}."
                waiting.append(value)
    return found
