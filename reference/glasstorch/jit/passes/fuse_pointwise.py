"""Which pointwise operators can run as one loop?

Mirrors: torch/csrc/jit/passes/graph_fuser.cpp (isFusable, tryFuse, mergeNodeIntoGroup), tensorexpr_fuser.cpp
Differs: legality is checked before a node is moved: `may_fuse` looks at the nodes in between. Sums, concatenations and
    chunks are not fused; whether a loop supports the sizes and dtypes is checked when the group runs.

A group is a `prim::FusionGroup` node with its operators in a subgraph. It grows from the last operator to the first: a
node that produces an input of the group is merged into it if that is legal; if other nodes use its result, that becomes
another output.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cmp_to_key
from typing import Final

from glasstorch._tensor import Tensor
from glasstorch.jit.alias_analysis import NOWHERE, AliasAnalysis, Places, written_arguments
from glasstorch.jit.codegen.formulas import FUSIBLE
from glasstorch.jit.ir import Block, Graph, Node, Value
from glasstorch.jit.log import log_unfused
from glasstorch.jit.printer import SUBGRAPH
from glasstorch.jit.side_effects import has_side_effects
from glasstorch.jit.types import TENSOR

GROUP: Final = "prim::FusionGroup"


def fuse_pointwise(graph: Graph) -> bool:
    """Merge pointwise producers and consumers into `prim::FusionGroup` nodes.

    A group has no gradient of its own: it is interpreted if one is recorded. Operators that cannot be in a loop are
    logged (log.py).
    """
    changed = _fuse_block(graph.block, AliasAnalysis(graph))
    _tell_what_has_no_loop(graph)
    graph.lint()
    return changed


def may_fuse(producer: Node, consumer: Node, aliases: AliasAnalysis) -> bool:
    """Whether two nodes of one block can be merged into one at the position of the consumer.

    Both must be pointwise, and the consumer must use a result of the producer. No node in between may have to run after
    the producer and before the consumer, because it uses a result of the producer, or writes to memory that one of the
    two accesses. A node that only has to run after the producer can be moved after both.
    """
    if not (is_fusible(producer) and is_fusible(consumer)):
        return False
    if producer.owning_block is not consumer.owning_block:
        return False
    if all(value.node is not producer for value in consumer.inputs):
        return False
    waiting = followers(producer, consumer, aliases)
    return not _Behind(waiting, aliases).holds(consumer)


def followers(producer: Node, consumer: Node, aliases: AliasAnalysis) -> list[Node]:
    """The nodes between two nodes of a block that must stay after the first of them, in order."""
    behind = _Behind([producer], aliases)
    node = producer.next
    while node is not None and node is not consumer:
        if behind.holds(node):
            behind.add(node)
        node = node.next
    return behind.nodes[1:]


class _Behind:
    """A set of nodes, and the test whether another must stay behind them."""

    def __init__(self, nodes: Iterable[Node], aliases: AliasAnalysis) -> None:
        self.nodes: list[Node] = []
        self._set: set[Node] = set()
        self._aliases = aliases
        self._touched = self._written = NOWHERE
        self._seen_from_outside = False
        for node in nodes:
            self.add(node)

    def add(self, node: Node) -> None:
        self.nodes.append(node)
        self._set.add(node)
        self._touched |= _touches(node, self._aliases)
        self._written |= _writes(node, self._aliases)
        self._seen_from_outside |= has_side_effects(node)

    def holds(self, node: Node) -> bool:
        """Whether a later node must stay behind one of these.

        It must if it uses a result of one, if one of the two writes to memory that the other accesses, or if both have
        side effects.
        """
        return (
            any(value.node in self._set for value in _read_by(node))
            or not self._written.isdisjoint(_touches(node, self._aliases))
            or not self._touched.isdisjoint(_writes(node, self._aliases))
            or (self._seen_from_outside and has_side_effects(node))
        )


def is_fusible(node: Node) -> bool:
    """Whether the node can be part of a loop: a pointwise operator whose numbers are constants, or a group."""
    if node.kind == GROUP:
        return True
    operator = node.maybe_operator()
    return (
        operator is not None
        and operator.name.removeprefix("aten::") in FUSIBLE
        and all(value.is_constant or value.type.is_subtype_of(TENSOR) for value in node.inputs)
    )


def _read_by(node: Node) -> list[Value]:
    """The inputs of a node and of those in its blocks."""
    read = list(node.inputs)
    for block in node.blocks:
        read += block.outputs
        for inner in block.nodes:
            read += _read_by(inner)
    return read


def _writes(node: Node, aliases: AliasAnalysis) -> Places:
    """The memory that a node, or one in its blocks, may write to."""
    return aliases.writes(node).union(*(_writes(inner, aliases) for block in node.blocks for inner in block.nodes))


def _touches(node: Node, aliases: AliasAnalysis) -> Places:
    """The memory that a node reads, returns or writes to."""
    values = [*_read_by(node), *node.outputs]
    return _writes(node, aliases).union(*map(aliases.places, values))


# Building groups ---------------------------------------------------------------------------------------------------


def _fuse_block(block: Block, aliases: AliasAnalysis) -> bool:
    changed = merged = False
    node = block.return_node.previous
    while node is not None and node is not block.return_node:
        for inner in node.blocks:
            changed |= _fuse_block(inner, aliases)
        while (producer := _find_producer(node, aliases)) is not None:
            if not merged:
                _put_constants_first(block)
            node = _merge(producer, node, aliases)
            merged = True
        node = node.previous
    return changed or merged


def _put_constants_first(block: Block) -> None:
    """Move the constants of a block to its beginning, so that the walks between nodes are short."""
    first = next(node for node in block.nodes if node.kind != "prim::Constant")
    for node in block.nodes:
        if node.kind == "prim::Constant" and node.is_after(first):
            node.move_before(first)


def _find_producer(consumer: Node, aliases: AliasAnalysis) -> Node | None:
    """The last of the nodes that produce an input of this one and can be merged with it, which keeps their order.

    A node without used results is left to dead code elimination.
    """
    if not is_fusible(consumer) or not any(output.uses for output in consumer.outputs):
        return None
    makers = sorted({value.node for value in consumer.inputs}, key=cmp_to_key(_last_first))
    return next((maker for maker in makers if may_fuse(maker, consumer, aliases)), None)


def _last_first(a: Node, b: Node) -> int:
    return -1 if a.is_after(b) else 1


def _merge(producer: Node, consumer: Node, aliases: AliasAnalysis) -> Node:
    """Merge the producer into the consumer's group; `may_fuse` must hold. Returns the group."""
    waiting = followers(producer, consumer, aliases)
    group = consumer if consumer.kind == GROUP else _take_in(consumer, _empty_group(consumer))
    last = group
    for node in waiting:
        last = node.move_after(last)
    return _take_in(producer, group)


