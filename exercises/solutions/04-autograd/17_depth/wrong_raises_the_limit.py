"""Calls itself, with a limit that no graph will reach: in C++ there is no such limit to raise.

Refused by: check
"""

import sys
from collections.abc import Sequence

from glasstorch.autograd.node import Edge, Node


def sorted_below(roots: Sequence[Edge]) -> list[Node]:
    """The roots and all nodes that can be reached from them, each once."""
    sys.setrecursionlimit(10**9)
    done: set[Node] = set()
    order: list[Node] = []

    def visit(node: Node) -> None:
        if node not in done:
            done.add(node)
            for edge in node.next_edges:
                if edge is not None:
                    visit(edge[0])
            order.append(node)

    for root, _ in roots:
        visit(root)
    return order[::-1]
