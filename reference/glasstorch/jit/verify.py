"""Is a graph well-formed?

Mirrors: torch/csrc/jit/ir/ir.cpp (Graph::lint), torch/csrc/jit/runtime/operator.cpp (getOperatorFor)
Differs: each rule is a function whose docstring states it; the error names the rule that is violated. Types of
    constants, lists, branches and loops, and operators' signatures, are checked too; PyTorch's lint does not.

The rules are checked in the order of the file, and each may rely on those before it. `lint` runs after every pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.core.device import device as Device
from glasstorch.jit.ir import Block, Graph, Node, Use, Value, set_graph_hooks
from glasstorch.jit.numbers import result_type
from glasstorch.jit.printer import SUBGRAPH, print_graph, print_node
from glasstorch.jit.types import (
    BOOL,
    INT,
    NONE,
    ListType,
    OptionalType,
    TensorType,
    TupleType,
    Type,
    from_schema,
    type_of,
)


class LintError(RuntimeError):
    """A graph violates a rule; `rule` is its name."""

    def __init__(self, message: str, rule: str) -> None:
        super().__init__(message)
        self.rule = rule

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.args[0], self.rule)


Rule = Callable[[Graph], Iterator[str]]


def lint(graph: Graph) -> None:
    """Raise a LintError that names the first rule that the graph violates, and where."""
    for rule in RULES:
        for problem in rule(graph):
            statement = " ".join((rule.__doc__ or "").split())
            raise LintError(f"{rule.__name__}: {problem}. The rule: {statement}", rule.__name__)


# Structure ----------------------------------------------------------------------------------------------------------


def nodes_form_a_ring(graph: Graph) -> Iterator[str]:
    """From the return node of a block, `next` leads through its nodes back to it, and `previous` the other way."""
    blocks = [graph.block]
    while blocks:
        block = blocks.pop()
        node, seen = block.return_node, set[int]()
        while node is not block.return_node or not seen:
            after = node.next
            if after is None or after.previous is not node:
                yield f"the node after {node.kind} does not have it as its previous node"
                return
            if after is not block.return_node and id(after) in seen:
                yield f"{after.kind} occurs twice in its block"
                return
            seen.add(id(after))
            blocks += after.blocks
            node = after


def nodes_know_their_block(graph: Graph) -> Iterator[str]:
    """A node's owning block and graph are those that contain it, and so is a block's owning node."""
    for block in _blocks(graph):
        for node in (block.param_node, *block.nodes, block.return_node):
            if node.owning_block is not block or node.graph is not graph:
                yield f"{_named(node)} is in another block or graph than its owning block and graph say"
            for inner in node.blocks:
                if inner.owning_node is not node or inner.graph is not graph:
                    yield f"a block of {_named(node)} has another owning node or graph"


def positions_ascend(graph: Graph) -> Iterator[str]:
    """Each node's position is above that of the one before it, as `is_before` compares positions."""
    for block in _blocks(graph):
        nodes = block.nodes
        for node, after in pairwise(nodes):
            if not node.is_before(after):
                yield f"{_named(after)} follows {_named(node)}, and its position is not above that one's"


def param_and_return_are_the_ends(graph: Graph) -> Iterator[str]:
    """A block begins with a prim::Param without inputs and ends with a prim::Return without outputs; no other node of
    the block has these kinds, and neither has blocks."""
    for block in _blocks(graph):
        if block.param_node.kind != "prim::Param" or block.param_node.inputs or block.param_node.blocks:
            yield f"a block begins with {_named(block.param_node)}"
        if block.return_node.kind != "prim::Return" or block.return_node.outputs or block.return_node.blocks:
            yield f"a block ends with {_named(block.return_node)}"
        for node in block.nodes:
            if node.kind in ("prim::Param", "prim::Return"):
                yield f"{node.kind} is among the nodes of a block"


