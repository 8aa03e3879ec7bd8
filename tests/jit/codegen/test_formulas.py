"""Has every pointwise operator a formula, and every formula a loop?"""

from __future__ import annotations

from glasstorch.jit.codegen.formulas import COMPOSITES, FUSIBLE, LOWERINGS
from glasstorch.jit.codegen.numpy_loop import LOOPS
from glasstorch.operators.generated.registry import OPERATORS, name_of
from tests.agreement.table import ROWS
from tests.jit.codegen.groups import calls_of


def test_every_pointwise_operator_can_be_fused() -> None:
    pointwise = {
        name_of(schema).removeprefix("aten::")
        for schema, _, shape, _, functional in OPERATORS
        if shape is not None and shape.startswith("pointwise.") and functional is None
    }
    assert pointwise
    assert pointwise <= FUSIBLE


def test_an_operator_made_of_another_names_one_that_is_not() -> None:
    assert {target for target, _ in COMPOSITES.values()} <= LOWERINGS.keys()
    assert not COMPOSITES.keys() & LOWERINGS.keys()


def test_every_formula_that_is_used_has_a_loop_and_every_loop_is_used() -> None:
    used = set()
    for row in ROWS:
        if row.op in FUSIBLE:
            for _, group, tensors in calls_of(row):
                plan = group.plan(*tensors)
                if plan is not None:
                    used |= {step.formula for loop in plan.program.loops for step in loop.steps}
    assert used == LOOPS.keys()
