"""Judges a node after those below it, but counts one as judged that is only on the list.

Refused by: check
"""

from collections.abc import Collection, Sequence

from glasstorch.autograd.node import Edge, Node


def nodes_leading_to(roots: Sequence[Edge], targets: Collection[Node]) -> set[Node]:
    """The nodes below the roots that must run for the targets."""
    needed: set[Node] = set()
    seen = {node for node, _ in roots}
    to_visit = [(node, False) for node in seen]
    while to_visit:
        node, below_judged = to_visit.pop()
        below = [edge[0] for edge in node.next_edges if edge is not None]
        if below_judged:
            if any(one in needed or one in targets for one in below):
                needed.add(node)
            continue
        to_visit.append((node, True))
        for one in below:
            if one not in seen:
                seen.add(one)
                to_visit.append((one, False))
    return needed
