"""Which values may share memory, and which nodes write to it?

Mirrors: torch/csrc/jit/ir/alias_analysis.h, alias_analysis.cpp (AliasDb)
Differs: lists are never mutated here, so a list or a tuple stands for the memory of its elements; a set of places for
    each value replaces PyTorch's points-to graph. `type_as`, `_unsafe_view` and others may return memory of their
    argument though their schemas do not say so; PyTorch trusts the schemas, and removes visible writes through them.

# Note [Places]
A place is an abstract memory location, named after the first value that had it. A value may have several: the output of
an If has those of both branches. `OUTSIDE` is all memory that existed before the graph ran: that of the inputs and the
constants. Any two inputs may alias, so they all have this one place. Two values may alias if they have a place in
common. The analysis walks the graph, and the sets only grow, until a walk changes nothing (a fixed point): one walk and
one to confirm it, and more where a loop carries memory back to its start.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Final, NamedTuple

from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.dispatch.tags import Tag
from glasstorch.jit.ir import Block, Graph, Node, Value
from glasstorch.jit.numbers import OPERATIONS
from glasstorch.jit.side_effects import is_opaque
from glasstorch.jit.types import AnyType, ListType, OpaqueType, OptionalType, TensorType, TupleType, Type
from glasstorch.jit.verify import GROUPS

OUTSIDE: Final = "outside"
Place = Value | str
Places = frozenset[Place]
NOWHERE: Final[Places] = frozenset()

MAY_ALIAS: Final = frozenset([Tag.maybe_aliasing_or_mutating.name, Tag.undeclared_alias.name])
# Operators that may return memory of an argument and do not declare it -> which argument: the first with tensors.
UNDECLARED_VIEWS: Final = {
    operator.schema.name: next(i for i, a in enumerate(operator.schema.arguments) if a.type.is_tensor_like)
    for operator in registry.operators.values()
    if not MAY_ALIAS.isdisjoint(operator.words) and not operator.schema.is_inplace
}
CONTAINERS: Final = frozenset(
    f"prim::{name}" for name in ("ListConstruct", "ListUnpack", "TupleConstruct", "TupleUnpack", "TupleIndex")
)


class AliasAnalysis:
    """The places of every value of a graph, as it was when the analysis was made.

    After values were merged, tell it with `merged`; after any other edit, make a new one.
    """

    def __init__(self, graph: Graph) -> None:
        self._places: dict[Value, Places] = {}
        self._writes: dict[Node, Places] = {}
        self._grew = True  # whether the last walk found anything new
        self._leaked: Places = frozenset([OUTSIDE])  # memory that an opaque node has taken may be accessed by any other
        for value in graph.inputs:
            self._add(value, _outside(value))
        while self._grew:
            self._grew = False
            self._walk(graph.block)
        self._places = {value: self._with_outside(places) for value, places in self._places.items()}
        self._writes = {node: self._with_outside(places) for node, places in self._writes.items()}
        self.written: Places = NOWHERE.union(*self._writes.values())
        self._returned: Places = self._of_all(graph.outputs) | (self._leaked - {OUTSIDE})

    def places(self, value: Value) -> Places:
        """The memory that a value, or an element of it, may have; empty for numbers. See Note [Places]."""
        return self._places.get(value, NOWHERE)

    def writes(self, node: Node) -> Places:
        """The memory that the node itself may write to, without the writes of nodes in its blocks."""
        return self._writes.get(node, NOWHERE)

    def may_alias(self, left: Value, right: Value) -> bool:
        """Whether a write to one may be seen through the other."""
        return not self.places(left).isdisjoint(self.places(right))

    def has_writers(self, values: Iterable[Value]) -> bool:
        """Whether any node of the graph, wherever it is, may write to memory of these values."""
        return any(not self.places(value).isdisjoint(self.written) for value in values)

    def is_outside(self, value: Value) -> bool:
        """Whether the value may have memory that existed before the graph ran."""
        return OUTSIDE in self.places(value)

    def is_returned(self, value: Value) -> bool:
        """Whether the caller may get memory of the value from the graph's outputs."""
        return not self.places(value).isdisjoint(self._returned)

    def merged(self, kept: Value, dropped: Value) -> None:
        """Record that `kept` has replaced `dropped` everywhere."""
        if self.is_returned(dropped):
            self._returned |= self.places(kept)

    def _with_outside(self, places: Places) -> Places:
        return places if places.isdisjoint(self._leaked) else places | {OUTSIDE}

    def _walk(self, block: Block) -> None:
        """Visit every node once, in order."""
        for node in block.nodes:
            if node.kind == "prim::If":
                self._visit_if(node)
            elif node.kind == "prim::Loop":
                self._visit_loop(node)
            elif node.kind == "prim::Constant":
                self._add(node.output, _outside(node.output))
            elif node.kind in CONTAINERS:
                for output in node.outputs:
                    self._add(output, self._of_all(node.inputs))
            elif node.kind in GROUPS or node.kind in OPERATIONS:
                for output in node.outputs:
                    self._add(output, frozenset([output]))
            elif is_opaque(node):
                self._visit_opaque(node)
            else:
                self._visit_operator(node)

    def _visit_if(self, node: Node) -> None:
        for block in node.blocks:
            self._walk(block)
            for output, given in zip(node.outputs, block.outputs, strict=True):
                self._add(output, self.places(given))

    def _visit_loop(self, node: Node) -> None:
        """A loop takes the trip count, the condition and the carried values; its body returns the last two again."""
        (body,) = node.blocks
        self._walk(body)
        for i, output in enumerate(node.outputs):
            carried = self._of_all([node.inputs[i + 2], body.outputs[i + 1]])
            self._add(body.inputs[i + 1], carried)
            self._add(output, carried)

    def _visit_opaque(self, node: Node) -> None:
        touched = self._of_all(node.inputs)
        self._grew |= not touched <= self._leaked
        self._leaked |= touched
        self._add_write(node, touched)
        for output in node.outputs:
            self._add(output, _outside(output))
        for block in node.blocks:
            for value in block.inputs:
                self._add(value, _outside(value))
            self._walk(block)
            self._add_write(node, self._of_all(block.outputs))
            self._leaked |= self._of_all(block.outputs)

    def _visit_operator(self, node: Node) -> None:
        facts = memory_facts(node.schema())
        for i in facts.written:
            self._add_write(node, self.places(node.inputs[i]))
        for output, sources in zip(node.outputs, facts.sources, strict=True):
            if sources:
                self._add(output, self._of_all([node.inputs[i] for i in sources]))
            elif _may_hold_memory(output.type):
                self._add(output, frozenset([output]))

    def _of_all(self, values: Iterable[Value]) -> Places:
        return NOWHERE.union(*map(self.places, values))

    def _add(self, value: Value, places: Places) -> None:
        before = self.places(value)
        self._grew |= not places <= before
        self._places[value] = before | places

    def _add_write(self, node: Node, places: Places) -> None:
        before = self.writes(node)
        self._grew |= not places <= before
        self._writes[node] = before | places


