"""Do the passes together do what none does alone, and is it shown what each did?"""

from __future__ import annotations

from glasstorch.jit.parser import parse_ir
from glasstorch.jit.passes.pipeline import PASSES, run_nondiff_optimization, run_optimization
from glasstorch.jit.settings import fuser
from tests.jit.passes.programs import random_program, run_twice

TEXT = """\
graph(%x : Tensor):
  %s : int[] = prim::Constant[value=[2, 2]]()
  %none : NoneType = prim::Constant()
  %k : Tensor = aten::ones(%s, %none, %none, %none, %none)
  %a : Tensor = aten::neg(%k)
  %b : Tensor = aten::mul(%x, %a)
  %c : Tensor = aten::t(%b)
  %d : Tensor = aten::t(%c)
  %e : Tensor = aten::neg(%d)
  %f : Tensor = aten::neg(%b)
  %r : Tensor = aten::mul(%e, %f)
  return (%r)
"""


def test_the_passes_together_leave_what_must_run() -> None:
    graph = parse_ir(TEXT)
    assert run_optimization(graph)
    assert [node.kind for node in graph.nodes] == ["prim::Constant", "aten::mul", "aten::neg", "aten::mul"]
    run_optimization(graph)
    assert len(graph.nodes) == 4


def test_what_each_pass_changed_is_shown() -> None:
    shown: list[str] = []
    run_optimization(parse_ir(TEXT), shown.append)
    heads = [text.partition("\n")[0] for text in shown]
    assert heads == [
        "peephole: 10 -> 9 nodes",
        "propagate_constants: 9 -> 9 nodes",
        "eliminate_common_subexpressions: 9 -> 8 nodes",
        "eliminate_dead_code: 8 -> 4 nodes",
    ]
    assert "-   %d : Tensor = aten::t(%c)" in shown[0].splitlines()
    assert "+   %e : Tensor = aten::neg(%b)" in shown[0].splitlines()
    assert "    %b : Tensor = aten::mul(%x, %a)" in shown[0].splitlines()


def test_types_of_the_example_go_before_anybody_believes_them() -> None:
    assert PASSES[0].__name__ == "erase_shape_information"


def test_nodes_are_fused_after_all_other_passes_unless_no_fuser_is_wanted() -> None:
    graph = parse_ir(TEXT)
    run_nondiff_optimization(graph)
    assert [node.kind for node in graph.nodes] == ["prim::Constant", "prim::FusionGroup"]
    graph = parse_ir(TEXT)
    with fuser("none"):
        run_nondiff_optimization(graph)
    assert [node.kind for node in graph.nodes] == ["prim::Constant", "aten::mul", "aten::neg", "aten::mul"]


def test_random_programs_give_the_same_after_all_passes() -> None:
    for seed in range(1000, 1100):
        graph = random_program(seed)
        seen = run_twice(graph, seed)
        run_optimization(graph)
        assert repr(run_twice(graph, seed)) == repr(seen), f"program {seed}"
