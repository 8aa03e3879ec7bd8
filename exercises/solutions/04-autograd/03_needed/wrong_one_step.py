"""Judges a node before those below it: only the last step before a target is found.

Refused by: check
"""

from collections.abc import Collection, Sequence

from glasstorch.autograd.node import Edge, Node


def nodes_leading_to(roots: Sequence[Edge], targets: Collection[Node]) -> set[Node]:
    """The nodes below the roots that must run for the targets."""
    needed: set[Node] = set()
    seen = {node for node, _ in roots}
    to_visit = list(seen)
    while to_visit:
        node = to_visit.pop()
        for edge in node.next_edges:
            if edge is None:
                continue
            if edge[0] in needed or edge[0] in targets:
                needed.add(node)
            if edge[0] not in seen:
                seen.add(edge[0])
                to_visit.append(edge[0])
    return needed
