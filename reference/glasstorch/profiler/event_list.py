"""How do events become a tree, averages and a table?

Mirrors: torch/autograd/profiler_util.py (EventList, MemRecordsAcc)
"""

from __future__ import annotations

import bisect
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from glasstorch.core.errors import ArgumentValueError
from glasstorch.dispatch.record import BACKWARD_FUNCTION
from glasstorch.profiler.average import FunctionEventAvg
from glasstorch.profiler.event import FunctionEvent
from glasstorch.profiler.kinds import DeviceType
from glasstorch.profiler.table import build_table

STACK_METRICS: Final = (
    "self_cpu_time_total",
    "self_cuda_time_total",
    "self_xpu_time_total",
    "self_privateuse1_time_total",
)


def attribute(name: str) -> str:
    """The attribute behind a name that says which device: `self_cuda_time_total` is `self_device_time_total`."""
    return name.replace("cuda", "device").replace("xpu", "device").replace("privateuse1", "device")


class EventList(list[Any]):
    """Events (FunctionEvent), or sums over them (FunctionEventAvg)."""

    def __init__(
        self,
        events: Iterable[Any] = (),
        use_device: str | None = None,
        profile_memory: bool = False,
        with_flops: bool = False,
        device_note: str = "",
    ) -> None:
        super().__init__(events)
        self._device_note = device_note  # what the table says of the device, if it is no card
        self._use_device = use_device
        self._profile_memory = profile_memory
        self._with_flops = with_flops
        self._tree_built = False

    def __str__(self) -> str:
        return self.table()

    # The tree ---------------------------------------------------------------------------------------------------

    def _build_tree(self) -> None:
        """Find each event's parent, drop doubles, and give backward events the stack of their forward ones."""
        by_thread = defaultdict(list)
        for event in self:
            if not event.is_async and event.device_type == DeviceType.CPU:
                by_thread[event.thread, event.node_id].append(event)
        for events in by_thread.values():
            _nest(events)
        while doubles := {id(event) for event in self if _is_double(event)}:
            for event in self:
                if id(event) in doubles:
                    _lift(event)
            self[:] = [event for event in self if id(event) not in doubles]
        self._set_backward_stacktraces()
        self._tree_built = True

    def _set_backward_stacktraces(self) -> None:
        forward: dict[tuple[int, int | None], Any] = {}
        for event in self:
            if event.stack is not None and _node_around(event) is None:
                forward.setdefault((event.sequence_nr, event.thread), event.stack)
        for event in self:
            node = _node_around(event)
            if node is not None:
                event.stack = forward.get((node.sequence_nr, node.fwd_thread), [])

    @property
    def self_cpu_time_total(self) -> float:
        """The time on the CPU of all events together, in microseconds."""
        return float(sum(event.self_cpu_time_total for event in self))

    # What is made of it -----------------------------------------------------------------------------------------

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int | None = 75,
        max_name_column_width: int | None = 55,
        max_shapes_column_width: int | None = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as text, one row for each.

        `sort_by` is an attribute such as `cpu_time_total` or `self_cpu_memory_usage`, largest first; by default the
        order is kept. `row_limit=-1` shows all. `time_unit` is "s", "ms" or "us"; by default each time has its own.
        """
        rows: Sequence[Any] = self
        if sort_by is not None:
            by = attribute(sort_by)
            rows = sorted(self, key=lambda event: getattr(event, by), reverse=True)
        return build_table(
            rows,
            use_device=self[0].use_device if self else None,
            row_limit=row_limit,
            max_src_column_width=max_src_column_width,
            max_name_column_width=max_name_column_width,
            max_shapes_column_width=max_shapes_column_width,
            header=header,
            profile_memory=self._profile_memory,
            with_flops=self._with_flops,
            top_level_events_only=top_level_events_only,
            time_unit=time_unit,
            device_note=self._device_note,
        )

    def key_averages(
        self, group_by_input_shapes: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> EventList:
        """The sums over events of the same name; of the same shapes, calls around them, or overload too, if asked."""
        assert self._tree_built, "key_averages: the events' tree is not built; averages are not averaged again"
        groups: dict[tuple[str, ...], FunctionEventAvg] = defaultdict(FunctionEventAvg)
        for event in self:
            key = [event.key, event.node_id, event.device_type, event.is_legacy, event.is_user_annotation]
            if group_by_overload_name:
                key.append(event.overload_name)
            if group_by_input_shapes:
                key.append(event.input_shapes)
            if group_by_stack_n > 0:
                key += event.stack[:group_by_stack_n]
            groups[tuple(map(str, key))].add(event)
        averages = EventList(
            groups.values(), self._use_device, self._profile_memory, self._with_flops, self._device_note
        )
        for average in averages:
            average.stack = average.stack[:group_by_stack_n]
            if not group_by_input_shapes:
                average.input_shapes = ""
            if not group_by_overload_name:
                average.overload_name = ""
        return averages

    def total_average(self) -> FunctionEventAvg:
        """The sums over all events, under the name Total."""
        total = FunctionEventAvg()
        for event in self:
            total.add(event)
            total.key = None
        total.key = "Total"
        return total

    def supported_export_stacks_metrics(self) -> list[str]:
        """What `export_stacks` can weigh stacks by."""
        return list(STACK_METRICS)

    def export_stacks(self, path: str, metric: str) -> None:
        """Write the calls around each event, outermost first, and its microseconds: what a flame graph is drawn from.

        ArgumentValueError for a metric that `supported_export_stacks_metrics` does not list.
        """
        if metric not in STACK_METRICS:
            raise ArgumentValueError(f"metric should be one of: {list(STACK_METRICS)}; got {metric!r}")
        by = attribute(metric)
        lines = []
        for event in self:
            weight = int(getattr(event, by)) if event.stack else 0
            if weight > 0:
                calls = [entry.translate(UNDERSCORES) for entry in reversed(event.stack)]
                lines.append(f"{';'.join(calls)} {weight}\n")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(lines)

    def export_chrome_trace(self, path: str) -> None:
        """Write the events for chrome://tracing, without what a profile's own export adds: times and names."""
        device = self._use_device or "cuda"
        written: list[dict[str, Any]] = []
        flows = 0
        for event in self:
            if event.trace_name is None:
                continue
            tid = f" node_id:{event.node_id}, thread_id:{event.thread} " if event.is_remote else event.thread
            place = {"ts": event.time_range.start, "tid": tid, "pid": "CPU functions", "args": {}}
            duration = event.time_range.elapsed_us()
            written.append({"name": event.trace_name, "ph": "X", "dur": duration, **place})
            for _ in event.kernels:
                written.append({"name": event.trace_name, "ph": "s", "id": flows, "cat": f"cpu_to_{device}", **place})
                flows += 1
        with open(path, "w", encoding="utf-8") as file:
            json.dump(written, file)


