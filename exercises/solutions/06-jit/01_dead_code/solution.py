"""One walk from the back, with the set of the memory that is read later."""

from glasstorch.jit.alias_analysis import OUTSIDE, AliasAnalysis
from glasstorch.jit.ir import Graph
from glasstorch.jit.side_effects import has_side_effects


def eliminate_dead_code(graph: Graph) -> bool:
    """Remove the nodes that are not needed; returns whether there were any."""
    aliases = AliasAnalysis(graph)
    read = {OUTSIDE}.union(*map(aliases.places, graph.outputs))
    changed = False
    for node in reversed(graph.nodes):
        used = any(output.uses for output in node.outputs)
        seen = not aliases.writes(node).isdisjoint(read)
        if used or seen or has_side_effects(node):
            read.update(*map(aliases.places, node.inputs))
        else:
            node.destroy()
            changed = True
    return changed
