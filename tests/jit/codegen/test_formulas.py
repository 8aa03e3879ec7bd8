"""Has every pointwise operator a formula, and every formula a loop?"""

from __future__ import annotations

from glasstorch.jit.codegen.formulas import COMPOSITES, FUSIBLE, LOWERINGS
from glasstorch.jit.codegen.numpy_loop import LOOPS
from glasstorch.operators.generated.registry import OPERATORS, name_of
from tests.agreement.table import ROWS
from tests.jit.codegen.groups import calls_of

# Pointwise operators that no group takes in: no step of theirs is in codegen/cpp_loop.py or numpy_loop.py.
UNFUSED = frozenset(
    [
        "_conj_physical", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh",
        "bitwise_left_shift.Scalar_Tensor", "bitwise_left_shift.Tensor", "bitwise_left_shift.Tensor_Scalar",
        "bitwise_right_shift.Scalar_Tensor", "bitwise_right_shift.Tensor", "bitwise_right_shift.Tensor_Scalar",
        "ceil", "copysign.Scalar", "copysign.Tensor", "cosh", "exp2", "expm1", "floor", "fmod.Scalar",
        "fmod.Tensor", "hypot", "isneginf", "isposinf", "log10", "log1p", "log2", "logaddexp", "logaddexp2",
        "logical_and", "logical_not", "logical_or", "logical_xor", "nextafter", "round", "round.decimals",
        "sign", "signbit", "sinh", "tan", "trunc",
    ]
)  # fmt: skip


def test_every_pointwise_operator_can_be_fused_or_is_listed() -> None:
    pointwise = {
        name_of(schema).removeprefix("aten::")
        for schema, _, shape, _, functional in OPERATORS
        if shape is not None and shape.startswith("pointwise") and functional is None
    }
    assert pointwise
    assert pointwise - FUSIBLE == UNFUSED


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
