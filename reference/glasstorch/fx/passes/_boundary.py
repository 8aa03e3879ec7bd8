"""Which nodes should a neighbouring part compute, so that only tensors pass between parts?

Mirrors: torch/fx/passes/split_utils.py (move_non_tensor_nodes_on_boundary)
Differs: nothing is printed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Protocol

from glasstorch.fx.node import Node
from glasstorch.fx.passes.tools_common import CALLABLE_NODE_OPS, NodeList, is_node_output_tensor


class Subgraph(Protocol):
    """A part: its nodes, and whether an accelerator computes it."""

    is_acc: bool
    nodes: NodeList


def move_non_tensor_nodes_on_boundary(subgraphs: Sequence[Subgraph]) -> None:
    """Move nodes whose results are no tensors out of accelerators' parts, if one other part uses them.

    What depends on such a node in its own part moves along; if that would reach a third part, the node stays.
    `ShapeProp` must have been run.
    """
    part_of = {node: number for number, part in enumerate(subgraphs) for node in part.nodes}

    def users(node: Node) -> NodeList:
        return [user for user in node.users if user.op in CALLABLE_NODE_OPS and user in part_of]

    def others(node: Node) -> set[int]:
        return {part_of[user] for user in users(node)} - {part_of[node]}

    def moved_along(node: Node, target: int) -> NodeList | None:
        """The node and what depends on it in its part; None if a third part does."""
        start = part_of[node]
        found: dict[Node, None] = {}
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if part_of[one] == start and one not in found:
                found[one] = None
                waiting += users(one)
            elif part_of[one] not in (start, target):
                return None
        return list(found)

    for number, part in enumerate(subgraphs):
        waiting = deque(node for node in part.nodes if part.is_acc and not is_node_output_tensor(node) and others(node))
        seen: set[Node] = set()
        while waiting:
            node = waiting.popleft()
            if node in seen or part_of[node] != number:
                continue
            seen.add(node)
            targets = others(node)
            target = targets.pop()
            if targets or (along := moved_along(node, target)) is None:
                continue
            for one in along:
                part.nodes.remove(one)
                subgraphs[target].nodes.append(one)
                part_of[one] = target
            waiting += [
                source for source in node.all_input_nodes if part_of.get(source) == number
                and source.op in CALLABLE_NODE_OPS and not is_node_output_tensor(source)
            ]  # fmt: skip
