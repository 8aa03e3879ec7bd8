"""Is a trace that does not do what its function does found out, by a warning or an error that shows where?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch import jit, nn
from glasstorch.jit import TracerWarning, TracingCheckError, trace
from glasstorch.jit.check_trace import clone_inputs, describe_mismatch

Tensor = glasstorch.Tensor


class Growing:
    """A function that does one operator more at each call."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, x: Any) -> Any:
        self.calls += 1
        for _ in range(self.calls):
            x = x.exp()
        return x.neg()


def test_another_graph_is_an_error_that_shows_the_lines() -> None:
    with pytest.raises(TracingCheckError) as raised, pytest.warns(TracerWarning, match="Output nr 1"):
        trace(Growing(), glasstorch.zeros(2))
    text = raised.value.message
    assert "Tracing failed sanity checks!\nERROR: Graphs differed across invocations!\n\tGraph diff:" in text
    assert "+   %2 : Tensor = aten::exp(%1)" in text
    assert "First diverging operator:" in text
    assert "-   %2 : Tensor = aten::neg(%1)" in text
    assert "Trace source location:" in text
    assert "test_check_trace.py" in text
    assert "Tensor-valued Constant nodes" not in text


def test_another_constant_is_an_error_that_shows_its_node() -> None:
    counter = iter(range(100))
    with (
        pytest.raises(TracingCheckError, match="Tensor-valued Constant nodes differed in value") as raised,
        pytest.warns(TracerWarning, match="results are registered as constants"),
        pytest.warns(TracerWarning, match="Output nr 1"),
    ):
        trace(lambda x: x + glasstorch.tensor([1.0, next(counter)]), glasstorch.zeros(2))
    assert "Greatest absolute difference: 1.0 at index (1,)" in raised.value.message
    assert "prim::Constant[value=<Tensor>]()" in raised.value.message
    assert "Graphs differed" not in raised.value.message


def test_an_output_that_differs_is_a_warning_with_how_far() -> None:
    state = {"scale": 1.0}

    def scaled(x: Tensor) -> Tensor:
        state["scale"] *= 2
        return x * glasstorch.full_like(x, state["scale"])

    with pytest.raises(TracingCheckError), pytest.warns(TracerWarning) as warned:
        trace(scaled, glasstorch.ones(2, 2))
    (text,) = [str(warning.message) for warning in warned]
    assert "Output nr 1. of the traced function does not match the corresponding output of the Python function" in text
    assert "Mismatched elements: 4 / 4 (100.0%)" in text
    assert warned[0].filename == __file__


def test_check_inputs_find_what_the_example_does_not() -> None:
    def chosen(x: Tensor) -> Tensor:
        return x * 2 if x.shape[0] > 2 else x + 2

    with pytest.raises(TracingCheckError, match="Graphs differed"), pytest.warns(TracerWarning, match="Output nr 1"):
        trace(chosen, glasstorch.ones(2), check_inputs=[(glasstorch.ones(2),), glasstorch.ones(3)])
    trace(chosen, glasstorch.ones(2), check_inputs=[(glasstorch.ones(1),), (glasstorch.zeros(2),)])


def test_a_program_that_fails_on_a_check_input_says_which() -> None:
    def sized(x: Tensor) -> Tensor:
        return x.view(2, 2)

    with pytest.raises(TracingCheckError, match="invalid for input of size 3") as raised:
        trace(lambda x: sized(x) if x.numel() == 4 else x, glasstorch.ones(4), check_inputs=[glasstorch.ones(3)])
    assert "encountered an exception while running the trace with test inputs" in raised.value.message
    assert "Graphs differed" in raised.value.message


def test_random_numbers_are_named_as_what_differs() -> None:
    with pytest.warns(TracerWarning) as warned:
        trace(nn.Sequential(nn.Linear(2, 2), Noisy()), glasstorch.ones(1, 2))
    first, second = [str(warning.message) for warning in warned]
    assert "Trace had nondeterministic nodes. Did you forget call .eval() on your model?" in first
    assert "aten::rand" in first
    assert "Output nr 1" in second


def test_chance_is_named_once_however_many_outputs_differ() -> None:
    with pytest.warns(TracerWarning) as warned:
        trace(lambda x: (x + glasstorch.rand(2), x * glasstorch.rand(2)), glasstorch.ones(2))
    heads = [str(warning.message).partition(" ")[0] for warning in warned]
    assert heads == ["Trace", "Output", "Output"]


def test_constants_are_compared_only_as_long_as_the_graphs_go_together() -> None:
    counter = iter(range(100))

    def function(x: Tensor) -> Tensor:
        count = next(counter)
        return (x.neg() if count else x.exp()) + glasstorch.tensor([float(count), 2.0])

    with pytest.raises(TracingCheckError) as raised, pytest.warns(TracerWarning):
        trace(function, glasstorch.ones(2))
    assert "Graphs differed" in raised.value.message
    assert "Tensor-valued Constant nodes" not in raised.value.message


class Noisy(nn.Module):
    def forward(self, x: Any) -> Any:
        return x + glasstorch.rand(2)