def outputs_know_their_node(graph: Graph) -> Iterator[str]:
    """A value's node has it as an output, at the value's offset."""
    for node in _nodes(graph):
        for i, value in enumerate(node.outputs):
            if value.node is not node or value.offset != i:
                yield (
                    f"output {i} of {_named(node)}, %{value.debug_name}, is output {value.offset} of "
                    + (_named(value.node))
                    + ", according to its node and offset"
                )


def inputs_are_made_before(graph: Graph) -> Iterator[str]:
    """A node uses values made before it in its block or before an enclosing node, and none from inside other blocks."""
    yield from _used_too_early(graph.block, set())


def uses_match_inputs(graph: Graph) -> Iterator[str]:
    """The uses of a value list each input that it is, once."""
    used: dict[Value, set[Use]] = {}
    for node in _nodes(graph):
        for i, value in enumerate(node.inputs):
            used.setdefault(value, set()).add(Use(node, i))
    for value in _values(graph):
        listed, found = value.uses, used.get(value, set())
        if len(listed) != len(found) or set(listed) != found:
            yield f"%{value.debug_name} lists {len(listed)} uses and is {len(found)} inputs, or other ones"


def names_are_unique(graph: Graph) -> Iterator[str]:
    """No two values have the same name or number, and the graph's names are those of its values."""
    seen: dict[str, Value] = {}
    numbers: set[int] = set()
    for value in _values(graph):
        if value.debug_name in seen:
            yield f"two values are named %{value.debug_name}"
        if value.unique in numbers:
            yield f"two values have the number {value.unique}"
        if value.has_debug_name and graph.names.get(value.debug_name) is not value:
            yield f"the graph has another value, or none, under the name %{value.debug_name}"
        seen[value.debug_name] = value
        numbers.add(value.unique)
    for name in graph.names.keys() - seen.keys():
        yield f"the graph has the name %{name} for a value that no node makes"


# Kinds of nodes -----------------------------------------------------------------------------------------------------


def kinds_are_known(graph: Graph) -> Iterator[str]:
    """A node of the namespace prim has a kind that the interpreter knows; only prim::If and prim::Loop have blocks."""
    for node in graph.all_nodes():
        if node.kind.startswith("prim::") and node.kind not in KINDS:
            yield f"{_named(node)}; known are {', '.join(KINDS)}"
        if node.blocks and node.kind not in ("prim::If", "prim::Loop"):
            yield f"{_named(node)} has {len(node.blocks)} blocks"


def constants_have_their_value(graph: Graph) -> Iterator[str]:
    """A prim::Constant has no inputs, one output, and a value of its type; one of NoneType has no value."""
    for node in graph.find_all_nodes("prim::Constant"):
        if node.inputs or len(node.outputs) != 1:
            yield f"{_named(node)} has {len(node.inputs)} inputs and {len(node.outputs)} outputs"
        elif node.output.type == NONE:
            if "value" in node.attributes:
                yield f"{_named(node)} is None and has a value"
        elif "value" not in node.attributes:
            yield f"{_named(node)} has no value"
        elif not _fits(node.attributes["value"], node.output.type):
            yield f"{_named(node)} has the value {node.attributes['value']!r}"


def containers_fit_their_elements(graph: Graph) -> Iterator[str]:
    """Lists and tuples are built from, and unpacked to, values of the types that their own type says."""
    for node in graph.all_nodes():
        check = CONTAINERS.get(node.kind)
        if check is not None:
            yield from check(node)


def branches_fit(graph: Graph) -> Iterator[str]:
    """A prim::If takes a bool and has two blocks without inputs; both return values of the types of its outputs."""
    for node in graph.find_all_nodes("prim::If"):
        if _types(node.inputs) != (BOOL,):
            yield f"{_named(node)} takes {_list(node.inputs)}"
        if len(node.blocks) != 2 or any(block.inputs for block in node.blocks):
            taken = [value for block in node.blocks for value in block.inputs]
            yield f"{_named(node)} has {len(node.blocks)} blocks, which take {_list(taken)}"
        for i, block in enumerate(node.blocks):
            if not _all_subtypes(_types(block.outputs), _types(node.outputs)):
                yield f"block {i} of {_named(node)} returns {_list(block.outputs)}"


