"""Does the device allocator keep its promises in any sequence of allocations, frees and streams?

A model beside it knows who holds what. Over the fake driver, what was queued on a stream is done when the sequence says
so. Over the simulated device real work is queued: memory is filled on its own stream, and read on every stream that
uses it. Whoever gets memory too early is noticed by what was read.
"""

from __future__ import annotations

import ctypes
import itertools
from typing import Any, NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from glasstorch.core.errors import OutOfMemoryError
from glasstorch.devices.allocator import Allocation, CachingAllocator
from glasstorch.devices.blocks import KIB, MIB, round_size
from glasstorch.devices.driver import Copy
from glasstorch.devices.driver_sim import SimDriver
from glasstorch.devices.snapshot import BlockInfo, device_snapshot
from glasstorch.devices.statistics import METRICS
from tests.devices.fake_driver import FakeDriver
from tests.strategies import steady

STREAMS = (0, 3, 4)  # the default one, and those that the simulator makes: its numbers begin at 3
MEMORY = 48 * MIB  # two large segments, and a few small ones
SIZES = (1, 512, 513, 3000, 100 * KIB, 900 * KIB, MIB, MIB + 1, 3 * MIB, 9 * MIB, 10 * MIB, 21 * MIB)


class Held(NamedTuple):
    """Memory that the model holds, and what it was filled with."""

    memory: Allocation
    mark: int
    users: set[int]  # the streams beside its own that were said to use it

    def span(self) -> tuple[int, int]:
        return self.memory.address, self.memory.address + self.memory.nbytes


class Waiting(NamedTuple):
    """Memory that was freed, and the streams that may still use it."""

    begin: int
    end: int
    streams: set[int]


class Promises(RuleBasedStateMachine):
    """What may happen, and what holds after it. Work is done only where `finish` says so."""

    def __init__(self) -> None:
        super().__init__()
        self.driver: Any = self.new_driver()
        self.allocator = CachingAllocator(self.driver).devices[0]
        self.held: list[Held] = []
        self.waiting: list[Waiting] = []
        self.marks = 0

    # What differs over the simulated device

    work_is_done_sooner = False  # than `finish` says

    def new_driver(self) -> Any:
        return FakeDriver(memory=MEMORY)

    def fill(self, held: Held) -> None:
        """Write the mark, on the memory's own stream."""

    def read(self, held: Held, stream: int) -> None:
        """Read on a stream, later, what shall still be the mark."""

    def wait_for(self, stream: int) -> None:
        """Let all that was queued on a stream be done."""
        self.driver.finish(stream)

    # What happens

    @rule(size=st.sampled_from(SIZES), stream=st.sampled_from(STREAMS))
    def allocate(self, size: int, stream: int) -> None:
        waits = self.allocator.statistics.num_sync_all_streams
        try:
            memory = self.allocator.allocate(size, stream)
        except OutOfMemoryError:
            self.waiting.clear()
            used = [segment["active_size"] for segment in device_snapshot(self.allocator)]
            assert all(used), "a segment that nobody used was not returned before the request was refused"
            return
        if self.allocator.statistics.num_sync_all_streams > waits:
            self.waiting.clear()
        held = Held(memory, self.marks % 250 + 1, set())
        self.marks += 1
        begin, end = held.span()
        assert memory.address % 512 == 0
        for other in self.held:
            assert not (begin < other.span()[1] and other.span()[0] < end), "memory was handed out twice"
        for one in () if self.work_is_done_sooner else self.waiting:
            assert not (begin < one.end and one.begin < end), f"streams {one.streams} may still use this memory"
        self.held.append(held)
        self.fill(held)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def free(self, data: st.DataObject) -> None:
        held = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
        self.read(held, held.memory.stream)
        if held.users:
            self.waiting.append(Waiting(*held.span(), held.users))

    @precondition(lambda self: self.held)
    @rule(data=st.data(), stream=st.sampled_from(STREAMS))
    def use_on_another_stream(self, data: st.DataObject, stream: int) -> None:
        held = self.held[data.draw(st.integers(0, len(self.held) - 1))]  # hypothesis keeps what is drawn
        if stream != held.memory.stream:
            self.read(held, stream)
            held.users.add(stream)
        held.memory.record_stream(stream)

    @rule(stream=st.sampled_from(STREAMS))
    def finish(self, stream: int) -> None:
        self.wait_for(stream)
        for one in self.waiting:
            one.streams.discard(stream)
        self.waiting = [one for one in self.waiting if one.streams]

    @rule()
    def empty_cache(self) -> None:
        self.allocator.empty_cache()
        self.waiting.clear()
        assert all(segment["active_size"] for segment in device_snapshot(self.allocator))

    # What holds

    @invariant()
    def the_snapshot_is_what_the_model_holds(self) -> None:
        expected = {one.memory.address: (one.memory.nbytes, one.memory.stream) for one in self.held}
        found = {}
        for segment in device_snapshot(self.allocator):
            place = segment["address"]
            for block in segment["blocks"]:
                assert block["address"] == place, "the blocks of a segment lie side by side"
                place += block["size"]
                if block["state"] == "active_allocated":
                    found[block["address"]] = block["requested_size"], segment["stream"]
                    too_much = block["size"] - round_size(block["requested_size"])
                    assert 0 <= too_much < 512 if segment["segment_type"] == "small" else 0 <= too_much <= MIB
            assert place == segment["address"] + segment["total_size"]
            states = [block["state"] for block in segment["blocks"]]
            assert ("inactive", "inactive") not in itertools.pairwise(states), "free neighbours are joined"
        assert found == expected

    @invariant()
    def the_statistics_add_up(self) -> None:
        segments = device_snapshot(self.allocator)
        pools = {"small_pool": "small", "large_pool": "large"}
        stats = self.allocator.statistics.metrics
        for pool, kind in pools.items():
            own = [segment for segment in segments if segment["segment_type"] == kind]
            blocks = [block for segment in own for block in segment["blocks"]]
            parts = [block for segment in own if len(segment["blocks"]) > 1 for block in segment["blocks"]]
            inactive = [block for block in parts if block["state"] == "inactive"]
            active = [block for block in blocks if block["state"] != "inactive"]
            allocated = [block for block in blocks if block["state"] == "active_allocated"]
            assert {metric: stats[metric][pool].current for metric in METRICS} == {
                "allocation": len(allocated),
                "allocated_bytes": total(allocated),
                "segment": len(own),
                "reserved_bytes": sum(segment["total_size"] for segment in own),
                "active": len(active),
                "active_bytes": total(active),
                "inactive_split": len(inactive),
                "inactive_split_bytes": total(inactive),
                "requested_bytes": sum(block["requested_size"] for block in active),
            }
        for of in stats.values():
            assert of["all"].current == sum(of[pool].current for pool in pools)
            for stat in of.values():
                assert stat.allocated - stat.freed == stat.current <= stat.peak
        free, whole = self.driver.memory_info()
        assert whole - free == stats["reserved_bytes"]["all"].current <= whole

    def teardown(self) -> None:
        """When all is freed and done, nothing is left: no fragment, and after empty_cache no memory."""
        while self.held:
            held = self.held.pop()
            self.read(held, held.memory.stream)
            del held
        for stream in STREAMS:
            self.finish(stream)
        assert self.allocator.allocate(1, 0).address  # which looks what is done
        assert all(len(segment["blocks"]) == 1 for segment in device_snapshot(self.allocator))
        self.allocator.empty_cache()
        assert self.driver.memory_info() == (MEMORY, MEMORY)
        assert not any(self.allocator.statistics.current(metric) for metric in METRICS)


