"""Is arithmetic with symbols PyTorch's, with the same guards?"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch._subclasses import FakeTensorMode
from glasstorch.fx.experimental._symbols.ranges import ValueRanges
from glasstorch.fx.experimental.symbolic_shapes import (
    ConstraintViolationError,
    DimDynamic,
    GuardOnDataDependentSymNode,
    RelaxedUnspecConstraint,
    ShapeEnv,
    StatelessSymbolicContext,
    StrictMinMaxConstraint,
)
from tests.fx.experimental import symbolic

Require = Callable[[str], Any]
Programs = Callable[[Any], list[str]]


@pytest.mark.parametrize(
    "program", [symbolic.arithmetic, symbolic.unknown, lambda torch: symbolic.decided(torch, 7, 25)]
)
def test_symbols_are_computed_and_decided_as_in_pytorch(require: Require, program: Programs) -> None:
    assert program(glasstorch) == program(require("torch"))


@pytest.mark.slow  # 400 programs: PyTorch alone takes a minute
def test_random_conditions_leave_pytorchs_guards(require: Require) -> None:
    assert symbolic.decided(glasstorch, 1, 400) == symbolic.decided(require("torch"), 1, 400)


def placeholders(torch: Any, shapes: list[tuple[int, ...]], kind: str = "DUCK") -> tuple[Any, list[Any]]:
    """An environment, and fake tensors with symbols for their sizes."""
    module = symbolic.module(torch, "fx.experimental.symbolic_shapes")
    sources = symbolic.module(torch, "_dynamo.source")
    env = module.ShapeEnv()
    mode = symbolic.module(torch, "_subclasses").FakeTensorMode(shape_env=env)
    made = []
    for i, shape in enumerate(shapes):
        context = module.StatelessSymbolicContext(dynamic_sizes=[getattr(module.DimDynamic, kind)] * len(shape))
        source = sources.LocalSource(f"t{i}")
        made.append(mode.from_tensor(torch.ones(shape), source=source, symbolic_context=context))
    return env, made


@pytest.mark.parametrize("kind", ["DUCK", "DYNAMIC"])
@pytest.mark.parametrize(
    "decide",
    [
        lambda x, y: None,
        lambda x, y: bool(x.size(0) > 2),
        lambda x, y: bool(x.size(0) == y.size(0)),
        lambda x, y: bool(x.size(1) % 2 == 0),
        lambda x, y: bool(x.size(0) * x.size(1) <= 100) and bool(x.size(1) // 2 != y.size(0)),
        lambda x, y: int(x.size(1)),
        lambda x, y: bool(2 * x.size(0) == x.size(1) + 2),
        lambda x, y: x + y,
        lambda x, y: x.view(-1),
        lambda x, y: bool(x.size(0) < 10) and bool(x.size(0) < 8) and bool(x.size(0) > 2),
    ],
)
def test_what_must_be_true_of_other_inputs(require: Require, kind: str, decide: Callable[[Any, Any], object]) -> None:
    told = []
    for torch in (glasstorch, require("torch")):
        env, (x, y) = placeholders(torch, [(3, 4), (3, 4)], kind)
        decide(x, y)
        sources = [symbolic.module(torch, "_dynamo.source").LocalSource(name) for name in ("x", "y")]
        fits = [
            env.evaluate_guards_for_args([x, y], [torch.ones(sizes) for sizes in given])
            for given in (((3, 4), (3, 4)), ((5, 4), (5, 4)), ((3, 6), (3, 6)), ((9, 9), (9, 9)), ((3, 4), (5, 4)))
        ]
        told.append((sorted(env.produce_guards([x, y], sources)), fits, [str(e) for e in env.get_nontrivial_guards()]))
    assert told[0] == told[1]


def test_a_size_that_must_be_free_may_not_become_a_number() -> None:
    env = ShapeEnv()
    mode = FakeTensorMode(shape_env=env)
    context = StatelessSymbolicContext(
        [DimDynamic.DYNAMIC, DimDynamic.STATIC], constraint_sizes=[RelaxedUnspecConstraint(warn_only=False), None]
    )
    fake = mode.from_tensor(glasstorch.ones(5, 4), symbolic_context=context)
    assert int(fake.shape[0]) == 5
    source = symbolic.module(glasstorch, "_dynamo.source").LocalSource("x")
    with pytest.raises(ConstraintViolationError, match="your code specialized it to be a constant"):
        env.produce_guards([fake], [source], input_contexts=[context])


def test_the_range_that_a_program_declares_is_known() -> None:
    env = ShapeEnv()
    context = StatelessSymbolicContext(
        [DimDynamic.DYNAMIC], constraint_sizes=[StrictMinMaxConstraint(warn_only=False, vr=ValueRanges(4, 16))]
    )
    fake = FakeTensorMode(shape_env=env).from_tensor(glasstorch.ones(8), symbolic_context=context)
    assert fake.shape[0] <= 16
    assert fake.shape[0] >= 3
    assert not env.guards
    with pytest.raises(ConstraintViolationError):
        FakeTensorMode(shape_env=ShapeEnv()).from_tensor(glasstorch.ones(32), symbolic_context=context)


def test_an_error_names_the_checks_that_would_let_the_program_go_on() -> None:
    length = ShapeEnv().create_unbacked_symint()
    with pytest.raises(GuardOnDataDependentSymNode) as raised:
        bool(length > 3)
    text = str(raised.value)
    assert "Could not guard on data-dependent expression u0 > 3" in text
    assert "1. torch._check(length > 3)" in text
    assert "2. torch._check(length <= 3)" in text
    assert "bool(length > 3)" in text


def test_a_guard_names_the_line_that_led_to_it() -> None:
    env, (x,) = placeholders(glasstorch, [(3, 4)])
    assert x.shape[0] > 2  # this very line
    assert "assert x.shape[0] > 2  # this very line" in env.format_guards(verbose=True)


def test_suppressed_guards_are_not_noted_and_a_frozen_environment_takes_none() -> None:
    env, (x,) = placeholders(glasstorch, [(3, 4)])
    with env.suppress_guards():
        assert x.shape[0] > 2
    assert not env.guards
    env.freeze()
    with pytest.raises(RuntimeError, match="frozen"):
        bool(x.shape[0] > 2)


def test_bounds_hold_for_all_numbers_between() -> None:
    """Each rule's range contains the value at every point of a grid."""
    from glasstorch.fx.experimental._symbols.node import OPERATIONS
    from glasstorch.fx.experimental._symbols.ranges import bounds

    env, _ = placeholders(glasstorch, [])
    names = symbolic.symbols(glasstorch, env, {"a": 5, "b": 7})
    a, b = (names[name].node.expr for name in "ab")
    ranges = {a: ValueRanges(-3, 4), b: ValueRanges(1, 6)}
    for method in (
        "add",
        "sub",
        "mul",
        "int_floordiv",
        "mod",
        "sym_max",
        "sym_min",
        "lt",
        "le",
        "eq",
        "ne",
        "gt",
        "ge",
    ):
        expr = OPERATIONS[method].sympy(a, b)
        low, high = bounds(expr, ranges)
        for x in range(-3, 5):
            for y in range(1, 7):
                assert low <= OPERATIONS[method].function(x, y) <= high, (method, x, y, low, high)
    assert bounds(a**2, ranges) == (0, 16)
    assert bounds(a + b, {a: ValueRanges(2, math.inf), b: ValueRanges(2, math.inf)}) == (4, math.inf)
