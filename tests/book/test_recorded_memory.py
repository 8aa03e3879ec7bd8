"""Do the recorded programs show what the allocator did, with numbers that agree?"""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from glasstorch.devices.allocator import DeviceCachingAllocator
from glasstorch.devices.blocks import MIB, SMALL_SIZE
from glasstorch.devices.driver_sim import SimDriver
from glasstorch.devices.snapshot import device_snapshot
from workbook.book.explorables import allocator as allocator_runs
from workbook.book.explorables.allocator import SCENARIOS, steps_of
from workbook.book.explorables.recorded_memory import Step

EVERY = [(key, setting) for key, scenario in SCENARIOS.items() for setting in scenario.settings]


def steps(scenario: str, setting: str) -> list[Step]:
    return steps_of(SCENARIOS[scenario], setting)


@pytest.mark.parametrize(("scenario", "setting"), EVERY)
def test_the_numbers_agree_with_the_blocks(scenario: str, setting: str) -> None:
    for step in steps(scenario, setting):
        sizes = {"active_allocated": 0, "active_pending_free": 0, "inactive": 0}
        for segment in step["segments"]:
            position = 0
            for block in segment["blocks"]:
                assert block["at"] == position, "blocks follow each other"
                position += block["size"]
                sizes[block["state"]] += block["size"]
                assert block["asked"] <= block["size"]
                assert (block["name"] == "") == (block["state"] == "inactive")
                if block["asked"]:
                    assert (block["asked"] <= SMALL_SIZE) == (segment["pool"] == "small")
            assert position == segment["size"]
        assert step["allocated"] == sizes["active_allocated"]
        assert step["active"] == step["allocated"] + sizes["active_pending_free"]
        assert step["reserved"] == step["active"] + sizes["inactive"] <= allocator_runs.MEMORY * MIB


@pytest.mark.parametrize(("scenario", "setting"), EVERY)
def test_two_free_blocks_are_never_neighbours(scenario: str, setting: str) -> None:
    for step in steps(scenario, setting):
        for segment in step["segments"]:
            states = [block["state"] for block in segment["blocks"]]
            assert ("inactive", "inactive") not in list(itertools.pairwise(states))


def test_what_is_recorded_is_what_an_allocator_does_that_nobody_observes() -> None:
    allocator: Any = DeviceCachingAllocator(SimDriver(memory=64 * MIB), 0)
    kept = []
    for size in (3, 4, 5, 6, 7, 8):
        batch = allocator.allocate(size * MIB, 0)
        kept.append(allocator.allocate(2 * MIB, 0))
        del batch
    found = sorted(device_snapshot(allocator), key=lambda segment: -segment["allocated_size"])
    last = steps("growing", "growing")[-1]["segments"]
    assert [[block["size"] for block in segment["blocks"]] for segment in found] == [
        [block["size"] for block in segment["blocks"]] for segment in last
    ]


def test_a_loop_asks_the_driver_in_its_first_step_only_unless_it_empties_the_cache() -> None:
    asked = [step["asked"] for step in steps("training", "same")]
    assert set(asked[4:]) == {3}
    assert steps("training", "emptied")[-1]["asked"] == 7
    assert max(step["reserved"] for step in steps("training", "same")) == 42 * MIB


def test_sizes_that_grow_take_twice_the_memory_of_the_same_sizes_in_another_order() -> None:
    reserved = {setting: steps("growing", setting)[-1]["reserved"] // MIB for setting in SCENARIOS["growing"].settings}
    assert reserved == {"growing": 40, "shrinking": 20, "padded": 20}


def test_record_stream_keeps_the_block_back_and_a_wait_makes_that_needless() -> None:
    def place(setting: str, name: str) -> int | None:
        blocks = [
            block
            for step in steps("across", setting)
            for segment in step["segments"]
            for block in segment["blocks"]
            if block["name"] == name
        ]
        return blocks[0]["at"] if blocks else None

    assert place("told", "y") != place("told", "x") == place("told", "z")
    assert place("untold", "y") == place("untold", "x")
    assert place("ordered", "y") == place("ordered", "x")
    assert [steps("across", setting)[-1]["kind"] for setting in ("told", "untold", "ordered")] == [
        "alloc",
        "fail",
        "alloc",
    ]
    waits = [step for step in steps("across", "told") if step["active"] > step["allocated"]]
    assert [step["code"] for step in waits] == ["del x", "y = empty(4)", "y.zero_()", "side.synchronize()"]


def test_a_refused_request_is_tried_again_after_the_cache_is_given_back() -> None:
    free, stays = steps("full", "free"), steps("full", "stays")
    of_b = [step for step in free if step["code"].startswith("b =")]
    assert [(step["kind"], step["reserved"] // MIB) for step in of_b] == [("inner", 30), ("inner", 0), ("alloc", 40)]
    assert stays[-1]["kind"] == "fail"
    assert stays[-1]["reserved"] == 30 * MIB, "a segment of which a part is in use stays"


def test_the_data_is_the_same_each_time_and_small() -> None:
    first, second = (json.dumps(allocator_runs.data(), separators=(",", ":")) for _ in range(2))
    assert first == second
    assert len(first) < 75_000


def test_the_page_gets_every_segment_as_it_was() -> None:
    data = allocator_runs.data()
    states = list(allocator_runs.STATES)
    for scenario in data["scenarios"]:
        for setting, run in scenario["runs"].items():
            for short, step in zip(run, steps(scenario["key"], setting), strict=True):
                shown = [data["segments"][number] for number in short["segments"]]
                assert [
                    [(size, asked, states[state], name) for size, asked, state, name in segment["blocks"]]
                    for segment in shown
                ] == [
                    [(block["size"], block["asked"], block["state"], block["name"]) for block in segment["blocks"]]
                    for segment in step["segments"]
                ]


def test_the_figure_tells_each_block() -> None:
    figure = allocator_runs.figure()
    assert "out1, 2 MiB, in use" in figure.description
    assert "14 MiB allocated, 40 MiB reserved" in figure.description
    assert figure.svg() == allocator_runs.figure().svg()
