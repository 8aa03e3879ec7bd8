"""Which steps does a schedule choose, and what does a profile do from one to the next?"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.profiler import KinetoStepTracker
from tests.profiler.programs import profiler_of

Require = Callable[[str], Any]
ACTIONS = ("NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE")


@pytest.mark.parametrize("options", [*itertools.product((0, 2), (1, 2), (1, 3), (0, 2), (0, 3), (0, 1))], ids=str)
def test_a_schedule_is_pytorchs(require: Require, options: tuple[int, ...]) -> None:
    names = ("wait", "warmup", "active", "repeat", "skip_first", "skip_first_wait")
    ours, theirs = (
        profiler_of(library).schedule(**dict(zip(names, options, strict=True)))
        for library in (glasstorch, require("torch"))
    )
    assert [ours(step).name for step in range(30)] == [theirs(step).name for step in range(30)]


def test_a_schedule_that_cannot_be_is_refused(torch: Any) -> None:
    profiler = profiler_of(torch)
    with pytest.raises(AssertionError, match=r"active=0 \(need > 0\)"):
        profiler.schedule(wait=1, warmup=1, active=0)
    with pytest.raises(AssertionError, match=r"wait=-1 \(need >= 0\)"):
        profiler.schedule(wait=-1, warmup=1, active=1)
    with pytest.raises(AssertionError, match=r"Step must be non-negative. Got -1"):
        profiler.schedule(wait=1, warmup=1, active=1)(-1)
    with pytest.warns(UserWarning, match="won't be using warmup"):
        profiler.schedule(wait=1, warmup=0, active=1)


def carried_out(library: Any, first: str, second: str) -> tuple[list[str], list[str]]:
    """What a profile does, and warns of, from one action to the next, and at its end."""
    profiler = profiler_of(library)
    done: list[str] = []

    class Told(profiler.profile):  # type: ignore[name-defined, misc]
        def prepare_trace(self) -> None:
            done.append("prepare")

        def start_trace(self) -> None:
            done.append("start")

        def stop_trace(self) -> None:
            done.append("stop")

    actions = [profiler.ProfilerAction[name] for name in (first, second)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with Told(
            schedule=lambda step: actions[min(step, 1)], on_trace_ready=lambda _: done.append("ready")
        ) as profile:
            done.append("| step")
            profile.step()
            done.append("| end")
    return done, [str(warning.message) for warning in caught]


@pytest.mark.parametrize(("first", "second"), [*itertools.product(ACTIONS, ACTIONS)])
def test_from_one_action_to_the_next_a_profile_does_what_pytorchs_does(
    require: Require, first: str, second: str
) -> None:
    ours, theirs = (carried_out(library, first, second) for library in (glasstorch, require("torch")))
    if (first, second) == ("RECORD", "WARMUP"):  # a schedule that both warn of; PyTorch then starts unprepared
        done = ours[0]
        done.remove("prepare")  # the first
        assert done.pop(done.index("| end") - 1) == "prepare"
        theirs[0].remove("prepare")
    assert ours == theirs


def test_a_schedule_must_not_return_the_action_that_is_pytorchs_own(torch: Any) -> None:
    profiler = profiler_of(torch)
    stopped, none = profiler.ProfilerAction.DEVICE_STOPPED, profiler.ProfilerAction.NONE
    with pytest.raises(ValueError, match="must not be returned by a user-provided schedule"):
        profiler.profile(schedule=lambda step: stopped)
    with profiler.profile(schedule=lambda step: stopped if step else none) as profile:
        with pytest.raises(ValueError, match="must not be returned by a user-provided schedule"):
            profile.step()
        assert profile.step_num == 0


def test_the_step_of_a_program_is_the_highest_that_somebody_counts(torch: Any) -> None:
    tracker = profiler_of(torch).KinetoStepTracker
    before = tracker.current_step()
    tracker.init_step_count("one")
    tracker.init_step_count("other")
    assert [tracker.increment_step(name) - before for name in ("one", "other", "other", "one")] == [1, 1, 2, 2]
    tracker._step_dict["one"] += 5
    with pytest.warns(UserWarning, match="increased more than 1"):
        tracker.increment_step("one")
    assert tracker.erase_step_count("one")
    assert tracker.erase_step_count("other")
    assert not tracker.erase_step_count("one")


def test_a_profile_counts_its_steps_only_while_it_is_entered() -> None:
    with glasstorch.profiler.profile():
        assert "ProfilerStep" in KinetoStepTracker._step_dict
    assert "ProfilerStep" not in KinetoStepTracker._step_dict
