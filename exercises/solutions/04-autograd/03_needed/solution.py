"""Walk down once, to note which nodes lead to each node; then walk up from the targets, along these notes."""

from collections.abc import Collection, Sequence

from glasstorch.autograd.node import Edge, Node


def nodes_leading_to(roots: Sequence[Edge], targets: Collection[Node]) -> set[Node]:
    """The nodes below the roots that must run for the targets."""
    leads_to: dict[Node, list[Node]] = {node: [] for node, _ in roots}
    down = list(leads_to)
    while down:
        node = down.pop()
        for edge in node.next_edges:
            if edge is None:
                continue
            if edge[0] not in leads_to:
                leads_to[edge[0]] = []
                down.append(edge[0])
            leads_to[edge[0]].append(node)
    needed: set[Node] = set()
    up = [target for target in targets if target in leads_to]
    while up:
        for node in leads_to[up.pop()]:
            if node not in needed:
                needed.add(node)
                up.append(node)
    return needed
