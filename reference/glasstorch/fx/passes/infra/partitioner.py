"""Which nodes can a backend compute together?

Mirrors: torch/fx/passes/infra/partitioner.py

The nodes are visited from the last to the first. Each one that the backend supports starts a part of its own, and then
parts are merged as long as no path leaves the merged part and comes back to it.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import getitem, itemgetter
from typing import Final

from glasstorch.fx._names import qualified_name
from glasstorch.fx.graph import Graph
from glasstorch.fx.graph_module import GraphModule
from glasstorch.fx.node import Node
from glasstorch.fx.passes.operator_support import OperatorSupportBase
from glasstorch.fx.passes.utils.fuser_utils import fuse_by_partitions

NON_COMPUTE: Final = ("torch.ops.aten.view", "_operator.getitem")  # a part of nothing else is not worth a call


class Partition:
    """Nodes that a backend computes together, with their places counted from the end of the graph."""

    def __init__(
        self, id: int | None = None, nodes: Iterable[Node] | None = None, node_orders: Iterable[int] | None = None
    ) -> None:
        self.id = id
        listed = list(nodes or ())
        places: list[int | None] = [None] * len(listed) if node_orders is None else list(node_orders)
        if len(places) != len(listed):
            raise AssertionError("nodes and node_orders must have the same length")
        self.nodes: dict[Node, int | None] = dict(zip(listed, places, strict=True))

    def __repr__(self) -> str:
        return str(self.nodes)

    def add_node(self, node: Node, node_order: int | None = None) -> None:
        """Add a node."""
        self.nodes[node] = node_order

    def remove_node(self, node: Node) -> None:
        """Remove a node."""
        del self.nodes[node]

    def size(self) -> int:
        """How many nodes there are."""
        return len(self.nodes)


class _Proposal:
    """The parts that have been found so far, and what depends on what."""

    def __init__(self, graph: Graph) -> None:
        self.parts: dict[int, Partition] = {}
        self.owner: dict[Node, int] = {}  # the part of a node
        self.first: dict[int, int] = {}  # a number for each part, by which they are tried in turn
        self.users: dict[int, set[Node]] = {}  # nodes outside a part that use its results
        self.reached: dict[int, set[int]] = defaultdict(set)  # parts that depend on a part
        self.downstream: dict[Node, set[Node]] = defaultdict(set)
        for node in reversed(graph.nodes):
            for user in node.users:
                self.downstream[node] |= {user} | self.downstream[user]

    def start(self, number: int, node: Node, place: int) -> None:
        """Make a part of one node."""
        self.owner[node] = number
        self.parts[number] = Partition(number, [node], [place])
        self.first[number] = number
        self.users[number] = set(node.users)
        self.reached[number] |= self._parts_after(node.users, {number})

    def _parts_after(self, users: Iterable[Node], without: set[int]) -> set[int]:
        found: set[int] = set()
        for user in users:
            for node in (user, *self.downstream[user]):
                if (number := self.owner.get(node)) is not None:
                    found |= {number} | self.reached[number]
        return found - without

    def merge(self, one: int, other: int) -> int:
        """Make one part of two and return its number; the first one's if they cannot be merged."""
        nodes = self.parts[one].nodes.keys() | self.parts[other].nodes.keys()
        users = (self.users[one] | self.users[other]) - nodes
        if self._come_back(users, nodes, {one, other}):
            return one
        kept, gone = (one, other) if self.parts[one].size() >= self.parts[other].size() else (other, one)
        moved = self.parts.pop(gone)
        self.parts[kept].nodes.update(moved.nodes)
        self.owner.update(dict.fromkeys(moved.nodes, kept))
        self.first[kept] = min(self.first[kept], self.first.pop(gone))
        del self.users[gone]
        self.users[kept] = users
        self.reached[kept] |= self.reached.pop(gone) | self._parts_after(users, {kept, gone})
        self.reached[kept] -= {kept, gone}
        return kept

    def _come_back(self, users: set[Node], nodes: set[Node], numbers: set[int]) -> bool:
        """Whether a path from the users leads to one of the nodes, perhaps through another part."""
        for user in users:
            for node in (user, *self.downstream[user]):
                if node in nodes:
                    return True
                if (number := self.owner.get(node)) is not None and not numbers.isdisjoint(self.reached[number]):
                    return True
        return False

    def move(self, node: Node, number: int | None) -> None:
        """Put a node into another part, or into none."""
        if node in self.owner:
            self.parts[self.owner.pop(node)].remove_node(node)
        if number is not None:
            self.owner[node] = number
            self.parts[number].add_node(node)


