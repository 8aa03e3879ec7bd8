"""How is a profile written as a file that Perfetto and chrome://tracing open?

Mirrors: torch/profiler/_chrome_trace_export.py, libkineto's output_json.cpp (ChromeTraceLogger),
    torch/csrc/autograd/profiler_kineto.cpp (the arguments of events), torch/csrc/profiler/collection.cpp (fwdbwd flows)
Differs: there is one process and no device timeline: the time of a device is in the table. Times begin at the
    profile's own start of the hour, not of three months; `baseTimeNanoseconds` says which.

# Note [The trace-event format]
A file is one JSON object whose `traceEvents` is a list. `ph` says what an event is: "X" has a beginning and a duration,
"M" names a process or a thread, "i" is a moment, and "s" and "f" are the ends of an arrow. `ts` and `dur` are
microseconds. The format is documented in "Trace Event Format" (Duca and Sinclair), and read by Perfetto.
"""

from __future__ import annotations

import gzip
import json
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any, Final, cast

from glasstorch.dispatch.record import BACKWARD_FUNCTION, USER_SCOPE, Record, native_id
from glasstorch.profiler.inputs import described
from glasstorch.profiler.memory import MemoryEvent
from glasstorch.profiler.python_calls import PythonCall
from glasstorch.profiler.results import MEMORY_EVENT_NAME, Around, module_hierarchy
from glasstorch.profiler.session import Recording

Event = dict[str, Any]
HOUR: Final = 3_600_000_000_000  # in nanoseconds
LAST: Final = 0x20000000  # where the row with the profile's own span stands


def export(kept: Recording, path: str, metadata: Mapping[str, Any]) -> None:
    """Write a recording; gzip if the path ends in .gz. A file that was there is replaced when the new one is whole."""
    whole = {
        "schemaVersion": 1,
        "deviceProperties": [],
        **metadata,
        "host_name": socket.gethostname(),
        "displayTimeUnit": "ms",
        "baseTimeNanoseconds": base_time(kept),
        "traceEvents": list(trace_events(kept)),
        "traceName": path,
    }
    unfinished = f"{path}.{os.getpid()}.unfinished"
    try:
        with _opened(unfinished, path.endswith(".gz")) as file:
            json.dump(whole, file, indent=1)
        os.replace(unfinished, path)
    finally:
        if os.path.exists(unfinished):
            os.remove(unfinished)


def _opened(path: str, compressed: bool) -> IO[str]:
    if compressed:
        return cast(IO[str], gzip.open(path, "wt", encoding="utf-8"))
    return open(path, "w", encoding="utf-8")


def base_time(kept: Recording) -> int:
    """From when the file's times count, in nanoseconds since 1970."""
    return (kept.start + kept.epoch) // HOUR * HOUR


def trace_events(kept: Recording) -> Iterator[Event]:
    """The events of the file; see Note [The trace-event format]."""
    pid = os.getpid()
    offset = kept.epoch - base_time(kept)

    def at(time: int) -> float:
        return (time + offset) / 1000

    def lasting(start: int, end: int) -> Event:
        return {"ts": at(start), "dur": (max(end, start) - start) / 1000}

    yield from _names(kept, pid, at(kept.start))
    around = Around(kept.python_calls)
    flows = forward_of(kept.records)
    begins = {id(forward): number for number, (forward, _) in enumerate(flows, 1)}
    ends = {id(backward): number for number, (_, backward) in enumerate(flows, 1)}
    for index, record in enumerate(kept.records):
        where = {"pid": pid, "tid": native_id(record.thread)}
        yield {
            "ph": "X",
            "cat": "user_annotation" if record.scope == USER_SCOPE else "cpu_op",
            "name": record.name,
            **where,
            **lasting(record.start, record.end),
            "args": _arguments(kept, record, index, around),
        }
        for ends_of, phase in ((begins, "s"), (ends, "f")):
            if number := ends_of.get(id(record)):
                flow = {"ph": phase, "id": number, **where, "ts": at(record.start), "cat": "fwdbwd", "name": "fwdbwd"}
                yield flow | ({"bp": "e"} if phase == "f" else {})
    index = len(kept.records)
    for call in kept.python_calls:
        where = {"pid": pid, "tid": native_id(call.thread)}
        yield {"ph": "X", "cat": "python_function", "name": call.name, **where, **lasting(call.start, call.end)} | {
            "args": _of_call(call, index)
        }
        index += 1
    for event in kept.memory:
        yield {
            "ph": "i",
            "cat": "cpu_instant_event",
            "s": "t",
            "name": MEMORY_EVENT_NAME,
            "pid": pid,
            "tid": native_id(event.thread),
            "ts": at(event.time),
            "args": _of_memory(event, index),
        }
        index += 1
    span = {"pid": "Spans", "tid": "PyTorch Profiler"}
    yield {"ph": "X", "cat": "Trace", "name": "PyTorch Profiler (0)", **span, **lasting(kept.start, kept.end)} | {
        "args": {"Op count": 0}
    }
    yield _metadata("process_sort_index", "Spans", 0, at(kept.start), "sort_index", LAST)
    yield _moment("Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler", at(kept.start))
    yield _moment("Record Window End", "", "", at(kept.end))