class Drifting(nn.Module):
    """A module that gives a little more at each call."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("scale", glasstorch.ones(1))

    def forward(self, x: Any) -> Any:
        self.scale.mul_(1.001)
        return x * self.scale


def test_a_wider_tolerance_lets_small_differences_pass() -> None:
    with pytest.warns(TracerWarning, match="Output nr 1") as warned:
        trace(Drifting(), glasstorch.ones(2))
    assert "(up to 1e-05 allowed)" in str(warned[0].message)
    trace(Drifting(), glasstorch.ones(2), check_tolerance=0.1)  # warns of nothing, or this test fails


def test_nothing_is_checked_when_that_is_asked_for() -> None:
    growing = Growing()
    trace(growing, glasstorch.zeros(2), check_trace=False)
    assert growing.calls == 1


def test_the_check_uses_copies_as_the_inputs_were_before_the_trace() -> None:
    example = glasstorch.zeros(2)
    seen = []

    def writes(x: Tensor) -> Tensor:
        if not jit.is_tracing():
            seen.append(x.tolist())
        return x.add_(1) * 2

    trace(writes, example)
    assert seen == [[0.0, 0.0]]
    assert example.tolist() == [1.0, 1.0]  # once, by the trace
    inputs = glasstorch.zeros(2)
    trace(lambda x: x.add_(1) * 2, example, check_inputs=[inputs])
    assert inputs.tolist() == [0.0, 0.0]


def test_copies_keep_structure_gradient_and_what_requires_one() -> None:
    x = glasstorch.ones(2, 3).t().requires_grad_()
    x.grad = glasstorch.full((3, 2), 4.0)
    first, (second,) = clone_inputs((x, [glasstorch.zeros(1, dtype=glasstorch.int64)]))
    assert first.stride() == (1, 3)
    assert first.is_leaf
    assert first.requires_grad
    assert first.grad.tolist() == x.grad.tolist()
    assert first.grad is not x.grad
    assert not second.requires_grad


def test_the_check_runs_no_pass_and_records_no_gradient() -> None:
    shown: list[str] = []
    modes = []

    def function(x: Tensor) -> Tensor:
        modes.append(glasstorch.is_grad_enabled())
        return (x.t().t() + 1).exp()

    with jit.show_passes(shown.append):
        trace(function, glasstorch.zeros(2, 2, requires_grad=True))
    assert shown == []
    assert modes == [True, False, False]


def test_modules_and_nested_outputs_are_checked_too() -> None:
    traced = trace(nn.Linear(2, 3), glasstorch.zeros(1, 2))
    assert isinstance(traced, jit.TopLevelTracedModule)
    with pytest.raises(TracingCheckError, match="Graphs differed"):
        trace(Restless(), glasstorch.ones(1))


class Restless(nn.Module):
    """A module that counts its calls in Python."""

    calls = 0

    def forward(self, x: Any) -> Any:
        self.calls += 1
        return x if self.calls != 2 else x + 0


# What counts as close -----------------------------------------------------------------------------------------------

CASES: list[tuple[Any, Any]] = [
    ([1.0, 2.0], [1.0, 2.1]),
    ([1.0, float("nan")], [1.0, float("nan")]),
    ([float("inf"), -1.0], [float("inf"), -1.0]),
    ([float("inf"), 0.0], [1.0, 0.0]),
    ([float("nan"), 0.0], [1.0, 0.0]),
    ([[0.0, 0.0], [3.0, 4.0]], [[1e-7, 0.0], [3.0, 5.0]]),
    ([1, 2, 3], [1, 2, 4]),
    ([], []),
]


@pytest.mark.parametrize(("actual", "expected"), CASES)
def test_close_is_what_torch_calls_close(require: Callable[[str], Any], actual: Any, expected: Any) -> None:
    torch = require("torch")
    ours = describe_mismatch(glasstorch.tensor(actual), glasstorch.tensor(expected), 1e-5, 1e-5)
    theirs = None
    try:
        torch.testing.assert_close(
            torch.tensor(actual).double(), torch.tensor(expected).double(), rtol=1e-5, atol=1e-5, equal_nan=True
        )
    except AssertionError as error:
        theirs = str(error)
    assert (ours is None) == (theirs is None)
    if ours is not None and theirs is not None:
        assert ours.splitlines()[:3] == theirs.splitlines()[:3]
        assert ours.splitlines()[3].partition(" at ")[2] == theirs.splitlines()[3].partition(" at ")[2]


def test_shapes_are_compared_first() -> None:
    said = describe_mismatch(glasstorch.zeros(2), glasstorch.zeros(3), 0.1, 0.1)
    assert said == "The values for attribute 'shape' do not match: torch.Size([2]) != torch.Size([3])."


def test_tensors_of_other_dtypes_are_compared_by_value() -> None:
    half = glasstorch.tensor([1.0, 2.0], dtype=glasstorch.bfloat16)
    assert describe_mismatch(half, glasstorch.tensor([1, 2]), 0, 0) is None
    assert describe_mismatch(half.t(), glasstorch.tensor(np.array([1.0, 2.5])), 0, 0) is not None


def test_the_error_is_torch_s(require: Callable[[str], Any]) -> None:
    theirs = require("torch").jit.TracingCheckError("graphs\nof two", "constants", "more")
    assert TracingCheckError("graphs\nof two", "constants", "more").message == theirs.message


def test_tensors_without_elements_are_compared_by_shape_only() -> None:
    meta = glasstorch.ones(2, device="meta")
    assert describe_mismatch(meta, glasstorch.zeros(2), 0, 0) is None
    assert describe_mismatch(meta, glasstorch.zeros(3), 0, 0) is not None
    traced = trace(lambda x: x + 1, meta)
    assert traced(meta).is_meta


def test_complex_results_are_compared_in_both_parts() -> None:
    parts = iter((1.0, 1.0, 2.0))
    with pytest.warns(TracerWarning, match="Output nr 1"):
        trace(lambda x: x * complex(1.0, next(parts)), glasstorch.ones(2))
