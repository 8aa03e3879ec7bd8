"""Calls itself for each node: right, until the graph is deeper than the stack.

Refused by: check
"""

from collections.abc import Collection, Sequence

from glasstorch.autograd.node import Edge, Node


def nodes_leading_to(roots: Sequence[Edge], targets: Collection[Node]) -> set[Node]:
    """The nodes below the roots that must run for the targets."""
    leads: dict[Node, bool] = {}

    def visit(node: Node) -> bool:
        if node not in leads:
            below = [edge[0] for edge in node.next_edges if edge is not None]
            found = [visit(one) or one in targets for one in below]
            leads[node] = any(found)
        return leads[node]

    for root, _ in roots:
        visit(root)
    return {node for node, does in leads.items() if does}
