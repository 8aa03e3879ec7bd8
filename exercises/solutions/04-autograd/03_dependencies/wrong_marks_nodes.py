"""Marks the nodes that it has seen on the nodes themselves: the second pass over a graph finds nothing to count."""

from collections.abc import Sequence

from glasstorch.autograd.node import Edge, Node

REFUSED_BY = "graft"


def compute_dependencies(roots: Sequence[Edge]) -> dict[Node, int]:
    """For every node below the roots, how many edges lead to it."""
    counts: dict[Node, int] = {}
    to_visit = []
    for node, _ in roots:
        if not hasattr(node, "seen"):
            node.seen = True
            to_visit.append(node)
    while to_visit:
        for edge in to_visit.pop().next_edges:
            if edge is None:
                continue
            node = edge[0]
            counts[node] = counts.get(node, 0) + 1
            if not hasattr(node, "seen"):
                node.seen = True
                to_visit.append(node)
    return counts
