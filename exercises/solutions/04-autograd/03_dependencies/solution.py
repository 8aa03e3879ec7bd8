"""A list of nodes to visit, a set of nodes seen, a stroke for each edge."""

from collections.abc import Sequence

from glasstorch.autograd.node import Edge, Node


def compute_dependencies(roots: Sequence[Edge]) -> dict[Node, int]:
    """For every node below the roots, how many edges lead to it."""
    counts: dict[Node, int] = {}
    seen = {node for node, _ in roots}
    to_visit = list(seen)
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
