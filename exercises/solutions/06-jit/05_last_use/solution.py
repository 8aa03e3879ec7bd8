"""Walks from the last node to the first: the first use of a value that is met is its last one."""

from collections.abc import Reversible

from glasstorch.fx import Node


def last_uses(nodes: Reversible[Node]) -> dict[Node, list[Node]]:
    """For each node, the nodes whose results it is the last to use."""
    met: set[Node] = set()
    found: dict[Node, list[Node]] = {}
    for user in reversed(nodes):
        for node in user.all_input_nodes:
            if node not in met:
                met.add(node)
                found.setdefault(user, []).append(node)
    return found