def _empty_group(node: Node) -> Node:
    """A new empty group, placed after the node that will be merged into it."""
    group = node.graph.create(GROUP, (), 0, {SUBGRAPH: Graph()})
    group.source, group.scope = node.source, node.scope
    return group.insert_after(node)


def _take_in(node: Node, group: Node) -> Node:
    """Move a node, or the nodes of a group, to the start of another group. Returns the latter."""
    inner = _subgraph(group)
    with inner.inserting_before(inner.nodes[0] if inner.nodes else inner.block):
        if node.kind == GROUP:
            made = _copy_group(node, group)
        else:
            made = inner.insert_node(inner.create_clone(node, lambda value: _inside(group, value))).outputs
    for value, copy in zip(node.outputs, made, strict=True):
        if value in group.inputs:
            i = group.inputs.index(value)
            inner.inputs[i].replace_all_uses_with(copy)
            inner.erase_input(i)
            group.remove_input(i)
        if value.uses:
            inner.register_output(copy)
            output = group.add_output(value.type)
            value.replace_all_uses_with(output)
            name = value.debug_name if value.has_debug_name else ""
            value.set_debug_name("")
            output.set_debug_name(name)
    node.destroy()
    return group


def _copy_group(node: Node, group: Node) -> tuple[Value, ...]:
    """Insert copies of a group's nodes into another group; returns the copies of its outputs."""
    source, inner = _subgraph(node), _subgraph(group)
    copies = {value: _inside(group, outside) for value, outside in zip(source.inputs, node.inputs, strict=True)}
    for each in source.nodes:
        clone = inner.insert_node(inner.create_clone(each, copies.__getitem__))
        copies.update(zip(each.outputs, clone.outputs, strict=True))
    return tuple(copies[value] for value in source.outputs)


def _inside(group: Node, value: Value) -> Value:
    """The value in a group's subgraph for one outside of it: an input, or a copy of a constant number."""
    inner = _subgraph(group)
    if value in group.inputs:
        return inner.inputs[group.inputs.index(value)]
    if _is_number(value):
        return inner.insert_node(inner.create_clone(value.node, lambda _: value)).output
    group.add_input(value)
    return inner.add_input(type=value.type).copy_metadata(value)


def _subgraph(group: Node) -> Graph:
    found = group.attributes[SUBGRAPH]
    assert isinstance(found, Graph), f"{group.kind} has no subgraph"
    return found


def _is_number(value: Value) -> bool:
    """Whether a value is an immutable constant: for tensors a wrapped Python number that is not written to."""
    if not value.is_constant:
        return False
    held = value.constant()
    return not isinstance(held, Tensor) or (held._number is not None and not _is_written_to(value))


def _is_written_to(value: Value) -> bool:
    return any(offset in written_arguments(user) for user, offset in value.uses)


def _tell_what_has_no_loop(graph: Graph) -> None:
    for node in graph.all_nodes():
        if node.maybe_operator() is not None and not is_fusible(node):
            log_unfused(node, "no loop is known for it")