def total(blocks: list[BlockInfo]) -> int:
    """The bytes of some blocks."""
    return sum(block["size"] for block in blocks)


class SimulatedPromises(Promises):
    """The same with work on a simulated device, whose streams run in a random order."""

    work_is_done_sooner = True  # the allocator asks whether events have passed, and to ask lets the device work

    def new_driver(self) -> Any:
        self.pinned = 0
        driver = SimDriver(memory=MEMORY, order="random", seed=7)
        made = tuple(driver.stream_create() for _ in STREAMS[1:])
        assert made == STREAMS[1:]
        self.results = driver.host_alloc(1 << 16)
        self.expected: list[int] = []
        return driver

    def fill(self, held: Held) -> None:
        memory = held.memory
        self.driver.memset_async(memory.address, held.mark, memory.nbytes, memory.stream)

    def read(self, held: Held, stream: int) -> None:
        memory = held.memory
        if stream != memory.stream:
            filled = self.driver.event_create(timing=False)
            self.driver.event_record(filled, memory.stream)
            self.driver.stream_wait_event(stream, filled)
            self.driver.event_destroy(filled)
        for place in (memory.address, memory.address + memory.nbytes - 1):
            target = self.results + len(self.expected)
            self.driver.memcpy_async(target, place, 1, Copy.DEVICE_TO_HOST, stream)
            self.expected.append(held.mark)

    def wait_for(self, stream: int) -> None:
        self.driver.stream_synchronize(stream)

    def teardown(self) -> None:
        super().teardown()
        self.driver.synchronize()
        assert list(ctypes.string_at(self.results, len(self.expected))) == self.expected


@pytest.mark.parametrize(
    ("promises", "examples", "steps"),
    [pytest.param(Promises, 100, 40, id="fake"), pytest.param(SimulatedPromises, 30, 30, id="simulated")],
)
def test_any_sequence_keeps_the_promises(promises: type[Promises], examples: int, steps: int) -> None:
    run_state_machine_as_test(promises, settings=settings(steady, max_examples=examples, stateful_step_count=steps))