class MemoryFacts(NamedTuple):
    """What a schema says about memory."""

    written: tuple[int, ...]  # the arguments that are written to
    sources: tuple[tuple[int, ...], ...]  # for each result, the arguments whose memory it may have


@cache
def memory_facts(schema: FunctionSchema) -> MemoryFacts:
    """Which arguments an operator writes to, and whose memory its results may have."""
    letters = [_letter(argument.type.alias) for argument in schema.arguments]
    written = tuple(i for i, argument in enumerate(schema.arguments) if argument.type.is_write)
    if schema.name in UNDECLARED_VIEWS:
        return MemoryFacts(written, tuple((UNDECLARED_VIEWS[schema.name],) for _ in schema.returns))
    sources = [
        tuple(i for i, letter in enumerate(letters) if letter and letter == _letter(result.type.alias))
        for result in schema.returns
    ]
    return MemoryFacts(written, tuple(sources))


def written_arguments(node: Node) -> tuple[int, ...]:
    """The inputs that a node's operator writes to; none if the node calls no operator."""
    schema = node.maybe_schema()
    return () if schema is None else memory_facts(schema).written


def _letter(alias: str | None) -> str:
    """The name in an alias annotation: `a` in `a!` and in `a -> *`."""
    return (alias or "").partition(" ")[0].rstrip("!")


def _outside(value: Value) -> Places:
    return frozenset([OUTSIDE]) if _may_hold_memory(value.type) else NOWHERE


def _may_hold_memory(type: Type) -> bool:
    match type:
        case TensorType() | AnyType() | OpaqueType():
            return True
        case ListType(element) | OptionalType(element):
            return _may_hold_memory(element)
        case TupleType(elements):
            return any(map(_may_hold_memory, elements))
    return False
