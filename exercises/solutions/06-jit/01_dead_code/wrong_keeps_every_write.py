"""Keeps every node that writes, even if nothing reads what it writes.

Refused by: check
"""

from glasstorch.jit.alias_analysis import AliasAnalysis
from glasstorch.jit.ir import Graph
from glasstorch.jit.side_effects import has_side_effects


def eliminate_dead_code(graph: Graph) -> bool:
    """Remove the nodes that are not needed; returns whether there were any."""
    aliases = AliasAnalysis(graph)
    changed = False
    for node in reversed(graph.nodes):
        used = any(output.uses for output in node.outputs)
        seen = bool(aliases.writes(node))
        if used or seen or has_side_effects(node):
            continue
        node.destroy()
        changed = True
    return changed
