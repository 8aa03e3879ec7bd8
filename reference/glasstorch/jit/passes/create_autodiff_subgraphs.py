"""Which nodes are differentiated together, as one graph?

Mirrors: torch/csrc/jit/passes/create_autodiff_subgraphs.cpp (CreateAutodiffSubgraphs)
Differs: whatever gives new tensors without side effects may be in a group, as gradients come from the library's own
    formulas; PyTorch has a list of the operators that autodiff.cpp knows. Nodes are grouped by level, all at once,
    where PyTorch merges one producer into one consumer until nothing changes.

# Note [Levels]
Between two nodes that write, draw random numbers or have blocks, nodes may change places as long as values are made
before they are used. Such a run of nodes is cut by its levels. A node that can be in a group has the highest level of
those groups whose values it uses; one more if it uses them by way of a node that cannot. Nodes of one level that use
each other's values are a group: no path leads out of it and back, as on the way the level would rise.

# Note [Views stay inside]
A group's results are new tensors, which nobody can tell from those of an operator. So a view is in a group only if all
that use it are. A list of tensors is in one only with the node that unpacks it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.dispatch.tags import Tag
from glasstorch.jit.alias_analysis import memory_facts, written_arguments
from glasstorch.jit.ir import Block, Graph, Node, Value
from glasstorch.jit.printer import SUBGRAPH
from glasstorch.jit.side_effects import has_side_effects, is_uninitialised
from glasstorch.jit.types import DEVICE, ListType, TensorType

GROUP: Final = "prim::DifferentiableGraph"


def create_autodiff_subgraphs(graph: Graph, threshold: int = 2) -> bool:
    """Put pure nodes that use each other's values into nodes prim::DifferentiableGraph. Returns whether any were.

    A group has at least `threshold` nodes, constants and lists not counted. See Note [Levels].
    """
    changed = False
    for block in _blocks(graph.block):
        for run in _runs(block):
            changed |= _Run(run).group(threshold)
    graph.lint()
    return changed


def may_be_differentiated(node: Node) -> bool:
    """Whether a node can be in a group: it computes new tensors, or views, of tensors and of what is constant."""
    operator = node.maybe_operator()
    if operator is None or Tag.eager_gradient in operator.tags or _is_barrier(node) or is_uninitialised(node):
        return False
    takes_tensors = any(isinstance(value.type, TensorType) or _is_tensor_list(value) for value in node.inputs)
    gives_tensors = all(isinstance(value.type, TensorType) or _is_unpacked(value) for value in node.outputs)
    return takes_tensors and gives_tensors and all(map(_is_known, node.inputs))


def _is_barrier(node: Node) -> bool:
    """Whether nodes must keep their place before or after this one."""
    return bool(node.blocks) or has_side_effects(node) or bool(written_arguments(node))


def _is_known(value: Value) -> bool:
    """Whether a group can take or hold what a value is: a tensor, a constant but a device, or a list of these."""
    if isinstance(value.type, TensorType) or (value.is_constant and value.type != DEVICE):
        return True
    return _is_list(value.node) and all(map(_is_known, value.node.inputs))


def _is_list(node: Node) -> bool:
    return node.kind == "prim::ListConstruct"


def _is_tensor_list(value: Value) -> bool:
    return _is_list(value.node) and any(isinstance(element.type, TensorType) for element in value.node.inputs)


def _is_unpacked(value: Value) -> bool:
    return isinstance(value.type, ListType) and all(use.user.kind == "prim::ListUnpack" for use in value.uses)


def _is_view(node: Node) -> bool:
    return any(memory_facts(node.schema()).sources)


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for node in block.nodes:
        for inner in node.blocks:
            yield from _blocks(inner)


def _runs(block: Block) -> list[list[Node]]:
    """The nodes of a block between those that must keep their place."""
    runs: list[list[Node]] = [[]]
    for node in block.nodes:
        if _is_barrier(node):
            runs.append([])
        else:
            runs[-1].append(node)
    return [run for run in runs if run]


class _Run:
    """Nodes that stand in a row, and which of them go into groups."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = nodes
        self.inside = set(nodes)
        self.members: set[Node] = set()  # those that can be in a group
        for node in nodes:
            unpacks = node.kind == "prim::ListUnpack" and node.inputs[0].node in self.members
            if unpacks or may_be_differentiated(node):
                self.members.add(node)

    def group(self, threshold: int) -> bool:
        """Make the groups; whether there are any."""
        while True:
            levels = self._levels()
            groups = self._groups(levels)
            group_of = {node: i for i, group in enumerate(groups) for node in group}
            leaving = [node for node in group_of if self._must_stay(node) and not self._stays(node, group_of)]
            if not leaving:
                break
            self.members.difference_update(leaving)
            self.members.difference_update(
                [n for n in self.members if n.kind == "prim::ListUnpack" and n.inputs[0].node not in self.members]
            )
        chosen = [group for group in groups if self._is_worth_it(group, threshold, group_of)]
        if not chosen:
            return False
        self._reorder(levels, groups)
        for group in chosen:
            _make_node(group)
        for node in self.nodes:
            if node.kind == "prim::Constant" and not node.output.uses:
                node.destroy()
        return True

    def _levels(self) -> dict[Node, int]:
        """See Note [Levels]; constants and lists are on the level of what they are made of."""
        levels: dict[Node, int] = {}
        asked: dict[Node, int] = {}  # the level that a member has at least which uses the node's values
        for node in self.nodes:
            made = [value.node for value in node.inputs if value.node in self.inside]
            if node in self.members or _is_list(node):
                levels[node] = asked[node] = max((asked[source] for source in made), default=0)
            else:
                levels[node] = max((levels[source] for source in made), default=0)
                asked[node] = 0 if node.kind == "prim::Constant" else levels[node] + 1
        return levels

    def _groups(self, levels: dict[Node, int]) -> list[list[Node]]:
        """The members that are connected on one level, in the order of their first nodes."""
        leader: dict[Node, Node] = {}

        def find(node: Node) -> Node:
            while leader[node] is not node:
                leader[node] = node = leader[leader[node]]
            return node

        for node in self.nodes:
            if node in self.members:
                leader[node] = node
                for source in _sources(node):
                    if source in leader and levels[source] == levels[node]:
                        leader[find(node)] = find(source)
        groups: dict[Node, list[Node]] = {}
        for node in self.nodes:
            if node in leader:
                groups.setdefault(find(node), []).append(node)
        return list(groups.values())

    def _must_stay(self, node: Node) -> bool:
        """Whether what the node makes may not leave its group: Note [Views stay inside]."""
        return _is_view(node.inputs[0].node if node.kind == "prim::ListUnpack" else node)

    def _stays(self, node: Node, group_of: dict[Node, int]) -> bool:
        return all(group_of.get(user) == group_of[node] for value in node.outputs for user in _users(value))

    def _is_worth_it(self, group: Sequence[Node], threshold: int, group_of: dict[Node, int]) -> bool:
        """Whether it has so many nodes, and somebody uses what it computes."""
        number = group_of[group[0]]
        count = sum(1 for node in group if node.kind != "prim::ListUnpack")
        return count >= threshold and any(
            group_of.get(user) != number for node in group for value in node.outputs for user in _users(value)
        )

    def _reorder(self, levels: dict[Node, int], groups: Sequence[Sequence[Node]]) -> None:
        """Put the nodes of each group in a row, with the lists they use: level after level, groups before the rest."""
        after = self.nodes[-1].next
        assert after is not None
        place = {node: i for i, group in enumerate(groups) for node in group}
        for node in self.nodes:
            if _is_list(node):
                users = [user for user in _users(node.output) if levels.get(user) == levels[node]]
                place[node] = min((place[user] for user in users if user in place), default=len(groups))
        constants = [node for node in self.nodes if node.kind == "prim::Constant"]
        rest = sorted(
            (node for node in self.nodes if node.kind != "prim::Constant"),
            key=lambda node: (levels[node], place.get(node, len(groups))),
        )
        for node in (*constants, *rest):
            node.move_before(after)


