"""How do the records of a profile become events?

Mirrors: torch/autograd/profiler.py (profile._parse_kineto_results)
Differs: memory is a record of its own, not an event with a reserved name, until it is shown.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Final

from glasstorch.dispatch.record import USER_SCOPE, Record
from glasstorch.profiler.event import FunctionEvent
from glasstorch.profiler.flops import flops
from glasstorch.profiler.inputs import NOTHING, described
from glasstorch.profiler.kinds import DeviceType
from glasstorch.profiler.memory import MemoryEvent
from glasstorch.profiler.python_calls import PythonCall
from glasstorch.profiler.session import Recording

MEMORY_EVENT_NAME: Final = "[memory]"
OUT_OF_MEMORY_EVENT_NAME: Final = "[OutOfMemory]"
STEP: Final = "ProfilerStep#"


def grouped_name(name: str) -> str:
    """The name under which events are summed up: the steps of a schedule have one in common."""
    return "ProfilerStep*" if name.startswith(STEP) else name


class Memory:
    """The events of memory in the order of time, and which of them lie inside some event."""

    def __init__(self, events: Sequence[MemoryEvent]) -> None:
        self.events = events
        self.times = [event.time for event in events]
        self.inside: set[int] = set()

    def between(self, start: int, end: int) -> tuple[int, int]:
        """Bytes taken on the CPU, and on a device, between two times."""
        first, last = bisect.bisect_left(self.times, start), bisect.bisect_right(self.times, end)
        self.inside.update(range(first, last))
        on_cpu = sum(event.nbytes for event in self.events[first:last] if event.device == DeviceType.CPU)
        return on_cpu, sum(event.nbytes for event in self.events[first:last]) - on_cpu

    def outside(self) -> Iterator[MemoryEvent]:
        """Those inside no event."""
        yield from (event for i, event in enumerate(self.events) if i not in self.inside)


class Parser:
    """Makes events of one recording, for at most some seconds."""

    def __init__(self, kept: Recording, use_device: str | None, verbose: bool, overloads: bool) -> None:
        self.kept = kept
        self.use_device = use_device
        self.verbose = verbose
        self.overloads = overloads
        self.memory = Memory(kept.memory)
        self.around = Around(kept.python_calls)

    def events(self, limit: float | None = None) -> list[FunctionEvent]:
        """All events, by the time at which they began."""
        began = perf_counter()
        made: list[FunctionEvent] = []

        def in_time() -> bool:
            return limit is None or perf_counter() - began < limit

        for number, record in enumerate(self.kept.records, 1):
            if not in_time():
                return made
            made.append(self._of_record(number, record))
        for call in self.kept.python_calls:
            if not in_time():
                return made
            made.append(self._of_call(call))
        for number, event in enumerate(self.memory.outside(), len(made) + 1):
            made.append(self._of_memory(number, event))
        made.sort(key=lambda event: (event.time_range.start, -event.time_range.end))
        return made

    def _microseconds(self, time: int) -> float:
        return (time - self.kept.start) / 1000

    def _of_record(self, number: int, record: Record) -> FunctionEvent:
        on_cpu, on_device = self.memory.between(record.start, record.end)
        inputs = NOTHING if record.detail is None else described(record.detail)
        event = FunctionEvent(
            id=number,
            name=grouped_name(record.name),
            overload_name=record.overload if self.overloads else "",
            trace_name=record.name,
            thread=record.thread,
            start_us=self._microseconds(record.start),
            end_us=self._microseconds(record.end),
            fwd_thread=record.forward_thread,
            input_shapes=inputs.shapes(),
            concrete_inputs=inputs.values,
            kwinputs={},
            stack=self.around.stack(record.start, record.thread) if self.verbose else [],
            scope=record.scope,
            use_device=self.use_device,
            cpu_memory_usage=on_cpu,
            device_memory_usage=on_device,
            sequence_nr=record.sequence,
            flops=flops(record.name, record.detail) if record.detail and self.kept.settings.flops else 0,
            is_user_annotation=record.scope == USER_SCOPE,
            activity_type="user_annotation" if record.scope == USER_SCOPE else "cpu_op",
            structured_input_shapes=inputs.sizes,
            structured_input_strides=inputs.strides,
            input_dtypes=inputs.types,
        )
        if record.device is not None:
            before, after = record.device
            milliseconds = before.elapsed_time(after)
            if milliseconds > 0:
                event.append_kernel(event.name, event.device_index, milliseconds * 1000)
                event.is_legacy = True
        return event

    def _of_call(self, call: PythonCall) -> FunctionEvent:
        on_cpu, on_device = self.memory.between(call.start, call.end)
        return FunctionEvent(
            id=0,
            name=call.name,
            overload_name="",
            trace_name=call.name,
            thread=call.thread,
            start_us=self._microseconds(call.start),
            end_us=self._microseconds(call.end),
            fwd_thread=0,
            input_shapes=[],
            concrete_inputs=[],
            kwinputs={},
            stack=call.stack() if self.verbose else [],
            use_device=self.use_device,
            cpu_memory_usage=on_cpu,
            device_memory_usage=on_device,
            is_python_function=True,
            activity_type="python_function",
            flops=0,
            python_id=call.number,
            python_parent_id=0 if call.parent is None else call.parent.number,
            python_module_id=-1 if call.module is None else call.module,
        )

    def _of_memory(self, number: int, event: MemoryEvent) -> FunctionEvent:
        at = self._microseconds(event.time)
        on_cpu = event.device == DeviceType.CPU
        return FunctionEvent(
            id=number,
            name=MEMORY_EVENT_NAME,
            overload_name="",
            thread=event.thread,
            start_us=at,
            end_us=at,
            fwd_thread=event.thread,
            input_shapes=[],
            stack=[],
            use_device=self.use_device,
            cpu_memory_usage=event.nbytes if on_cpu else 0,
            device_memory_usage=0 if on_cpu else event.nbytes,
        )


class Around:
    """Which Python calls were running at a time."""

    def __init__(self, calls: Sequence[PythonCall]) -> None:
        self.calls = calls
        self.starts = [call.start for call in calls]

    def innermost(self, time: int, thread: int) -> PythonCall | None:
        """The last call that began before a time and had not returned."""
        last = bisect.bisect_right(self.starts, time) - 1
        call: PythonCall | None = self.calls[last] if last >= 0 else None
        while call is not None and (call.end < time or call.thread != thread):
            call = call.parent
        return call

    def stack(self, time: int, thread: int) -> list[str]:
        call = self.innermost(time, thread)
        return [] if call is None else [call.name, *call.stack()]


def module_hierarchy(around: Around, time: int, thread: int) -> str:
    """The modules that were running at a time, outermost first, joined by dots."""
    names: list[str] = []
    call = around.innermost(time, thread)
    while call is not None:
        if call.module is not None:
            names.append(call.name.removeprefix("nn.Module: "))
        call = call.parent
    return ".".join(reversed(names))
