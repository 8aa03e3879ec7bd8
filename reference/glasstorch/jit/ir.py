"""What is a graph made of, and how is it edited?

Mirrors: torch/csrc/jit/ir/ir.h, ir.cpp (Graph, Block, Node, Value, Use), constants.cpp (insertConstant, toIValue)
Differs: names are in snake_case, and what is stored is a property instead of a method. Attributes are Python values in
    a dict. A copy keeps the numbers of the values, so that it prints as the original does.

A value is the output of one node, and any number of nodes use it. A node has a kind, inputs, outputs, attributes and
blocks; a block is a list of nodes between a `prim::Param` node, whose outputs are the block's inputs, and a
`prim::Return` node, whose inputs are the block's outputs. A graph is a block that is in no node. As a grammar (that of
the text is in printer.py):

    graph     = block
    block     = prim::Param  node*  prim::Return
    node      = kind  input: value*  output: value*  attribute*  block*
    value     = type  number  [name]  (the node that makes it, and which output)  use*
    use       = (the node that uses it, and as which input)

Every edit below keeps uses consistent with inputs; nothing else writes either.

    graph = Graph()
    x = graph.add_input("x")
    y = graph.insert("aten::relu", [x])         # a node at the insert point; its only output
    graph.register_output(y)
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

from glasstorch.dispatch.operator import Operator, registry
from glasstorch.dispatch.schema import FunctionSchema
from glasstorch.jit.types import BOOL, FLOAT, NONE, NUMBER, TENSOR, ListType, Type, from_schema, plain_constant, type_of

GAP = 1 << 32  # between the positions of two neighbours, so that most insertions renumber nothing
NAME = re.compile(r"[A-Za-z_]\w*(?:\.\w+)*", re.ASCII)
SUFFIX = re.compile(r"(?P<base>.*)\.(?P<number>\d+)", re.DOTALL)


class GraphHooks(Protocol):
    """What the files answer about a graph that read graphs: printer.py and verify.py."""

    def print_node(self, node: Node) -> str: ...

    def print_graph(self, graph: Graph) -> str: ...

    def lint(self, graph: Graph) -> None: ...


graph_hooks: GraphHooks


def set_graph_hooks(hooks: GraphHooks) -> None:
    """Called once by verify.py."""
    global graph_hooks
    graph_hooks = hooks


class Use(NamedTuple):
    """One use of a value: input `offset` of the node `user`."""

    user: Node
    offset: int


class SourceRange(NamedTuple):
    """The location in a program that a node comes from; lines count from 1, columns from 0."""

    filename: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.filename}:{self.line}:{self.column}"


class Value:
    """One result of one node, or one input of a block."""

    __slots__ = ("_name", "_offset", "_uses", "node", "type", "unique")

    def __init__(self, node: Node, offset: int, type: Type, unique: int) -> None:
        self.node = node  # the node that makes it
        self.type = type
        self.unique = unique  # its number in the graph, which serves as its name until it has one
        self._offset = offset
        self._name: str | None = None
        self._uses: list[Use] = []

    @property
    def offset(self) -> int:
        """Which output of its node it is."""
        return self._offset

    @property
    def uses(self) -> tuple[Use, ...]:
        return tuple(self._uses)

    @property
    def graph(self) -> Graph:
        return self.node.graph

    @property
    def debug_name(self) -> str:
        """The name that is printed after the %."""
        return self._name if self._name is not None else str(self.unique)

    @property
    def has_debug_name(self) -> bool:
        return self._name is not None

    def set_debug_name(self, name: str) -> Value:
        """Name the value; another value with this name gets a suffix: its `x` becomes `x.1`. Returns the value.

        The empty name removes the name. A number is refused: numbers are for values without a name.
        """
        if name and not NAME.fullmatch(name):
            raise ValueError(f"Invalid name: '{name}'; expected a letter or _, then letters, digits, _ and single dots")
        names = self.graph.names
        if self._name is not None:
            del names[self._name]
            self._name = None
        if name:
            if name in names:
                names[name].set_debug_name(self.graph.free_name(name))
            names[name] = self
            self._name = name
        return self

    def copy_metadata(self, other: Value) -> Value:
        """Take over the type and the name of another value. Returns the value."""
        self.type = other.type
        if other.has_debug_name:
            self.set_debug_name(other.debug_name)
        return self

    def replace_all_uses_with(self, new: Value) -> None:
        """Make every node that uses this value use `new` instead."""
        for user, offset in self.uses:
            user.replace_input(offset, new)

    def replace_all_uses_after(self, node: Node, new: Value) -> None:
        """As replace_all_uses_with, in the nodes that run after `node`."""
        for user, offset in self.uses:
            if user.is_after(node):
                user.replace_input(offset, new)

    @property
    def is_constant(self) -> bool:
        return self.node.kind == "prim::Constant"

    def constant(self) -> Any:
        """The Python value of a constant; ValueError for any other value. A dtype is a number here (types.py)."""
        if not self.is_constant:
            raise ValueError(f"%{self.debug_name} is made by {self.node.kind}: it is not a constant")
        return None if self.type == NONE else self.node.attributes["value"]

    def __repr__(self) -> str:
        return f"%{self.debug_name} : {self.type}"


class Node:
    """One operation. It is made by `Graph.create`, and takes effect once it is inserted into a block."""

    __slots__ = (
        "_blocks",
        "_inputs",
        "_next",
        "_outputs",
        "_position",
        "_previous",
        "attributes",
        "graph",
        "kind",
        "owning_block",
        "scope",
        "source",
    )

    def __init__(self, graph: Graph, kind: str) -> None:
        self.graph = graph
        self.kind = kind  # aten::add, without the overload: `schema` finds that
        self.attributes: dict[str, Any] = {}
        self.scope = ""  # the path of the module that was running
        self.source: SourceRange | None = None
        self.owning_block: Block | None = None  # None where it is in no block
        self._inputs: list[Value] = []
        self._outputs: list[Value] = []
        self._blocks: list[Block] = []
        self._next: Node | None = None
        self._previous: Node | None = None
        self._position = 0

    # Properties ----------------------------------------------------------------------------------------------

    @property
    def inputs(self) -> tuple[Value, ...]:
        return tuple(self._inputs)

    @property
    def outputs(self) -> tuple[Value, ...]:
        return tuple(self._outputs)

    @property
    def blocks(self) -> tuple[Block, ...]:
        return tuple(self._blocks)

    @property
    def output(self) -> Value:
        """The only output; ValueError where there is not exactly one."""
        if len(self._outputs) != 1:
            raise ValueError(f"{self.kind} has {len(self._outputs)} outputs; `output` asks for the only one")
        return self._outputs[0]

    @property
    def next(self) -> Node | None:
        """The node after it in its block; the last one's is the block's return node."""
        return self._next

    @property
    def previous(self) -> Node | None:
        """The node before it in its block; the first one's is the block's return node."""
        return self._previous

    def maybe_operator(self) -> Operator | None:
        """The operator whose name is the kind and whose arguments take the inputs, or None."""
        types = tuple(value.type.unshaped() for value in self._inputs)
        return _find_operator(self.kind, types, registry.generation)

    def operator(self) -> Operator:
        """The operator that the node calls; ValueError lists the overloads where none fits."""
        found = self.maybe_operator()
        if found is None:
            candidates = registry.overloads(*self.kind.split("::", 1))
            given = ", ".join(str(value.type) for value in self._inputs)
            listed = "".join(f"\n\t{candidate.name}{_after_name(candidate)}" for candidate in candidates)
            raise ValueError(
                f"We don't have an op for {self.kind}.  Argument types: {given}\n\nCandidates:"
                f"{listed or ' none; there is no operator of that name'}"
            )
        return found

    def maybe_schema(self) -> FunctionSchema | None:
        found = self.maybe_operator()
        return found.schema if found is not None else None

    def schema(self) -> FunctionSchema:
        """The schema of the operator that the node calls; errors as `operator`."""
        return self.operator().schema

    def is_before(self, other: Node) -> bool:
        """Whether it runs before `other`; a node counts as running before the nodes in its blocks.

        Of two nodes in different blocks of one node, the one in the earlier block is before.
        """
        if self is other:
            return False
        mine, theirs = _path(self), _path(other)
        for a, b in zip(mine, theirs, strict=False):
            if a != b:
                return a < b
        return len(mine) < len(theirs)

    def is_after(self, other: Node) -> bool:
        return self is not other and not self.is_before(other)

    # Inputs, outputs and blocks ------------------------------------------------------------------------------

    def add_input(self, value: Value) -> Value:
        return self.insert_input(len(self._inputs), value)

    def insert_input(self, i: int, value: Value) -> Value:
        self._check_graph(value)
        for offset in reversed(range(i, len(self._inputs))):
            uses = self._inputs[offset]._uses
            uses[uses.index(Use(self, offset))] = Use(self, offset + 1)
        self._inputs.insert(i, value)
        value._uses.append(Use(self, i))
        return value

    def replace_input(self, i: int, new: Value) -> Value:
        """Use `new` as input i. Returns the value that was there."""
        self._check_graph(new)
        old = self._inputs[i]
        old._uses.remove(Use(self, i))
        self._inputs[i] = new
        new._uses.append(Use(self, i))
        return old

    def replace_input_with(self, old: Value, new: Value) -> None:
        """Use `new` wherever `old` is an input."""
        for i, value in enumerate(self.inputs):
            if value is old:
                self.replace_input(i, new)

    def remove_input(self, i: int) -> None:
        self._inputs[i]._uses.remove(Use(self, i))
        del self._inputs[i]
        for offset in range(i, len(self._inputs)):
            uses = self._inputs[offset]._uses
            uses[uses.index(Use(self, offset + 1))] = Use(self, offset)

    def remove_all_inputs(self) -> None:
        for i, value in enumerate(self._inputs):
            value._uses.remove(Use(self, i))
        self._inputs.clear()

    def add_output(self, type: Type = TENSOR) -> Value:
        return self.insert_output(len(self._outputs), type)

    def insert_output(self, i: int, type: Type = TENSOR) -> Value:
        value = Value(self, i, type, self.graph.next_unique())
        self._outputs.insert(i, value)
        self._renumber_outputs()
        return value

    def erase_output(self, i: int) -> None:
        """Remove an output that nothing uses."""
        value = self._outputs[i]
        if value._uses:
            raise ValueError(f"%{value.debug_name} has {len(value._uses)} uses; only an unused output can be erased")
        value.set_debug_name("")
        del self._outputs[i]
        self._renumber_outputs()

    def add_block(self) -> Block:
        block = Block(self.graph, self)
        self._blocks.append(block)
        return block

    def erase_block(self, i: int) -> None:
        """Remove a block and the nodes in it."""
        block = self._blocks.pop(i)
        block._destroy()

    def replace_all_uses_with(self, other: Node) -> None:
        """Replace each use of an output of this node by the same output of the other."""
        if len(self._outputs) != len(other._outputs):
            raise ValueError(
                f"{self.kind} has {len(self._outputs)} outputs and {other.kind} {len(other._outputs)}; to replace all "
                f"uses, they must have the same number"
            )
        for mine, theirs in zip(self._outputs, other._outputs, strict=True):
            mine.replace_all_uses_with(theirs)

    # Position ------------------------------------------------------------------------------------------------

    def insert_before(self, node: Node) -> Node:
        """Insert this node, which is in no block, before a node that is in one. Returns it."""
        if node._previous is None:
            raise ValueError(f"{self.kind} can only be inserted next to a node that is in a block; {node.kind} is not")
        return self.insert_after(node._previous)

    def insert_after(self, node: Node) -> Node:
        """Insert this node, which is in no block, after a node that is in one. Returns it."""
        if self.owning_block is not None:
            raise ValueError(f"{self.kind} is in a block already; move_before and move_after take it elsewhere")
        block, after = node.owning_block, node._next
        if block is None or after is None:
            raise ValueError(f"{self.kind} can only be inserted next to a node that is in a block; {node.kind} is not")
        self.graph._check(node)
        self.owning_block = block
        self._previous, self._next = node, after
        node._next = after._previous = self
        low = 0 if node is block.return_node else node._position
        high = low + 2 * GAP if after is block.return_node else after._position
        self._position = (low + high) // 2
        if self._position == low:
            block._renumber()
        return self

    def move_before(self, node: Node) -> Node:
        self._unlink()
        return self.insert_before(node)

    def move_after(self, node: Node) -> Node:
        self._unlink()
        return self.insert_after(node)

    def destroy(self) -> None:
        """Remove the node and its blocks from the graph; ValueError while an output is used."""
        for value in self._outputs:
            if value._uses:
                raise ValueError(f"%{value.debug_name} is used: {self.kind} cannot be destroyed; replace its uses")
        if self.graph._insert_before is self and self._next is not None:
            self.graph._insert_before = self._next
        for i in reversed(range(len(self._outputs))):
            self.erase_output(i)
        for i in reversed(range(len(self._blocks))):
            self.erase_block(i)
        self.remove_all_inputs()
        if self.owning_block is not None:
            self._unlink()

    def _unlink(self) -> None:
        before, after = self._previous, self._next
        if before is None or after is None or self.kind == "prim::Return":
            raise ValueError(f"{self.kind} is not among the nodes of a block; only those can be moved or destroyed")
        before._next, after._previous = after, before
        self._next = self._previous = self.owning_block = None

    def _check_graph(self, value: Value) -> None:
        if value.graph is not self.graph:
            raise ValueError(
                f"%{value.debug_name} belongs to another graph than the node {self.kind} that is to use it; expected a "
                f"value of the node's own graph"
            )

    def _renumber_outputs(self) -> None:
        for i, value in enumerate(self._outputs):
            value._offset = i

    def __str__(self) -> str:
        return graph_hooks.print_node(self)

    def __repr__(self) -> str:
        return f"<Node {str(self).splitlines()[0].strip()}>"


class Block:
    """A list of nodes with inputs and outputs; a graph, or a part of a prim::If or prim::Loop."""

    __slots__ = ("graph", "owning_node", "param_node", "return_node")

    def __init__(self, graph: Graph, owning_node: Node | None) -> None:
        self.graph = graph
        self.owning_node = owning_node
        self.param_node = Node(graph, "prim::Param")
        self.return_node = Node(graph, "prim::Return")
        for end in (self.param_node, self.return_node):
            end.owning_block = self
        # The return node closes the ring of nodes: its `next` is the first node.
        self.return_node._next = self.return_node._previous = self.return_node
        self.param_node._position = -1

    @property
    def inputs(self) -> tuple[Value, ...]:
        return self.param_node.outputs

    @property
    def outputs(self) -> tuple[Value, ...]:
        return self.return_node.inputs

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes in order, as a snapshot, so that a pass may edit while it walks."""
        return tuple(self._walk())

    def add_input(self, name: str = "", type: Type = TENSOR) -> Value:
        return self.param_node.add_output(type).set_debug_name(name)

    def erase_input(self, i: int) -> None:
        self.param_node.erase_output(i)

    def register_output(self, value: Value) -> int:
        """Append the value to the outputs. Returns its index."""
        self.return_node.add_input(value)
        return len(self.return_node._inputs) - 1

    def replace_output(self, i: int, new: Value) -> Value:
        return self.return_node.replace_input(i, new)

    def erase_output(self, i: int) -> None:
        self.return_node.remove_input(i)

    def append_node(self, node: Node) -> Node:
        return node.insert_before(self.return_node)

    def prepend_node(self, node: Node) -> Node:
        return node.insert_after(self.return_node)

    def clone_from(self, source: Block, value_map: Callable[[Value], Value]) -> None:
        """Append a copy of another block's inputs, nodes and outputs.

        `value_map` maps a value from outside the source block to the one to use.
        """
        copies: dict[Value, Value] = {}

        def copied(value: Value) -> Value:
            found = copies.get(value)
            return found if found is not None else value_map(value)

        for value in source.inputs:
            copies[value] = self.add_input().copy_metadata(value)
        for node in source._walk():
            clone = self.append_node(self.graph.create_clone(node, copied))
            copies.update(zip(node._outputs, clone._outputs, strict=True))
        for value in source.outputs:
            self.register_output(copied(value))

    def _walk(self) -> Iterator[Node]:
        node = self.return_node._next
        while node is not self.return_node:
            assert node is not None
            yield node
            node = node._next

    def _renumber(self) -> None:
        for i, node in enumerate(self._walk(), start=1):
            node._position = i * GAP

    def _destroy(self) -> None:
        self.return_node.remove_all_inputs()
        for node in reversed(self.nodes):
            node.destroy()
        for i in reversed(range(len(self.param_node._outputs))):
            self.param_node.erase_output(i)


