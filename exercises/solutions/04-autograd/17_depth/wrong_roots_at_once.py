"""Begins with all roots, though one of them may lie below another.

Refused by: check
"""

from collections.abc import Sequence

from glasstorch.autograd.node import Edge, Node


def sorted_below(roots: Sequence[Edge]) -> list[Node]:
    """The roots and all nodes that can be reached from them, each once."""
    counts: dict[Node, int] = {}
    down = list(dict.fromkeys(node for node, _ in roots))
    ready = list(down)
    seen = set(down)
    while down:
        for edge in down.pop().next_edges:
            if edge is not None:
                counts[edge[0]] = counts.get(edge[0], 0) + 1
                if edge[0] not in seen:
                    seen.add(edge[0])
                    down.append(edge[0])
    order: list[Node] = []
    while ready:
        node = ready.pop()
        order.append(node)
        for edge in node.next_edges:
            if edge is not None:
                counts[edge[0]] -= 1
                if not counts[edge[0]]:
                    ready.append(edge[0])
    return order