class CapabilityBasedPartitioner:
    """Groups the nodes of a module that `operator_support` supports, in as few parts as there can be.

    A part with a single node that computes something is dropped, unless `allows_single_node_partition`, or unless the
    node's target is among `allowed_single_node_partition_ops`; `non_compute_ops` are targets that compute nothing.
    With `skip_horizontal_fusion`, only nodes that use each other's results are put together.
    """

    def __init__(
        self,
        graph_module: GraphModule,
        operator_support: OperatorSupportBase,
        allows_single_node_partition: bool = False,
        non_compute_ops: Sequence[str] | None = None,
        allowed_single_node_partition_ops: Sequence[str] | None = None,
        skip_horizontal_fusion: bool = False,
    ) -> None:
        self.graph_module = graph_module
        self.operator_support = operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = non_compute_ops or []
        self.allowed_single_node_partition_ops = allowed_single_node_partition_ops or []
        self.skip_horizontal_fusion = skip_horizontal_fusion

    def _is_node_supported(self, node: Node) -> bool:
        return self.operator_support.is_node_supported(dict(self.graph_module.named_modules()), node)

    def propose_partitions(self) -> list[Partition]:
        """The parts, each with its nodes in the order of the graph."""
        graph = self.graph_module.graph
        found = _Proposal(graph)
        numbers = itertools.count()
        for place, node in enumerate(reversed(graph.nodes)):
            started = None
            if self._is_node_supported(node):
                started = next(numbers)
                found.start(started, node, place)
            candidates = self._candidates(found, node, started)
            if candidates:
                merged, *others = candidates
                for other in others:
                    merged = found.merge(merged, other)
        for part in found.parts.values():
            part.nodes = dict(sorted(part.nodes.items(), key=itemgetter(1), reverse=True))
        self._move_items(found)
        return [part for part in found.parts.values() if part.size() and self._is_worth_a_call(part)]

    def _candidates(self, found: _Proposal, node: Node, started: int | None) -> list[int]:
        """The parts that are tried to be merged after a node has been visited."""
        near = [] if started is None else [started]
        if not self.skip_horizontal_fusion:
            near += sorted(found.first, key=found.first.__getitem__)
        elif started is not None:
            near += [found.owner[user] for user in node.users if user in found.owner]
        return list(dict.fromkeys(near))

    def _move_items(self, found: _Proposal) -> None:
        """Put the nodes that take a tuple apart into the part that makes the tuple, wherever they were."""
        while True:
            moves = {
                user: found.owner.get(node)
                for node in self.graph_module.graph.nodes
                if all(user.op == "call_function" and user.target is getitem for user in node.users)
                for user in node.users
                if found.owner.get(user) != found.owner.get(node)
            }
            if not moves:
                return
            for node, number in moves.items():
                found.move(node, number)

    def _is_worth_a_call(self, part: Partition) -> bool:
        if self.allows_single_node_partition:
            return True
        names = [qualified_name(node.target) for node in part.nodes if node.op == "call_function"]
        computing = [name for name in names if name not in (*NON_COMPUTE, *self.non_compute_ops)]
        return len(computing) + sum(name in self.allowed_single_node_partition_ops for name in names) > 1

    def fuse_partitions(self, partitions: list[Partition], prefix: str = "fused_") -> GraphModule:
        """The module, changed: each part is the call of a submodule with this prefix and a number as its name."""
        return fuse_by_partitions(self.graph_module, [part.nodes for part in partitions], prefix=prefix)

    def remove_bookend_non_compute_ops(self, partitions: list[Partition]) -> None:
        """Remove from each part the nodes at its beginning and end that compute nothing."""
        for part in partitions:
            idle = {
                node
                for node in part.nodes
                if node.op == "call_function" and qualified_name(node.target) in self.non_compute_ops
            }
            at_start: set[Node] = set()
            for node in sorted(idle):
                if all(source not in part.nodes or source in at_start for source in node.all_input_nodes):
                    at_start.add(node)
            at_end: set[Node] = set()
            for node in sorted(idle, reverse=True):
                if all(user not in part.nodes or user in at_end for user in node.users):
                    at_end.add(node)
            for node in at_start | at_end:
                part.remove_node(node)

    def partition_and_fuse(self, prefix: str = "fused_") -> GraphModule:
        """The module, changed: each part that is found is the call of a submodule."""
        return self.fuse_partitions(self.propose_partitions(), prefix=prefix)
