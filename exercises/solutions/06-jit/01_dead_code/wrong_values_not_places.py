"""Remembers which values are read, and not their memory: a view hides a write."""

from glasstorch.jit.alias_analysis import OUTSIDE, AliasAnalysis
from glasstorch.jit.ir import Graph
from glasstorch.jit.side_effects import has_side_effects

REFUSED_BY = "check"


def eliminate_dead_code(graph: Graph) -> bool:
    """Remove the nodes that nobody needs; returns whether there were any."""
    aliases = AliasAnalysis(graph)
    read = set(graph.outputs)
    changed = False
    for node in reversed(graph.nodes):
        used = any(output.uses for output in node.outputs)
        places = aliases.writes(node)
        seen = OUTSIDE in places or (bool(places) and node.inputs[0] in read)
        if used or seen or has_side_effects(node):
            read.update(node.inputs)
        else:
            node.destroy()
            changed = True
    return changed
