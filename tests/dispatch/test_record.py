"""Does each call of an operator leave one record, and nothing while nobody records?"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import glasstorch as torch
from glasstorch.core.keys import ALL_KEYS, RECORDED, DispatchKeySet
from glasstorch.dispatch import record as recording
from glasstorch.dispatch.active_keys import BY_DEFAULT, active_keys
from glasstorch.dispatch.operator import registry
from glasstorch.dispatch.record import BACKWARD_FUNCTION, Record, Recorder, RecordScope
from glasstorch.dispatch.trace import trace
from glasstorch.library import Library


@contextmanager
def recorded(**notes: Any) -> Iterator[list[Record]]:
    """The records of the block, once it is over."""
    listener, found = Recorder(lambda: -1, **notes), list[Record]()
    recording.start(listener)
    try:
        yield found
    finally:
        recording.stop()
        found += listener.finished(recording.clock())


def nested(records: list[Record]) -> list[str]:
    """The names, each indented by the number of records around it."""
    return [
        "  " * sum(other.start <= one.start and one.end <= other.end and other is not one for other in records)
        + one.name
        for one in records
    ]


def test_each_call_is_one_record_with_those_of_its_parts_inside() -> None:
    weight, bias, x = torch.ones(2, 3, requires_grad=True), torch.zeros(2), torch.ones(4, 3)
    with recorded() as records:
        torch.nn.functional.linear(x, weight, bias)
    assert nested(records) == ["aten::linear", "  aten::t", "  aten::addmm"]


def test_a_composite_operator_runs_its_parts_where_a_shortcut_stands_in_front_of_it() -> None:
    scores, classes, rows = torch.ones(2, 3), torch.tensor([0, 2]), torch.ones(2, 2)
    with recorded() as records:
        torch.nn.functional.cross_entropy(scores, classes)
        rows.reshape(4)
    assert [name for name in nested(records) if "aten::to" not in name] == [
        "aten::cross_entropy_loss",
        "  aten::log_softmax",
        "    aten::_log_softmax",
        "  aten::nll_loss_nd",
        "    aten::nll_loss",
        "      aten::nll_loss_forward",
        "aten::reshape",
        "  aten::view",
    ]


def test_a_record_knows_the_overload_and_the_order_of_times() -> None:
    before = recording.clock()
    with recorded() as records:
        torch.ones(2) + 1
    assert [(one.name, one.overload, one.scope) for one in records] == [
        ("aten::ones", "", RecordScope.FUNCTION),
        ("aten::add", "Tensor", RecordScope.FUNCTION),
    ]
    times = [before, *(time for one in records for time in (one.start, one.end)), recording.clock()]
    assert times == sorted(times)


def test_what_a_call_gives_is_the_same() -> None:
    x = torch.arange(6.0).view(2, 3)
    plain = (x.t() @ x).relu_().sum(0)
    with recorded():
        noted = (x.t() @ x).relu_().sum(0)
    assert torch.equal(plain, noted)
    with pytest.raises(RuntimeError, match="size"), recorded() as records:
        torch.ones(2) + torch.ones(3)
    assert [one.name for one in records] == ["aten::ones", "aten::ones", "aten::add"]


def test_outside_nothing_is_left_of_the_mark() -> None:
    x = torch.ones(2)
    with recorded():
        x + x
        assert active_keys.get()[0] & RECORDED
    assert active_keys.get() == BY_DEFAULT
    with recorded() as records:
        pass
    x + x
    assert records == []


def test_the_mark_is_none_of_pytorchs_keys_and_does_not_show() -> None:
    assert not RECORDED & ALL_KEYS
    assert repr(DispatchKeySet(RECORDED)) == "DispatchKeySet()"


def test_a_mode_that_ends_after_the_profile_leaves_the_mark_and_nothing_happens() -> None:
    listener, x = Recorder(lambda: -1), torch.ones(2)

    def program() -> None:
        recording.start(listener)
        with torch.inference_mode():
            recording.stop()
        assert active_keys.get()[0] & RECORDED
        assert (x + x).tolist() == [2, 2]

    contextvars.copy_context().run(program)
    assert listener.finished(recording.clock()) == []
    assert active_keys.get() == BY_DEFAULT


def test_only_the_context_that_records_is_seen() -> None:
    with recorded() as records:
        thread = threading.Thread(target=lambda: torch.ones(2) + 1)
        thread.start()
        thread.join()
    assert records == []


def test_a_trace_sees_the_hops_of_calls_that_are_recorded() -> None:
    x = torch.ones(2, requires_grad=True)
    with trace() as plain:
        x * x
    with recorded() as records, trace() as hops:
        x * x
    assert [(hop.operator, hop.key) for hop in hops] == [(hop.operator, hop.key) for hop in plain]
    assert [one.name for one in records] == ["aten::mul"]


def test_a_kernel_that_is_registered_while_somebody_records_is_used() -> None:
    library = Library("aten", "IMPL")
    x = torch.ones(2)
    with recorded() as records:
        x.sinc()
        library.impl("sinc", lambda self: self + 41, "CPU", allow_override=True)
        try:
            with torch.inference_mode():
                assert torch.ones(2).sinc().tolist() == [42, 42]
        finally:
            library.close()
        assert x.sinc().tolist() == torch.sinc(x).tolist()
    assert [one.name for one in records].count("aten::sinc") == 4


def test_a_node_and_what_the_engine_does_for_it_are_records() -> None:
    x = torch.ones(2, requires_grad=True)
    y = (x * 3).sum()
    with recorded() as records:
        y.backward()
    names = nested(records)
    assert names[:3] == ["aten::ones_like", "autograd::engine::evaluate_function: SumBackward0", "  SumBackward0"]
    assert [one.name for one in records if one.scope == BACKWARD_FUNCTION] == [
        "SumBackward0",
        "MulBackward0",
        "torch::autograd::AccumulateGrad",
    ]
    numbers = {one.name: one.sequence for one in records if one.scope == BACKWARD_FUNCTION}
    assert numbers["SumBackward0"] == y.grad_fn.sequence_nr
    assert numbers["torch::autograd::AccumulateGrad"] == -1


def test_an_error_in_a_backward_step_ends_its_records() -> None:
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            raise ValueError("on purpose")

    y = Fails.apply(torch.ones(2, requires_grad=True)).sum()
    with recorded() as records:
        with pytest.raises(ValueError, match="on purpose"):
            y.backward()
        torch.ones(1)
    assert nested(records)[-3:] == [
        "autograd::engine::evaluate_function: FailsBackward",
        "  FailsBackward",
        "aten::ones",
    ]


def test_what_is_noted_besides_is_asked_for_at_each_call() -> None:
    asked: list[str] = []
    notes = {
        "capture": lambda arguments: asked.append("arguments") or len(arguments),
        "results": lambda arguments, result: asked.append("results"),
        "device_begins": lambda: asked.append("begins") or "mark",
        "device_ends": lambda mark: asked.append(f"ends {mark}"),
    }
    x = torch.ones(2)
    with recorded(**notes) as records:
        x.neg()
    assert asked == ["arguments", "begins", "results", "ends mark"]
    assert [(one.detail, one.device) for one in records] == [(1, "mark")]


def test_each_operator_has_an_entry_with_the_mark() -> None:
    """Those that need no more than a tensor, to be run on an example."""
    x = torch.rand(2, 2) + 1
    for name, operator in registry.operators.items():
        arguments = operator.schema.arguments
        if len(arguments) == 1 and str(arguments[0].type) == "Tensor" and not operator.schema.is_inplace:
            try:
                expected = operator(x)
            except Exception:  # noqa: BLE001 (an operator that takes no such tensor)
                continue
            with recorded() as records:
                operator(x)
            assert records[0].name == name.partition(".")[0], expected


def test_what_an_error_leaves_open_ends_and_what_lies_around_it_does_not() -> None:
    listener = Recorder(lambda: -1)
    around = listener.begin("around")
    opened = len(listener.open)
    listener.begin("outer")
    listener.begin("inner")
    listener.end_beyond(opened)
    assert list(listener.open.values()) == [around]
    listener.end(around)
    assert nested(listener.finished(recording.clock())) == ["around", "  outer", "    inner"]
    for name in ("outer", "inner"):
        listener.begin(name)
    listener.end_beyond(0)
    assert not listener.open
