"""In which order do the passes run, and what did each of them change?

Mirrors: torch/csrc/jit/runtime/graph_executor.cpp (runOptimization), torch/csrc/jit/jit_log.h (GRAPH_DUMP)
Differs: no loops are unrolled and no lists are modelled. What a pass changed is shown as lines taken out and put in,
    to whoever asks; PyTorch writes whole graphs to a log that an environment variable switches on.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import ndiff
from typing import Final

from glasstorch.jit.ir import Graph
from glasstorch.jit.passes.common_subexpression import eliminate_common_subexpressions
from glasstorch.jit.passes.constant_propagation import propagate_constants
from glasstorch.jit.passes.dead_code import eliminate_dead_code
from glasstorch.jit.passes.erase_shapes import erase_shape_information
from glasstorch.jit.passes.peephole import peephole

# The types of a trace hold for its example only: they go first. What peephole and constant propagation leave unused is
# dead code, and constants that were folded may be common.
PASSES: Final[tuple[Callable[[Graph], bool], ...]] = (
    erase_shape_information,
    eliminate_dead_code,
    eliminate_common_subexpressions,
    peephole,
    propagate_constants,
    eliminate_common_subexpressions,
    eliminate_dead_code,
)


def run_optimization(graph: Graph, show: Callable[[str], None] | None = None) -> bool:
    """Run every pass of PASSES on the graph, in order. Returns whether any changed it.

    `show` gets a text for each pass that did: its name, how many nodes there were and are, and the lines of the graph,
    with `-` before those that went and `+` before those that came.
    """
    changed = False
    for run in PASSES:
        before, count = str(graph), _count(graph)
        if run(graph):
            changed = True
            if show is not None:
                show(f"{run.__name__}: {count} -> {_count(graph)} nodes\n{_difference(before, str(graph))}")
    return changed


def _count(graph: Graph) -> int:
    return sum(1 for _ in graph.all_nodes())


def _difference(before: str, after: str) -> str:
    lines = ndiff(before.splitlines(), after.splitlines())
    return "\n".join(line for line in lines if not line.startswith("?"))