def loops_fit(graph: Graph) -> Iterator[str]:
    """A prim::Loop takes an int, a bool and the carried values; its block takes an int and the carried values, and
    returns a bool and the carried values, which become the loop's outputs at its end."""
    for node in graph.find_all_nodes("prim::Loop"):
        if _types(node.inputs[:2]) != (INT, BOOL) or len(node.blocks) != 1:
            yield f"{_named(node)} takes {_list(node.inputs)} and has {len(node.blocks)} blocks"
            continue
        (block,) = node.blocks
        if _types(block.inputs[:1]) != (INT,) or _types(block.outputs[:1]) != (BOOL,):
            yield f"the block of {_named(node)} takes {_list(block.inputs)} and returns {_list(block.outputs)}"
        inside = _types(block.inputs[1:])
        for carried in (node.inputs[2:], block.outputs[1:]):
            if not (_all_subtypes(_types(carried), inside) and _all_subtypes(_types(carried), _types(node.outputs))):
                yield f"{_named(node)} carries {_list(carried)}; its block takes {_list(block.inputs[1:])}"


def operators_take_their_inputs(graph: Graph) -> Iterator[str]:
    """A node outside the namespace prim calls an operator that accepts its inputs and returns its outputs."""
    for node in graph.all_nodes():
        number = result_type(node.kind, _types(node.inputs))
        if node.kind.startswith("prim::") or (number is not None and _types(node.outputs) == (number,)):
            continue
        schema = node.maybe_schema()
        if schema is None:
            yield f"no operator {node.kind} takes ({_list(node.inputs)}), the inputs of {_named(node)}"
        elif not _all_subtypes(_types(node.outputs), tuple(from_schema(result.type) for result in schema.returns)):
            yield f"the outputs of {_named(node)} are not the results of {schema}"


def subgraphs_fit(graph: Graph) -> Iterator[str]:
    """A subgraph is another graph, which obeys the rules, and takes and returns what its node does."""
    for node in graph.all_nodes():
        if node.kind not in GROUPS:
            if SUBGRAPH in node.attributes:
                yield f"{_named(node)} has a subgraph; only {' and '.join(GROUPS)} may have one"
            continue
        inner = node.attributes.get(SUBGRAPH)
        if not isinstance(inner, Graph) or inner is graph:
            yield f"{_named(node)} has no subgraph of its own"
        elif not (
            _all_subtypes(_types(node.inputs), _types(inner.inputs))
            and _all_subtypes(_types(inner.outputs), _types(node.outputs))
        ):
            yield f"{_named(node)} has a subgraph that takes {_list(inner.inputs)} and returns {_list(inner.outputs)}"
        else:
            lint(inner)


RULES: Final[tuple[Rule, ...]] = (
    nodes_form_a_ring,
    nodes_know_their_block,
    positions_ascend,
    param_and_return_are_the_ends,
    outputs_know_their_node,
    inputs_are_made_before,
    uses_match_inputs,
    names_are_unique,
    kinds_are_known,
    constants_have_their_value,
    containers_fit_their_elements,
    branches_fit,
    loops_fit,
    operators_take_their_inputs,
    subgraphs_fit,
)


# Helpers of the rules -----------------------------------------------------------------------------------------------


def _list_construct(node: Node) -> Iterator[str]:
    made = node.outputs[0].type if len(node.outputs) == 1 else None
    if not isinstance(made, ListType) or not all(value.type.is_subtype_of(made.element) for value in node.inputs):
        yield f"{_named(node)} is built from {_list(node.inputs)}"


def _list_unpack(node: Node) -> Iterator[str]:
    taken = node.inputs[0].type if len(node.inputs) == 1 else None
    if not isinstance(taken, ListType) or not all(
        taken.element.unshaped().is_subtype_of(value.type.unshaped()) for value in node.outputs
    ):
        yield f"{_named(node)} unpacks {_list(node.inputs)}"