class Graph:
    """A program: a block, and the names and numbers of all values in it."""

    __slots__ = ("_insert_before", "_suffixes", "_unique", "block", "names")

    def __init__(self) -> None:
        self.names: dict[str, Value] = {}
        self._suffixes: dict[str, int] = {}  # name -> the next suffix to try
        self._unique = 0
        self.block = Block(self, None)
        self._insert_before = self.block.return_node

    # Contents ------------------------------------------------------------------------------------------------

    @property
    def inputs(self) -> tuple[Value, ...]:
        return self.block.inputs

    @property
    def outputs(self) -> tuple[Value, ...]:
        return self.block.outputs

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes of the graph itself, in order; `all_nodes` has those inside blocks too."""
        return self.block.nodes

    @property
    def param_node(self) -> Node:
        return self.block.param_node

    @property
    def return_node(self) -> Node:
        return self.block.return_node

    def all_nodes(self) -> Iterator[Node]:
        """All nodes, each before those in its blocks."""
        return _all_nodes(self.block)

    def find_all_nodes(self, kind: str) -> list[Node]:
        return [node for node in self.all_nodes() if node.kind == kind]

    # Building ------------------------------------------------------------------------------------------------

    def add_input(self, name: str = "", type: Type = TENSOR) -> Value:
        return self.block.add_input(name, type)

    def erase_input(self, i: int) -> None:
        self.block.erase_input(i)

    def register_output(self, value: Value) -> int:
        return self.block.register_output(value)

    def replace_output(self, i: int, new: Value) -> Value:
        return self.block.replace_output(i, new)

    def erase_output(self, i: int) -> None:
        self.block.erase_output(i)

    def create(
        self,
        kind: str,
        inputs: Iterable[Value] = (),
        outputs: int | Sequence[Type] = 1,
        attributes: dict[str, Any] | None = None,
    ) -> Node:
        """A new node, in no block yet. `outputs` are the types of the outputs, or the number of tensor outputs."""
        if not re.fullmatch(r"\w+::\w+", kind):
            raise ValueError(f"the kind of a node is a namespace and a name, such as aten::add; got {kind!r}")
        node = Node(self, kind)
        for value in inputs:
            node.add_input(value)
        for type in [TENSOR] * outputs if isinstance(outputs, int) else outputs:
            node.add_output(type)
        node.attributes.update(attributes or {})
        return node

    def create_clone(self, node: Node, value_map: Callable[[Value], Value]) -> Node:
        """A copy, in no block yet, of a node of this or another graph; `value_map` maps the inputs."""
        clone = self.create(node.kind, map(value_map, node._inputs), [], node.attributes)
        clone.source, clone.scope = node.source, node.scope
        for name, attribute in clone.attributes.items():
            if isinstance(attribute, Graph):
                clone.attributes[name] = attribute.copy()
        for value in node._outputs:
            clone.add_output().copy_metadata(value)
        for block in node._blocks:
            clone.add_block().clone_from(block, value_map)
        return clone

    def append_node(self, node: Node) -> Node:
        return self.block.append_node(node)

    def prepend_node(self, node: Node) -> Node:
        return self.block.prepend_node(node)

    @property
    def insert_point(self) -> Node:
        """The node before which `insert_node` and `insert` insert; at first the end of the graph."""
        return self._insert_before

    @contextmanager
    def inserting_before(self, point: Node | Block) -> Iterator[Node]:
        """In the `with` block, nodes are inserted before this node, or at the end of this block."""
        node = point.return_node if isinstance(point, Block) else point
        self._check(node)
        before, self._insert_before = self._insert_before, node
        try:
            yield node
        finally:
            self._insert_before = before

    def insert_node(self, node: Node) -> Node:
        return node.insert_before(self._insert_before)

    def insert(
        self, kind: str, inputs: Iterable[Value] = (), type: Type = TENSOR, attributes: dict[str, Any] | None = None
    ) -> Value:
        """Create a node with one output and insert it. Returns the output."""
        return self.insert_node(self.create(kind, inputs, [type], attributes)).output

    def insert_constant(self, value: Any, type: Type | None = None) -> Value:
        """Insert a prim::Constant; TypeError for a value that no graph can hold.

        The type is the value's own unless given: it must be for an empty list, and for a float argument with the value
        1.
        """
        type = type_of(value) if type is None else type
        plain = float(value) if type == FLOAT else plain_constant(value)
        return self.insert("prim::Constant", (), type, {} if type == NONE else {"value": plain})

    def insert_list(self, element: Type, values: Sequence[Value]) -> Value:
        """Insert a prim::ListConstruct of values; its output is a list of the type `element`."""
        return self.insert("prim::ListConstruct", values, ListType(element))

    # For passes ----------------------------------------------------------------------------------------------

    def copy(self) -> Graph:
        """An independent graph with the same nodes, names and numbers."""
        copy = Graph()
        copy.block.clone_from(self.block, _no_outside)
        for mine, theirs in zip(_all_values(self.block), _all_values(copy.block), strict=True):
            theirs.unique = mine.unique
        copy._unique = self._unique
        copy._suffixes = dict(self._suffixes)
        return copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        return self.copy()

    def lint(self) -> None:
        """Raise a LintError if the graph breaks a rule of verify.py."""
        graph_hooks.lint(self)

    def next_unique(self) -> int:
        """A number that no value has had so far."""
        self._unique += 1
        return self._unique - 1

    def free_name(self, name: str) -> str:
        """A name that no value has: the given one with the next free suffix."""
        match = SUFFIX.fullmatch(name)
        base, number = (match["base"], int(match["number"])) if match else (name, 1)
        number = max(number, self._suffixes.get(base, 0) + 1)  # PyTorch skips a number here
        while f"{base}.{number}" in self.names:
            number += 1
        self._suffixes[base] = number + 1
        return f"{base}.{number}"

    def _check(self, node: Node) -> None:
        if node.graph is not self:
            raise ValueError(f"the node {node.kind} belongs to another graph; expected one that this graph created")

    def __str__(self) -> str:
        return graph_hooks.print_graph(self)

    __repr__ = __str__


def _all_nodes(block: Block) -> Iterator[Node]:
    for node in block.nodes:
        yield node
        for inner in node._blocks:
            yield from _all_nodes(inner)


def _all_values(block: Block) -> Iterator[Value]:
    yield from block.param_node._outputs
    for node in block._walk():
        yield from node._outputs
        for inner in node._blocks:
            yield from _all_values(inner)


def _path(node: Node) -> list[float]:
    """A node's position as a path: from outside in, each enclosing node's position and block index; then its own."""
    path: list[float] = []
    current: Node | None = node
    while current is not None:
        block = current.owning_block
        assert block is not None, f"{current.kind} is in no block: it runs neither before nor after another"
        path.append(math.inf if current is block.return_node else current._position)
        current = block.owning_node
        if current is not None:
            path.append(current._blocks.index(block))
    return path[::-1]


def _no_outside(value: Value) -> Value:
    raise AssertionError(f"%{value.debug_name} is used in the graph and made outside of it")


@lru_cache(maxsize=4096)
def _find_operator(kind: str, types: tuple[Type, ...], generation: int) -> Operator | None:
    """The first operator of that name that takes inputs of these types, where tensors have no known shape.

    Overloads with out= come last: `aten::max(%a, %b)` is max.other, and not max.unary_out.
    """
    for operator in sorted(registry.overloads(*kind.split("::", 1)), key=lambda found: found.schema.is_out):
        arguments = operator.schema.arguments
        if len(arguments) == len(types) and all(
            _takes(from_schema(argument.type), type) for argument, type in zip(arguments, types, strict=True)
        ):
            return operator
    return None


def _takes(asked: Type, given: Type) -> bool:
    return given.is_subtype_of(asked) or (given == BOOL and NUMBER.is_subtype_of(asked))


def _after_name(operator: Operator) -> str:
    return str(operator.schema).partition("(")[1] + str(operator.schema).partition("(")[2]
