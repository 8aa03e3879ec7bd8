"""Keeps what it has seen in a default argument, which is made once and for all passes."""

from collections.abc import Sequence

from glasstorch.autograd.node import Edge, Node

REFUSED_BY = "graft"


def compute_dependencies(roots: Sequence[Edge], seen: set[Node] = set()) -> dict[Node, int]:  # noqa: B006
    counts: dict[Node, int] = {}
    to_visit = [node for node, _ in dict.fromkeys(roots) if node not in seen]
    seen.update(to_visit)
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