def _tuple_construct(node: Node) -> Iterator[str]:
    made = node.outputs[0].type if len(node.outputs) == 1 else None
    if not isinstance(made, TupleType) or not _all_subtypes(_types(node.inputs), made.elements):
        yield f"{_named(node)} is built from {_list(node.inputs)}"


def _tuple_unpack(node: Node) -> Iterator[str]:
    taken = node.inputs[0].type if len(node.inputs) == 1 else None
    if not isinstance(taken, TupleType) or not _all_subtypes(taken.elements, _types(node.outputs)):
        yield f"{_named(node)} unpacks {_list(node.inputs)}"


# kind -> the check of its nodes in containers_fit_their_elements
CONTAINERS: Final[dict[str, Callable[[Node], Iterator[str]]]] = {
    "prim::ListConstruct": _list_construct,
    "prim::ListUnpack": _list_unpack,
    "prim::TupleConstruct": _tuple_construct,
    "prim::TupleUnpack": _tuple_unpack,
}
# Kinds of nodes that have a subgraph.
GROUPS: Final = ("prim::FusionGroup", "prim::DifferentiableGraph")
KINDS: Final = ("prim::Constant", *CONTAINERS, "prim::If", "prim::Loop", "prim::Print", "prim::NumToTensor", *GROUPS)


def _used_too_early(block: Block, outside: set[Value]) -> Iterator[str]:
    """The inputs in a block that are used before they are made; `outside` are the values made before the block."""
    made = outside | set(block.inputs)
    for node in (*block.nodes, block.return_node):
        for value in node.inputs:
            if value not in made:
                yield f"%{value.debug_name} is used by {_named(node)} before it is made"
        for inner in node.blocks:
            yield from _used_too_early(inner, made)
        made.update(node.outputs)


def _blocks(graph: Graph) -> Iterator[Block]:
    yield graph.block
    for node in graph.all_nodes():
        yield from node.blocks


def _nodes(graph: Graph) -> Iterator[Node]:
    """All nodes, including the ends of blocks."""
    for block in _blocks(graph):
        yield from (block.param_node, *block.nodes, block.return_node)


def _values(graph: Graph) -> Iterator[Value]:
    for node in _nodes(graph):
        yield from node.outputs


def _types(values: Iterable[Value]) -> tuple[Type, ...]:
    return tuple(value.type for value in values)


def _all_subtypes(given: tuple[Type, ...], asked: tuple[Type, ...]) -> bool:
    return len(given) == len(asked) and all(a.is_subtype_of(b) for a, b in zip(given, asked, strict=True))


def _fits(value: Any, type: Type) -> bool:
    """Whether a Python value has the type; for a tensor, all facts but `requires_grad` are compared."""
    match type:
        case OptionalType():
            return value is None or _fits(value, type.element)
        case ListType():
            return isinstance(value, list) and all(_fits(element, type.element) for element in value)
        case TupleType():
            return (
                isinstance(value, tuple) and len(value) == len(type.elements) and all(map(_fits, value, type.elements))
            )
        case TensorType():
            return isinstance(value, Tensor) and TensorType.of(value).is_subtype_of(type.with_requires_grad(None))
    return isinstance(value, bool | int | float | str | Device | None) and type_of(value).is_subtype_of(type)


def _named(node: Node) -> str:
    """A node as text for messages: its kind and outputs, without the rest, which may be invalid."""
    made = ", ".join(f"%{value.debug_name} : {value.type}" for value in node.outputs)
    return f"{made} = {node.kind}" if made else node.kind


def _list(values: Iterable[Value]) -> str:
    return ", ".join(f"%{value.debug_name} : {value.type}" for value in values) or "nothing"


class _Hooks:
    """Fills ir.GraphHooks."""

    def print_node(self, node: Node) -> str:
        return print_node(node)

    def print_graph(self, graph: Graph) -> str:
        return print_graph(graph)

    def lint(self, graph: Graph) -> None:
        lint(graph)


set_graph_hooks(_Hooks())
