"""Does queued work run in an order that the program allows, and in the worst of them?"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasstorch.devices.simulator.stream_queues import ORDERS, PENDING, Mark, Scheduler, StreamQueue


class Bench:
    """A scheduler with streams that write down what has run, and a clock that moves only when told to."""

    def __init__(self, order: str = "forward", streams: int = 3, seed: int = 0) -> None:
        self.time = 0.0  # in milliseconds
        self.scheduler = Scheduler(order, seed, lambda: self.time)
        self.streams = [StreamQueue(handle, 0) for handle in range(streams)]
        self.scheduler.streams.extend(self.streams)
        self.ran: list[str] = []

    def work(self, stream: int, name: str) -> None:
        self.scheduler.add(self.streams[stream], self.note(name))

    def note(self, name: str) -> Callable[[], None]:
        return lambda: self.ran.append(name)

    def busy(self, stream: int, milliseconds: float) -> None:
        def run() -> None:
            self.time += milliseconds

        self.scheduler.add(self.streams[stream], run)

    def record(self, stream: int) -> Mark:
        mark = Mark(self.streams[stream], {})
        self.scheduler.add(self.streams[stream], reaches=mark)
        return mark

    def wait(self, stream: int, mark: Mark) -> None:
        self.scheduler.add(self.streams[stream], awaits=mark)

    def finish(self, stream: int) -> list[str]:
        self.scheduler.finish(self.streams[stream])
        return self.ran


def test_nothing_runs_before_somebody_synchronises() -> None:
    bench = Bench()
    bench.work(0, "a")
    assert bench.ran == []
    assert bench.finish(0) == ["a"]


def test_forward_runs_only_what_is_asked_for() -> None:
    bench = Bench("forward")
    for name, stream in (("a", 1), ("b", 0), ("c", 2), ("d", 0)):
        bench.work(stream, name)
    assert bench.finish(0) == ["b", "d"]


def test_reverse_runs_all_else_first_and_the_youngest_stream_before_the_others() -> None:
    bench = Bench("reverse")
    for name, stream in (("a", 1), ("b", 0), ("c", 2), ("d", 0)):
        bench.work(stream, name)
    assert bench.finish(0) == ["c", "a", "b", "d"]


def test_random_draws_the_order_and_the_seed_decides_it() -> None:
    def run(seed: int) -> tuple[str, ...]:
        bench = Bench("random", seed=seed)
        for stream in range(3):
            bench.work(stream, f"{stream}")
        for stream in range(3):
            bench.finish(stream)
        return tuple(bench.ran)

    assert run(5) == run(5)
    assert len({run(seed) for seed in range(20)}) > 3


def test_forward_runs_what_an_awaited_event_needs_and_no_more() -> None:
    bench = Bench("forward")
    bench.work(1, "needed")
    mark = bench.record(1)
    bench.work(1, "later")
    bench.wait(0, mark)
    bench.work(0, "waits")
    assert bench.finish(0) == ["needed", "waits"]


def test_an_event_stands_for_what_was_queued_before_it_also_through_other_streams() -> None:
    bench = Bench("forward")
    bench.work(2, "first")
    bench.wait(1, bench.record(2))
    bench.work(1, "second")
    bench.wait(0, bench.record(1))
    bench.work(0, "third")
    assert bench.finish(0) == ["first", "second", "third"]


def test_asking_again_and_again_comes_to_an_end() -> None:
    bench = Bench("random")
    for stream in range(3):
        bench.work(stream, "x")
    asked = 0
    while bench.streams[1].work:
        bench.scheduler.progress(bench.streams[1])
        asked += 1
    assert asked <= 3


def test_the_oldest_work_runs_when_too_much_is_queued() -> None:
    bench = Bench()
    for number in range(PENDING + 5):
        bench.work(0, f"{number}")
    assert bench.ran == ["0", "1", "2", "3", "4"]


def test_work_asked_for_from_inside_work_is_not_run_inside_it() -> None:
    bench = Bench()
    inside: list[int] = []

    def asks() -> None:
        bench.scheduler.progress(bench.streams[0])
        inside.append(len(bench.ran))

    bench.scheduler.add(bench.streams[0], asks)
    bench.work(0, "after")
    bench.finish(0)
    assert (inside, bench.ran) == ([0], ["after"])


def test_dropping_a_device_forgets_its_work_and_lets_others_go_on() -> None:
    bench = Bench()
    bench.streams[1].device = 1
    bench.work(1, "lost")
    bench.wait(0, bench.record(1))
    bench.work(0, "goes on")
    bench.scheduler.drop(1)
    assert bench.finish(0) == ["goes on"]


@pytest.mark.parametrize("order", ORDERS)
def test_streams_overlap_in_simulated_time_and_waiting_does_not(order: str) -> None:
    bench = Bench(order)
    bench.busy(0, 30)
    bench.busy(1, 20)
    beside = [bench.record(0), bench.record(1)]
    bench.wait(1, beside[0])
    bench.busy(1, 5)
    after = bench.record(1)
    for stream in (0, 1):
        bench.finish(stream)
    assert [mark.time for mark in beside] == [30, 20]  # side by side, though one ran after the other here
    assert after.time == 35


def test_work_begins_in_simulated_time_when_it_was_queued() -> None:
    bench = Bench()
    bench.time = 100
    bench.busy(0, 5)
    mark = bench.record(0)
    bench.time = 200
    bench.finish(0)
    assert mark.time == 105


@given(order=st.sampled_from(ORDERS), seed=st.integers(0, 9), plan=st.lists(st.tuples(*[st.integers(0, 2)] * 3)))
def test_every_order_keeps_that_of_each_stream_and_of_the_events(
    order: str, seed: int, plan: list[tuple[int, int, int]]
) -> None:
    """Each step queues work on one stream, and lets a second one wait for a third."""
    bench = Bench(order, seed=seed)
    before: dict[str, set[str]] = {}  # what must have run before a piece of work
    known: list[set[str]] = [set(), set(), set()]  # what is ordered before a stream's next work
    for number, (stream, waits, other) in enumerate(plan):
        name = f"{number}"
        bench.work(stream, name)
        before[name] = set(known[stream])
        known[stream].add(name)
        bench.wait(waits, bench.record(other))
        known[waits] |= known[other]
    for stream in (2, 0, 1):
        bench.finish(stream)
    assert sorted(bench.ran) == sorted(before)
    for place, name in enumerate(bench.ran):
        assert before[name] <= set(bench.ran[:place])
