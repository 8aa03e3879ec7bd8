"""Which steps of a program are recorded?

Mirrors: torch/profiler/profiler.py (ProfilerAction, schedule), torch/autograd/profiler.py (KinetoStepTracker)
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable
from enum import Enum
from typing import ClassVar

from glasstorch.core.errors import ArgumentValueError


class ProfilerAction(Enum):
    """What a profile does during a step. DEVICE_STOPPED is PyTorch's own; a schedule must not return it."""

    NONE = 0
    WARMUP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3
    DEVICE_STOPPED = 4


Schedule = Callable[[int], ProfilerAction]


def schedule(
    *, wait: int, warmup: int, active: int, repeat: int = 0, skip_first: int = 0, skip_first_wait: int = 0
) -> Schedule:
    """A function from a step's number to what is done: cycles of `wait`, `warmup` and `active` steps.

    `skip_first` steps come before the first cycle; there are `repeat` cycles, or no end of them for 0. With
    `skip_first_wait` the first cycle does not wait. The last active step of each cycle saves what was recorded.
    """
    if min(wait, warmup, repeat, skip_first) < 0 or active <= 0:
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} (need >= 0), "
            f"active={active} (need > 0), repeat={repeat} (need >= 0), skip_first={skip_first} (need >= 0)."
        )
    if warmup == 0:
        warnings.warn("Profiler won't be using warmup, this can skew profiler results", stacklevel=2)
    length = wait + warmup + active

    def action(step: int) -> ProfilerAction:
        assert step >= 0, f"Step must be non-negative. Got {step}."
        if step < skip_first:
            return ProfilerAction.NONE
        cycle, position = divmod(step - skip_first + (wait if skip_first_wait else 0), length)
        if 0 < repeat <= cycle or position < wait:
            return ProfilerAction.NONE
        if position < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD_AND_SAVE if position == length - 1 else ProfilerAction.RECORD

    return action


def every_step(step: int) -> ProfilerAction:
    """The schedule of a profile that was given none."""
    return ProfilerAction.RECORD


def checked_action(action: ProfilerAction) -> ProfilerAction:
    """What a schedule returned; ArgumentValueError for the action that it must not return."""
    if action is ProfilerAction.DEVICE_STOPPED:
        raise ArgumentValueError(
            "ProfilerAction.DEVICE_STOPPED is set internally by the profiler and must not be returned by a "
            "user-provided schedule"
        )
    return action


class KinetoStepTracker:
    """The number of the program's step, where several count: the highest of what they say.

    A requester is a name, such as that of a profile or of an optimizer.
    """

    _current_step: ClassVar[int] = 0
    _step_dict: ClassVar[defaultdict[str, int]] = defaultdict(int)

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """Let a requester count from the current step on."""
        cls._step_dict[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """Forget a requester; whether there was one of that name."""
        return cls._step_dict.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """A requester's next step; the number that results for the program."""
        if requester not in cls._step_dict:
            cls.init_step_count(requester)
        cls._step_dict[requester] += 1
        highest = max(cls._step_dict.values())
        if highest > cls._current_step + 1:
            warnings.warn(
                "Profiler step count has increased more than 1 - "
                f"current_step = {cls._current_step} step dict =  {cls._step_dict}",
                stacklevel=2,
            )
        cls._current_step = max(cls._current_step, highest)
        return cls._current_step

    @classmethod
    def current_step(cls) -> int:
        """The number of the program's step."""
        return cls._current_step
