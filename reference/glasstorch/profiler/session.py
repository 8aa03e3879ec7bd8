"""How does a profile begin and end, and what has it kept?

Mirrors: torch/csrc/autograd/profiler_kineto.cpp (prepareProfiler, enableProfiler, disableProfiler, ProfilerResult)
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import upcoming_sequence_nr
from glasstorch.core.errors import ArgumentError
from glasstorch.devices.stream import Event
from glasstorch.dispatch import record as recording
from glasstorch.dispatch.record import Record, Recorder
from glasstorch.profiler.inputs import capture
from glasstorch.profiler.memory import MemoryEvent, MemoryWatch
from glasstorch.profiler.python_calls import PythonCall, PythonCalls


@dataclass(frozen=True, slots=True)
class Settings:
    """What is to be recorded besides the calls of operators and their times."""

    cpu: bool = True
    cuda: bool = False
    shapes: bool = False
    memory: bool = False
    stack: bool = False
    flops: bool = False
    modules: bool = False


@dataclass(slots=True)
class Recording:
    """All that a profile kept, in nanoseconds of `time.perf_counter_ns`; `epoch` turns them into time since 1970."""

    settings: Settings
    start: int
    end: int = 0
    epoch: int = 0
    records: list[Record] = field(default_factory=list)
    memory: list[MemoryEvent] = field(default_factory=list)
    python_calls: list[PythonCall] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


class Session:
    """A profile that is on, in the context that started it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.kept = Recording(settings, 0)
        self.memory = MemoryWatch() if settings.memory else None
        self.calls = PythonCalls(everything=settings.stack) if settings.stack or settings.modules else None
        self.recorder = Recorder(
            _upcoming,
            capture if settings.shapes or settings.flops else None,
            None if self.memory is None else self.memory.results,
            *((_event_pair, _end_pair) if settings.cuda else ()),
        )

    def start(self) -> None:
        """Record from now on; ArgumentError while another profile records in this context."""
        if recording.recorder.get() is not None:
            raise ArgumentError(
                "Can't enable profiler: a profile is recording already in this context, and profiles do not nest; "
                "leave the other first"
            )
        self.kept.start = time.perf_counter_ns()
        self.kept.epoch = time.time_ns() - self.kept.start
        if self.settings.cpu:
            recording.start(self.recorder)
        if self.calls is not None:
            self.calls.start()

    def stop(self) -> Recording:
        """Record no more, and hand out what was kept."""
        if self.calls is not None:
            self.calls.stop()
        recording.stop()
        self.kept.end = time.perf_counter_ns()
        self.kept.records = self.recorder.finished(self.kept.end)
        if self.memory is not None:
            self.memory.watching = False
            self.kept.memory = self.memory.events
        if self.calls is not None:
            self.kept.python_calls = self.calls.finished(self.kept.end)
        return self.kept

    def pause(self) -> None:
        """Record no calls until `resume`."""
        recording.stop()

    def resume(self) -> None:
        recording.start(self.recorder)


def _upcoming() -> int:
    """The number of the node that the next recorded call would make; -1 where gradients are not recorded."""
    return upcoming_sequence_nr() if grad_mode.get() else -1


def _event_pair() -> tuple[Event, Event]:
    """Two events of the current stream, the first of them recorded."""
    pair = Event(enable_timing=True), Event(enable_timing=True)
    pair[0].record()
    return pair


def _end_pair(pair: tuple[Event, Event]) -> None:
    pair[1].record()
