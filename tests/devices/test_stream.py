"""Do streams, events and device contexts behave as torch.cuda's?"""

from __future__ import annotations

import copy
from typing import Any

import pytest

import glasstorch as torch
from glasstorch.core.errors import AcceleratorError, ArgumentError, ArgumentTypeError, ArgumentValueError
from glasstorch.devices import runtime
from glasstorch.devices.codes import Code, cuda_error
from glasstorch.devices.driver_sim import SimDriver
from glasstorch.devices.stream import STREAMS_PER_POOL
from tests.devices.devices import Devices, made

cuda = torch.cuda


@pytest.fixture(autouse=True)
def on(cuda: Devices) -> Devices:
    """Every test here runs on every kind of device."""
    return cuda


# Streams --------------------------------------------------------------------------------------------------------


def test_work_is_queued_on_the_stream_of_the_context_and_ends_with_it() -> None:
    stream = cuda.Stream()
    assert cuda.current_stream() == cuda.default_stream()
    with cuda.stream(stream):
        assert cuda.current_stream() == stream
        with cuda.stream(None):
            assert cuda.current_stream() == stream
        x = torch.ones(1000, device="cuda") * 3
    assert cuda.current_stream() == cuda.default_stream()
    stream.synchronize()
    assert x.sum().item() == 3000


def test_the_stream_comes_back_after_an_exception() -> None:
    with pytest.raises(KeyError), cuda.stream(cuda.Stream()):
        raise KeyError
    assert cuda.current_stream() == cuda.default_stream()


def test_streams_are_equal_if_they_are_one_stream_of_one_device() -> None:
    one, other = cuda.Stream(), cuda.Stream()
    with cuda.stream(one):
        same = cuda.current_stream()
    assert same == one != other
    assert hash(same) == hash(one)
    assert one != "a stream"
    assert one.stream_id == one.cuda_stream != 0
    assert cuda.default_stream().cuda_stream == 0


def test_a_stream_says_what_it_is() -> None:
    stream = cuda.Stream(device="cuda:0")
    assert repr(stream) == f"<glasstorch.cuda.Stream device=cuda:0 cuda_stream={stream.cuda_stream:#x}>"
    assert stream.device == torch.device("cuda:0")


def test_a_priority_out_of_range_means_the_nearest_one() -> None:
    assert [cuda.Stream(priority=p).priority for p in (5, 0, -1, -9)] == [0, 0, -1, -3]


def test_streams_of_a_pool_are_given_out_in_turn() -> None:
    runtime.use_driver(made("forward"))
    handles = [cuda.Stream().cuda_stream for _ in range(STREAMS_PER_POOL + 2)]
    assert len(set(handles)) == STREAMS_PER_POOL
    assert handles[-2:] == handles[:2]


def test_wait_stream_orders_what_follows() -> None:
    side = cuda.Stream()
    x = torch.zeros(1000, device="cuda")
    side.wait_stream(cuda.current_stream())
    with cuda.stream(side):
        x += 1
    cuda.current_stream().wait_stream(side)
    assert (x * 2).sum().item() == 2000


def test_query_comes_to_an_end() -> None:
    stream = cuda.Stream()
    with cuda.stream(stream):
        torch.ones(1000, device="cuda")
    while not stream.query():
        pass
    assert stream.query()


@pytest.mark.parametrize(
    ("use", "words"),
    [
        (lambda: cuda.stream(5), "stream: expected Stream, got 5"),
        (lambda: cuda.set_stream("x"), "set_stream: expected Stream, got 'x'"),
        (lambda: cuda.default_stream().wait_stream(None), "wait_stream: expected Stream, got None"),
        (lambda: cuda.default_stream().wait_event(None), "wait_event: expected Event, got None"),
        (lambda: cuda.default_stream().record_event(5), "record_event: expected Event, got 5"),
        (lambda: cuda.Event().record(5), "Event.record: expected Stream, got 5"),
        (lambda: cuda.default_stream().record_event().wait(5), "Event.wait: expected Stream, got 5"),
        (lambda: cuda.Event().elapsed_time(5), "elapsed_time: expected Event, got 5"),
        (lambda: cuda.Stream(priority="x"), r"Stream\(\): argument 'priority' must be int, not str"),
        (lambda: copy.deepcopy(cuda.Stream()), "cannot pickle 'Stream' object"),
        (lambda: copy.copy(cuda.Event()), "cannot pickle 'Event' object"),
    ],
)
def test_what_is_no_stream_and_no_event_is_refused(use: Any, words: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"^{words}"):
        use()


