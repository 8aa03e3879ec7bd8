"""Calls itself for each node: right, until the graph is deeper than the stack.

Refused by: check
"""

from collections.abc import Sequence

from glasstorch.autograd.node import Edge, Node


def compute_dependencies(roots: Sequence[Edge]) -> dict[Node, int]:
    """For every node below the roots, how many edges lead to it."""
    counts: dict[Node, int] = {}
    seen: set[Node] = set()

    def visit(node: Node) -> None:
        if node in seen:
            return
        seen.add(node)
        for edge in node.next_edges:
            if edge is not None:
                counts[edge[0]] = counts.get(edge[0], 0) + 1
                visit(edge[0])

    for root, _ in roots:
        visit(root)
    return counts
