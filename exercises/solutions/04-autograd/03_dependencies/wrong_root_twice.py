"""Visits a root twice that is given twice."""

from collections.abc import Sequence

from glasstorch.autograd.node import Edge, Node

REFUSED_BY = "check"


def compute_dependencies(roots: Sequence[Edge]) -> dict[Node, int]:
    """For every node below the roots, how many edges lead to it."""
    counts: dict[Node, int] = {}
    seen = {node for node, _ in roots}
    to_visit = [node for node, _ in roots]
    while to_visit:
        for edge in to_visit.pop().next_edges:
            if edge is None:
                continue
            node = edge[0]
            counts[node] = counts.get(node, 0) + 1
            if node not in seen:
                seen.add(node)
                to_visit.append(node)
    return counts