UNDERSCORES: Final = str.maketrans(" ;\t\n", "____")


def _nest(events: list[FunctionEvent]) -> None:
    """Make each event a child of the shortest one of its thread that its time lies in."""
    around: list[FunctionEvent] = []
    for event in sorted(events, key=lambda event: (event.time_range.start, -event.time_range.end)):
        time = event.time_range
        while around and (time.start >= around[-1].time_range.end or time.end > around[-1].time_range.end):
            around.pop()
        if around:
            around[-1].append_cpu_child(event)
            event.set_cpu_parent(around[-1])
        around.append(event)


def _is_double(event: FunctionEvent) -> bool:
    """Whether an event is the only child of one of the same name."""
    parent = event.cpu_parent
    return parent is not None and parent.name == event.name and len(parent.cpu_children) == 1


def _lift(event: FunctionEvent) -> None:
    """Let the parent of a double take its place."""
    parent = event.cpu_parent
    assert parent is not None
    parent.cpu_children, parent.kernels = event.cpu_children, event.kernels
    for child in event.cpu_children:
        child.cpu_parent = parent


def _node_around(event: FunctionEvent | None) -> FunctionEvent | None:
    """The backward step that an event is, or lies in."""
    while event is not None and event.scope != BACKWARD_FUNCTION:
        event = event.cpu_parent
    return event


class MemRecordsAcc:
    """Finds which of many records of memory lie between two times; each is a list that begins with the record."""

    def __init__(self, mem_records: Sequence[Any]) -> None:
        self._records = sorted(mem_records, key=lambda record: record[0].start_ns())
        self._starts = [record[0].start_ns() for record in self._records]

    def in_interval(self, start_ns: int, end_ns: int) -> Iterator[Any]:
        """The records between two times, both included."""
        first, last = bisect.bisect_left(self._starts, start_ns), bisect.bisect_right(self._starts, end_ns)
        yield from self._records[first:last]
