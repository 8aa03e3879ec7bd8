"""A node comes off the list twice: first to put the nodes below it on the list, then when all of these are sorted."""

from collections.abc import Sequence

from glasstorch.autograd.node import Edge, Node


def sorted_below(roots: Sequence[Edge]) -> list[Node]:
    """The roots and all nodes that can be reached from them, each once."""
    met: set[Node] = set()
    order: list[Node] = []
    waiting = [(node, False) for node, _ in roots]
    while waiting:
        node, again = waiting.pop()
        if again:
            order.append(node)
        elif node not in met:
            met.add(node)
            waiting.append((node, True))
            waiting += [(edge[0], False) for edge in node.next_edges if edge is not None]
    order.reverse()
    return order
