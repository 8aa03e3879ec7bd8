"""Do steps become loops as the notes say, and are numbers rounded as the eager kernels round them?"""

from __future__ import annotations

import pytest

import glasstorch
from glasstorch.core.dtype import bool_, float16, float32, float64, int64, uint8
from glasstorch.jit.codegen.program import Argument, Constant, Steps, UnfusableError, constant
from glasstorch.operators.shapes.result import Result

zeros = glasstorch.zeros


def test_a_step_has_the_dtype_of_its_first_operand_and_the_sizes_of_all() -> None:
    steps = Steps([zeros(3, 1), zeros(4, dtype=float64)])
    slot = steps.step("mul", 0, steps.cast(1, float32))
    assert (slot, steps.shapes[slot], steps.dtypes[slot]) == (3, (3, 4), float32)


def test_a_cast_to_the_same_dtype_is_no_step() -> None:
    steps = Steps([zeros(3)])
    assert steps.cast(0, float32) == 0
    assert steps.steps == []


def test_steps_of_one_shape_share_a_loop_and_smaller_ones_come_first() -> None:
    steps = Steps([zeros(2, 3), zeros(3)])
    doubled = steps.step("add", 0, 0)
    small = steps.step("exp", 1)
    total = steps.step("mul", doubled, small)
    program = steps.program([total], [Result((2, 3), float32)])
    assert [(loop.shape, loop.reads, loop.writes) for loop in program.loops] == [
        ((3,), (1,), (small,)),
        ((2, 3), (0, small), (total,)),
    ]
    assert [[step.formula for step in loop.steps] for loop in program.loops] == [["exp"], ["add", "mul"]]


def test_what_no_output_needs_is_left_out() -> None:
    steps = Steps([zeros(3)])
    steps.step("exp", 0)
    kept = steps.step("neg", 0)
    program = steps.program([kept], [Result((3,), float32)])
    assert [step.formula for loop in program.loops for step in loop.steps] == ["neg"]


def test_strides_are_those_of_inputs_and_results() -> None:
    steps = Steps([zeros(2, 3).t()])
    slot = steps.step("neg", 0)
    assert steps.program([slot], [Result((3, 2), float32, (1, 3))]).strides == ((1, 3), (1, 3))
    assert steps.program([slot], [Result((3, 2), float32)]).strides == ((1, 3), (2, 1))


@pytest.mark.parametrize(
    ("value", "of", "rounded"),
    [(0.1, float32, 0.10000000149011612), (0.1, float64, 0.1), (2, float32, 2.0), (-1, uint8, 255), (3, bool_, True)],
)
def test_a_number_is_rounded_to_the_dtype(value: float, of: glasstorch.dtype, rounded: float) -> None:
    found = constant(value, of)
    assert found == Constant(rounded, of)
    assert type(found.value) is type(rounded)


def test_a_number_that_stands_for_a_tensor_is_no_slot() -> None:
    steps = Steps([])
    assert steps.read(Argument.of(0.1), float64) == Constant(0.1, float64)
    assert steps.read(Argument.of(True), int64) == Constant(1, int64)


def test_half_precision_is_refused() -> None:
    with pytest.raises(UnfusableError, match="float16 is rounded after each operator"):
        Steps([zeros(3, dtype=float16)])
    with pytest.raises(UnfusableError, match="float16 is rounded after each operator"):
        Steps([zeros(3)]).cast(0, float16)
