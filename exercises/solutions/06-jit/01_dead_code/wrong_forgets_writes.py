"""Looks at uses only: a write whose result is not used is removed.

Refused by: check
"""

from glasstorch.jit.ir import Graph
from glasstorch.jit.side_effects import has_side_effects


def eliminate_dead_code(graph: Graph) -> bool:
    """Remove the nodes that are not needed; returns whether there were any."""
    changed = False
    for node in reversed(graph.nodes):
        used = any(output.uses for output in node.outputs)
        if used or has_side_effects(node):
            continue
        node.destroy()
        changed = True
    return changed
