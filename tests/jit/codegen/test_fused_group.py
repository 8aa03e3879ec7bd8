"""Does a fusion group give what its operators give one by one, and is it interpreted where it cannot be a loop?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import glasstorch
from glasstorch._tensor import wrapped_number
from glasstorch.core.dtype import BY_NAME, HALF_PRECISION
from glasstorch.core.errors import DtypeError, IntegerDivisionError, ShapeError
from glasstorch.core.keys import AUTOGRAD_AND_NESTED, FUNCTIONALITY_BIT
from glasstorch.dispatch.active_keys import exclude, include
from glasstorch.jit import fuser
from glasstorch.jit.codegen.formulas import FUSIBLE
from glasstorch.jit.codegen.fused_group import MAX_PLANS, FusedGroup, _run
from glasstorch.jit.codegen.numpy_loop import BLOCK
from tests.agreement.samples import Row
from tests.agreement.table import ROWS
from tests.jit.codegen.groups import calls_of, group_of, same_to_the_bit

LARGE = 3 * BLOCK + 7  # elements: several blocks, of which the last is short

randn, zeros = glasstorch.randn, glasstorch.zeros


@pytest.fixture(autouse=True)
def loops_of_numpy() -> Iterator[None]:
    with fuser("numpy"):
        yield


def test_every_operator_that_can_be_fused_has_samples() -> None:
    assert {row.op for row in ROWS} >= FUSIBLE


@pytest.mark.parametrize("row", [row for row in ROWS if row.op in FUSIBLE], ids=lambda row: row.op)
def test_an_operator_alone_is_what_it_is_in_eager_mode(row: Row) -> None:
    for run, group, tensors in calls_of(row):
        assert (group.plan(*tensors) is None) == any(t.dtype in HALF_PRECISION for t in tensors), run
        (found,), (wanted,) = group(*tensors), group.interpret(*tensors)
        assert same_to_the_bit(found, wanted), (row.op, run)


# Several operators -----------------------------------------------------------------------------------------------


def chain(x: Any, y: Any) -> Any:
    a = (x * y + x).sigmoid() * y - x
    return (a.tanh() * 0.5).relu() + glasstorch.where(a > 0, a, y)


def with_outputs(x: Any, y: Any) -> Any:
    a = x.exp()
    b = a * y
    return b.neg(), a, b > 1


def of_a_bias(x: Any, y: Any) -> Any:
    return x * y.exp().sqrt() + y


SHAPES = [
    ((), ()),
    ((1,), (1,)),
    ((0, 3), (3,)),
    ((LARGE,), (LARGE,)),
    ((5, 7), (7,)),
    ((LARGE, 2), (1,)),
    ((3, 1), (4,)),
]


@pytest.mark.parametrize("function", [chain, with_outputs, of_a_bias])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_several_operators_are_what_they_are_in_eager_mode(function: Callable[..., Any], shapes: Any) -> None:
    x, y = (randn(shape) for shape in shapes)
    group = group_of(function, x, y)
    check(group, x, y)
    check(group, x.double(), y)
    check(group, (x * 3).int(), y.abs())


def check(group: FusedGroup, *inputs: Any) -> None:
    assert group.plan(*inputs) is not None
    for found, wanted in zip(group(*inputs), group.interpret(*inputs), strict=True):
        assert same_to_the_bit(found, wanted)


def test_a_small_group_goes_the_short_way_and_gives_the_same() -> None:
    x, y = randn(7, 5), randn(5)
    group = group_of(lambda x, y: (chain(x, y), (x + y).sgn()), x, y)
    for first, second in ((x, y), (x.int(), y), (x[:, ::2], y[::2]), (x.expand(2, 7, 5), y)):
        plan = group.plan(first, second)
        assert plan is not None
        assert plan.short is not None
        for found, wanted in zip(group(first, second), _run(plan, (first, second)), strict=True):
            assert same_to_the_bit(found, wanted)


def test_only_one_small_loop_with_row_major_results_goes_the_short_way() -> None:
    x, y = randn(7, 5), randn(5)
    for function, *inputs in (
        (chain, randn(LARGE), randn(LARGE)),
        (chain, randn(()), randn(())),
        (chain, randn(5, 7).t(), y),
        (chain, randn(0, 5), y),
        (of_a_bias, x, y),
    ):
        plan = group_of(function, *inputs).plan(*inputs)
        assert plan is not None
        assert plan.short is None


LAYOUTS = {
    "transposed": lambda: (randn(30, 40).t(), randn(30, 40).t()),
    "one of two transposed": lambda: (randn(30, 40).t(), randn(40, 30)),
    "stepped": lambda: (randn(LARGE * 2)[1::2], randn(LARGE)),
    "expanded": lambda: (randn(40, 1).expand(40, 30), randn(30).expand(40, 30)),
    "from the middle of a storage": lambda: (randn(50, 30)[7:], randn(43, 30)),
    "in three dimensions": lambda: (randn(4, 5, LARGE // 10).permute(1, 2, 0), randn(4)),
    "channels last": lambda: (randn(2, 3, 4, 5).to(memory_format=glasstorch.channels_last), randn(5)),
    "of other ranks": lambda: (randn(6, 1, 5), randn(7, 1)),
    "the same twice": lambda: (x := randn(30, 40), x),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_layout_in_memory_changes_the_result(layout: str) -> None:
    x, y = LAYOUTS[layout]()
    check(group_of(chain, x, y), x, y)
    check(group_of(with_outputs, x, y), x, y)


def test_what_is_smaller_has_a_loop_of_its_own() -> None:
    x, y = randn(400, 30), randn(30)
    plan = group_of(of_a_bias, x, y).plan(x, y)
    assert plan is not None
    assert [loop.shape for loop in plan.program.loops] == [(30,), (400, 30)]
    assert [[step.formula for step in loop.steps] for loop in plan.program.loops] == [
        ["rounded_exp", "sqrt"],
        ["mul", "add"],
    ]


def test_what_no_output_needs_is_no_step() -> None:
    """The conversion of x is for an exponent that reads no element."""
    x = glasstorch.arange(5)
    plan = group_of(lambda x: x.pow(0.0) + x, x).plan(x)
    assert plan is not None
    assert [step.formula for loop in plan.program.loops for step in loop.steps] == ["copy", "cast", "add"]


def test_strides_of_single_elements_are_those_of_eager_mode() -> None:
    x = randn(1, 2).t()
    check(group_of(lambda x: (x > 0.5, x > x, x.neg()), x), x)


def test_inputs_are_read_only() -> None:
    x, y = randn(LARGE), randn(LARGE)
    before = x.clone(), y.clone()
    group_of(chain, x, y)(x, y)
    assert same_to_the_bit(x, before[0])
    assert same_to_the_bit(y, before[1])


def test_results_are_new_each_time() -> None:
    x, y = randn(LARGE), randn(LARGE)
    group = group_of(chain, x, y)
    (first,) = group(x, y)
    kept = first.clone()
    group(y, x)
    assert same_to_the_bit(first, kept)


def test_the_default_dtype_is_that_of_the_call() -> None:
    x = glasstorch.arange(5)
    group = group_of(lambda x: (x / 2).exp(), x)
    check(group, x)
    glasstorch.set_default_dtype(glasstorch.float64)
    try:
        (found,) = group(x)
        check(group, x)
    finally:
        glasstorch.set_default_dtype(glasstorch.float32)
    assert found.dtype is glasstorch.float64


# Plans -----------------------------------------------------------------------------------------------------------


def test_a_plan_is_made_once_for_inputs_alike() -> None:
    x, y = randn(5, 7), randn(7)
    group = group_of(chain, x, y)
    assert group.plan(x, y) is group.plan(y.new_ones(5, 7), y)
    assert group.plan(x, y) is not group.plan(randn(6, 7), y)
    assert group.plan(x, y) is not group.plan(randn(7, 5).t(), y)


def test_the_oldest_plans_go() -> None:
    group = group_of(chain, zeros(1), zeros(1))
    plans = [group.plan(zeros(size), zeros(size)) for size in range(1, MAX_PLANS + 2)]
    assert group.plan(zeros(2), zeros(2)) is plans[1]
    assert group.plan(zeros(1), zeros(1)) is not plans[0]
    assert len(group._plans) == MAX_PLANS


# Where a group is interpreted ------------------------------------------------------------------------------------


def interpreted(*inputs: Any) -> bool:
    group = group_of(chain, zeros(3), zeros(3))
    found, wanted = group(*inputs), group.interpret(*inputs)
    assert all(same_to_the_bit(a, b) for a, b in zip(found, wanted, strict=True))
    return group.plan(*inputs) is None


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_half_precision_is_rounded_after_each_operator(name: str) -> None:
    assert interpreted(randn(3).to(BY_NAME[name]), randn(3))


def test_a_gradient_is_recorded_where_it_is_asked_for() -> None:
    x = randn(3, requires_grad=True)
    group = group_of(chain, zeros(3), zeros(3))
    assert group(x, randn(3))[0].grad_fn is not None
    with glasstorch.no_grad():
        assert not interpreted(x, randn(3))


def test_inference_mode_has_loops_that_give_inference_tensors() -> None:
    x = randn(3)
    group = group_of(chain, x, x)
    with glasstorch.inference_mode():
        assert group.plan(x, x) is not None
        assert group(x, x)[0].is_inference()


def test_meta_tensors_are_interpreted() -> None:
    group = group_of(chain, zeros(3), zeros(3))
    x = zeros(3, device="meta")
    assert group.plan(x, x) is None
    assert group(x, x)[0].is_meta


def test_a_mode_sees_the_operators() -> None:
    x = randn(3)
    group = group_of(chain, x, x)
    with include(FUNCTIONALITY_BIT["PythonDispatcher"]):
        assert group.plan(x, x) is None
    with exclude(AUTOGRAD_AND_NESTED):
        assert group.plan(x, x) is not None


@pytest.mark.filterwarnings("ignore:where received a uint8 condition tensor")
def test_a_mask_of_bytes_is_interpreted() -> None:
    mask, x, y = (randn(3) > 0).to(glasstorch.uint8), randn(3), randn(3)
    group = group_of(lambda mask, x, y: glasstorch.where(mask, x, y) + x, mask, x, y)
    assert group.plan(mask, x, y) is None
    assert group.plan(mask > 0, x, y) is not None


@pytest.mark.parametrize("weight", [0.25, 0.5, 0.75])
def test_a_fraction_is_measured_from_the_nearer_end(weight: float) -> None:
    x, y = randn(50), randn(50)
    check(group_of(lambda x, y: x.lerp(y, weight).neg(), x, y), x, y)


def test_a_number_in_place_of_a_tensor_is_weak_in_promotion() -> None:
    assert interpreted(randn(3).half().float(), wrapped_number(0.1))


def test_why_a_group_is_interpreted_is_told_once() -> None:
    told: list[str] = []
    group = FusedGroup(group_of(chain, zeros(3), zeros(3)).subgraph, told.append)
    x = randn(3).half()
    group(x, x)
    group(x, x)
    group(randn(4).half(), x[:1])
    assert told == ["interpreted: torch.float16 is rounded after each operator, which a fused loop would not do"]


def test_what_an_operator_refuses_is_refused() -> None:
    group = group_of(chain, zeros(3), zeros(3))
    with pytest.raises(ShapeError, match="must match the size of tensor b"):
        group(zeros(3), zeros(4))


def test_a_number_that_the_common_dtype_cannot_hold_is_refused() -> None:
    mask, x = randn(3) > 0, randn(3).double()
    group = group_of(lambda mask, x: glasstorch.where(mask, x, 1e300) + x, mask, x)
    check(group, mask, x)
    with pytest.raises(DtypeError, match="without overflow"):
        group(mask, x.float())


def test_a_division_of_integers_by_zero_is_refused() -> None:
    x = glasstorch.ones(LARGE, dtype=glasstorch.int64)
    group = group_of(lambda x, y: (x // y) + x, x, x)
    check(group, x * 5, x * 2)
    x[LARGE - 1] = 0
    with pytest.raises(IntegerDivisionError):
        group(x, x)