def _sources(node: Node) -> Iterator[Node]:
    """The nodes that make what a node uses, through lists."""
    for value in node.inputs:
        if _is_list(value.node):
            yield from _sources(value.node)
        else:
            yield value.node


def _users(value: Value) -> Iterator[Node]:
    """The nodes that use a value, through lists."""
    for use in value.uses:
        if _is_list(use.user):
            yield from _users(use.user.output)
        else:
            yield use.user


def _make_node(group: Sequence[Node]) -> Node:
    """Replace nodes that stand in a row by one that has a graph of them."""
    graph = group[0].graph
    members = set(group)
    inner = Graph()
    copies: dict[Value, Value] = {}
    taken: list[Value] = []

    def copied(value: Value) -> Value:
        if value in copies:
            return copies[value]
        if _is_held(value) or _is_list(value.node):
            copies[value] = inner.append_node(inner.create_clone(value.node, copied)).output
        else:
            taken.append(value)
            name = value.debug_name if value.has_debug_name else ""
            copies[value] = inner.add_input(name, value.type.unshaped())
        return copies[value]

    for node in group:
        clone = inner.append_node(inner.create_clone(node, copied))
        copies.update(zip(node.outputs, clone.outputs, strict=True))
    given = [value for node in group for value in node.outputs if any(user not in members for user in _users(value))]
    for value in given:
        inner.register_output(copies[value])
    made = graph.create(GROUP, taken, [value.type for value in given], {SUBGRAPH: inner})
    made.source, made.scope = group[0].source, group[0].scope
    made.insert_after(group[-1])
    lists = [node for node in _lists(group) if node.owning_block is made.owning_block]
    own = [node for node in lists if all(user in members for user in _users(node.output))]
    names = [value.debug_name if value.has_debug_name else "" for value in given]
    for old, new in zip(given, made.outputs, strict=True):
        old.replace_all_uses_with(new)
    for node in lists:
        if node not in own and _is_made_of(node, made):
            node.move_after(made)  # others use it too; a list of other things stays, for those before the group
    for node in _last_first([*group, *own]):
        node.destroy()
    for name, value in zip(names, made.outputs, strict=True):
        value.set_debug_name(name)
    return made


def _lists(group: Sequence[Node]) -> list[Node]:
    """The lists that nodes of a group use, each after those that use it."""
    found: dict[Node, None] = {}
    stack = [value.node for node in group for value in node.inputs]
    while stack:
        node = stack.pop()
        if _is_list(node):
            found.pop(node, None)
            found[node] = None
            stack += [value.node for value in node.inputs]
    return list(found)


def _is_made_of(list_node: Node, made: Node) -> bool:
    """Whether a list has a value that this node makes."""
    makers = [value.node for value in list_node.inputs]
    return any(maker is made or (_is_list(maker) and _is_made_of(maker, made)) for maker in makers)


def _is_held(value: Value) -> bool:
    """Whether a group has a copy of a constant; tensors with dimensions are among its inputs."""
    held: Any = value.constant() if value.is_constant else None
    return value.is_constant and not (isinstance(held, Tensor) and held._shape)


def _last_first(nodes: Sequence[Node]) -> list[Node]:
    """Nodes of one block, each after those that use what it makes."""
    chosen = set(nodes)
    return [node for node in reversed(nodes[0].owning_block.nodes) if node in chosen] if nodes[0].owning_block else []