def _metadata(name: str, pid: Any, tid: int, ts: float, key: str, value: Any) -> Event:
    return {"ph": "M", "name": name, "ts": ts, "pid": pid, "tid": tid, "args": {key: value}}


def _moment(name: str, pid: str, tid: str, ts: float) -> Event:
    return {"ph": "i", "s": "g", "name": name, "pid": pid, "tid": tid, "ts": ts}


def _names(kept: Recording, pid: int, ts: float) -> Iterator[Event]:
    """What the process and its threads are called, and in which order they stand."""
    yield _metadata("process_name", pid, 0, ts, "name", "python")
    yield _metadata("process_labels", pid, 0, ts, "labels", "CPU")
    yield _metadata("process_sort_index", pid, 0, ts, "sort_index", pid)
    threads: dict[int, None] = dict.fromkeys(record.thread for record in kept.records)
    threads |= dict.fromkeys(call.thread for call in kept.python_calls)
    threads |= dict.fromkeys(event.thread for event in kept.memory)
    for thread in threads:
        native = native_id(thread)
        yield _metadata("thread_name", pid, native, ts, "name", f"thread {native} (python)")
        yield _metadata("thread_sort_index", pid, native, ts, "sort_index", native)


def _arguments(kept: Recording, record: Record, index: int, around: Around) -> Event:
    shown: Event = {"External id": index + 1, "Record function id": 0}
    if record.detail is not None:
        inputs = described(record.detail)
        shown["Concrete Inputs"] = [written(value) for value in inputs.values]
        shown["Input type"] = inputs.types
        shown["Input Strides"] = inputs.strides
        shown["Input Dims"] = inputs.sizes
    if record.sequence >= 0:
        shown["Sequence number"] = record.sequence
        shown["Fwd thread id"] = record.forward_thread
    if kept.settings.modules and (hierarchy := module_hierarchy(around, record.start, record.thread)):
        shown["Module Hierarchy"] = hierarchy
    return shown | {"Ev Idx": index}


def written(value: Any) -> str:
    """A value of an argument as text, as C++ prints it; empty for None."""
    if value is None:
        return ""
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return f"{value:.17g}" if isinstance(value, float) else str(value)


def _of_call(call: PythonCall, index: int) -> Event:
    shown: Event = {"Python parent id": None if call.parent is None else call.parent.number, "Python id": call.number}
    return shown | ({} if call.module is None else {"Python module id": call.module}) | {"Ev Idx": index}


def _of_memory(event: MemoryEvent, index: int) -> Event:
    return {
        "Total Reserved": 0,
        "Total Allocated": event.allocated,
        "Bytes": event.nbytes,
        "Device Id": event.device_index,
        "Device Type": int(event.device),
        "Addr": event.address,
        "Ev Idx": index,
    }


def forward_of(records: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Pairs of a forward call and the backward step that it led to, in the order of the steps.

    A call is in one pair at most: where its graph was walked twice, in that of the first step.
    """
    made: dict[tuple[int, int], Record] = {}
    for record in records:
        if record.sequence >= 0 and not record.forward_thread:
            made[record.thread, record.sequence] = record
    pairs = []
    for record in records:
        if record.scope == BACKWARD_FUNCTION:
            forward = made.pop((record.forward_thread, record.sequence), None)
            if forward is not None:
                pairs.append((forward, record))
    return pairs
