"""In which order do the passes run?

Mirrors: torch/csrc/jit/runtime/graph_executor.cpp (runOptimization, runNondiffOptimization)
Differs: no loops are unrolled and no lists are modelled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from glasstorch.jit.ir import Graph
from glasstorch.jit.log import run_pass
from glasstorch.jit.passes.common_subexpression import eliminate_common_subexpressions
from glasstorch.jit.passes.constant_propagation import propagate_constants
from glasstorch.jit.passes.dead_code import eliminate_dead_code
from glasstorch.jit.passes.decompose_ops import decompose_ops
from glasstorch.jit.passes.erase_shapes import erase_shape_information
from glasstorch.jit.passes.fuse_pointwise import fuse_pointwise
from glasstorch.jit.passes.peephole import peephole
from glasstorch.jit.settings import fuser_name

Pass = Callable[[Graph], bool]

# The types of a trace hold for its example only: they go first. What peephole and constant propagation leave unused is
# dead code, and constants that were folded may be common.
PASSES: Final[tuple[Pass, ...]] = (
    erase_shape_information,
    eliminate_dead_code,
    eliminate_common_subexpressions,
    peephole,
    propagate_constants,
    eliminate_common_subexpressions,
    eliminate_dead_code,
)
# Where nobody will ask for gradients, so that nodes may be fused.
FUSION_PASSES: Final[tuple[Pass, ...]] = (decompose_ops, fuse_pointwise, eliminate_dead_code)


def run_optimization(graph: Graph, show: Callable[[str], None] | None = None) -> bool:
    """Run every pass of PASSES on the graph, in order. Returns whether any changed it.

    `show` gets a text for each pass that did: its name, how many nodes there were and are, and the lines of the graph,
    with `-` before those that went and `+` before those that came.
    """
    return _run(PASSES, graph, show)


def run_nondiff_optimization(graph: Graph, show: Callable[[str], None] | None = None) -> bool:
    """As `run_optimization`, on a graph of which nobody will ask for gradients: fuse nodes too.

    Under `fuser("none")` none are fused.
    """
    return _run(PASSES if fuser_name.get() == "none" else PASSES + FUSION_PASSES, graph, show)


def _run(passes: Iterable[Pass], graph: Graph, show: Callable[[str], None] | None) -> bool:
    changed = [run_pass(change, graph, show) for change in passes]
    return any(changed)