# Events ---------------------------------------------------------------------------------------------------------


def test_an_event_is_made_when_it_is_first_recorded() -> None:
    event = cuda.Event()
    assert repr(event) == "<glasstorch.cuda.Event uninitialized>"
    assert event.query()
    event.wait()
    event.synchronize()
    event.record()
    assert repr(event) == f"<glasstorch.cuda.Event {event.cuda_event:#x}>"


def test_a_stream_waits_for_an_event() -> None:
    side = cuda.Stream()
    with cuda.stream(side):
        x = torch.full((1000,), 2.0, device="cuda")
        event = side.record_event()
    cuda.current_stream().wait_event(event)
    assert x.sum().item() == 2000
    event.synchronize()
    assert event.query()


def test_the_time_between_two_events_is_in_milliseconds() -> None:
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    start.record()
    for _ in range(10):
        torch.ones(1000, device="cuda")
    end.record()
    end.synchronize()
    assert 0 <= start.elapsed_time(end) < 10_000


def not_recorded() -> tuple[Any, Any]:
    return cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)


def without_timing() -> tuple[Any, Any]:
    event = cuda.Event()
    event.record()
    return event, event


@pytest.mark.parametrize(
    ("events", "words"),
    [
        (not_recorded, "Both events must be recorded before calculating elapsed time."),
        (without_timing, "Both events must be created with argument 'enable_timing=True'."),
    ],
)
def test_time_that_cannot_be_told_is_refused_in_torch_s_words(events: Any, words: str) -> None:
    start, end = events()
    with pytest.raises(ArgumentValueError) as error:
        start.elapsed_time(end)
    assert str(error.value) == words


def test_an_event_of_several_processes_is_refused() -> None:
    with pytest.raises(ArgumentError, match="interprocess"):
        cuda.Event(interprocess=True)


def test_an_event_of_a_device_that_failed_dies_quietly() -> None:
    """A warning of an exception in a destructor would fail this test."""
    driver = SimDriver()
    runtime.use_driver(driver)
    before, after = cuda.Event(), cuda.Event()
    before.record()
    driver._fail(0, cuda_error(Code.LAUNCH_FAILURE))
    with pytest.raises(AcceleratorError):
        after.record()
    del before, after


# Devices --------------------------------------------------------------------------------------------------------


@pytest.fixture
def two() -> None:
    """Two devices."""
    runtime.use_driver(made("random-1"))


@pytest.mark.usefixtures("two")
def test_a_device_context_changes_the_device_inside() -> None:
    with cuda.device("cuda:1"):
        assert cuda.current_device() == 1
        assert torch.ones(2, device="cuda").device == torch.device("cuda:1")
        with cuda.device(None), cuda.device(-1):
            assert cuda.current_device() == 1
        with cuda.device_of(torch.ones(2, device="cuda:0")):
            assert cuda.current_device() == 0
        with cuda.device_of(torch.ones(2)):
            assert cuda.current_device() == 1
    assert cuda.current_device() == 0


@pytest.mark.usefixtures("two")
def test_a_stream_of_another_device_brings_its_device_along() -> None:
    there = cuda.Stream(device=1)
    with cuda.stream(there):
        assert cuda.current_device() == 1
        assert torch.ones(2, device="cuda").sum().item() == 2
    assert cuda.current_device() == 0
    assert cuda.current_stream("cuda:1") == cuda.default_stream("cuda:1")


@pytest.mark.usefixtures("two")
def test_an_event_is_recorded_on_one_device_and_waited_for_on_any() -> None:
    here, there = cuda.Stream(device=0), cuda.Stream(device=1)
    event = here.record_event()
    there.wait_event(event)
    with pytest.raises(ArgumentError, match="Event device cuda:0 does not match recording stream's device cuda:1"):
        event.record(there)


def test_streams_and_events_of_a_driver_that_is_gone_are_refused() -> None:
    runtime.use_driver(made("forward"))
    stream, event = cuda.Stream(), cuda.Event()
    event.record()
    runtime.use_driver(made("forward"))
    for use in (stream.synchronize, lambda: cuda.set_stream(stream), event.synchronize, event.record):
        with pytest.raises(AcceleratorError, match="belongs to a driver that is no longer active"):
            use()


def test_the_context_of_a_stream_ends_quietly_where_the_driver_was_changed_inside() -> None:
    with cuda.stream(cuda.Stream()):
        runtime.use_driver(made("forward"))
    assert cuda.current_stream() == cuda.default_stream()
