"""Do random programs give the same before and after every pass, in all that a caller sees?"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest

from glasstorch.jit.ir import Graph
from glasstorch.jit.passes.common_subexpression import eliminate_common_subexpressions
from glasstorch.jit.passes.constant_propagation import propagate_constants
from glasstorch.jit.passes.create_autodiff_subgraphs import create_autodiff_subgraphs
from glasstorch.jit.passes.dead_code import eliminate_dead_code
from glasstorch.jit.passes.fuse_pointwise import fuse_pointwise
from glasstorch.jit.passes.peephole import peephole
from glasstorch.jit.passes.pipeline import run_nondiff_optimization, run_optimization
from tests.jit.passes.programs import random_program, run_twice

PASSES: dict[str, tuple[Callable[[Graph], bool], ...]] = {
    "dead_code": (eliminate_dead_code,),
    "common_subexpression": (eliminate_common_subexpressions,),
    "constant_propagation": (propagate_constants,),
    "peephole": (peephole,),
    "create_autodiff_subgraphs": (create_autodiff_subgraphs,),
    "fuse_pointwise": (fuse_pointwise,),
    "all": (peephole, propagate_constants, eliminate_common_subexpressions, peephole, eliminate_dead_code),
    "all_with_groups": (run_optimization, create_autodiff_subgraphs),
    "all_fused": (run_nondiff_optimization,),
}
SEEDS = 300


@cache
def program(seed: int) -> tuple[Graph, str]:
    """A graph, and what a caller sees of it."""
    graph = random_program(seed)
    return graph, repr(run_twice(graph, seed))


@pytest.mark.parametrize("name", PASSES)
def test_a_pass_changes_nothing_that_a_caller_sees(name: str) -> None:
    changed = 0
    for seed in range(SEEDS):
        original, seen = program(seed)
        graph = original.copy()
        said = [change(graph) for change in PASSES[name]]
        assert any(said) == (str(graph) != str(original)), f"program {seed}"
        changed += any(said)
        assert repr(run_twice(graph, seed)) == seen, f"program {seed}:\n{original}\nbecame\n{graph}"
    assert changed > SEEDS / 8, "the pass has something to do"
