"""In which order do the passes run?

Mirrors: torch/csrc/jit/runtime/graph_executor.cpp (runOptimization, runNondiffOptimization)
Differs: no loop unrolling, and no optimisation of mutable lists.
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

# Shapes hold for the example only, so they are erased first. Peephole and constant propagation leave dead code, and
# folded constants may be common subexpressions.
PASSES: Final[tuple[Pass, ...]] = (
    erase_shape_information,
    eliminate_dead_code,
    eliminate_common_subexpressions,
    peephole,
    propagate_constants,
    eliminate_common_subexpressions,
    eliminate_dead_code,
)
# For graphs that are run without gradients, so that nodes can be fused.
FUSION_PASSES: Final[tuple[Pass, ...]] = (decompose_ops, fuse_pointwise, eliminate_dead_code)


def run_optimization(graph: Graph, show: Callable[[str], None] | None = None) -> bool:
    """Run every pass of PASSES on the graph, in order. Returns whether any changed it.

    `show` is called with a text for each pass that did: its name, the number of nodes before and after, and a diff of
    the graph's lines, with `-` for removed and `+` for added ones.
    """
    return _run(PASSES, graph, show)


def run_nondiff_optimization(graph: Graph, show: Callable[[str], None] | None = None) -> bool:
    """As `run_optimization`, on a graph that is run without gradients: fuse nodes too.

    With `fuser("none")` none are fused.
    """
    return _run(PASSES if fuser_name.get() == "none" else PASSES + FUSION_PASSES, graph, show)


def _run(passes: Iterable[Pass], graph: Graph, show: Callable[[str], None] | None) -> bool:
    changed = [run_pass(change, graph, show) for change in passes]
    return any(changed)
