"""How are events written as a table?

Mirrors: torch/autograd/profiler_util.py (_build_table)
Differs: each column is a value that says its heading and how a cell is read. In a table with both stacks and
    operations PyTorch writes these two cells under each other's heading.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from glasstorch.core.errors import ArgumentError
from glasstorch.profiler.kinds import DeviceType
from glasstorch.profiler.units import format_memory, format_share, format_time

WIDTH: Final = 12
FLOPS_UNITS: Final = ("FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs")
ON_A_DEVICE: Final = (DeviceType.CUDA, DeviceType.PrivateUse1, DeviceType.MTIA, DeviceType.XPU)


class Column(NamedTuple):
    """One column: its heading, what it shows of an event, its width, and on which side the text stands."""

    heading: str
    cell: Callable[[Any], object]
    width: int = WIDTH
    side: str = ">"

    def write(self, text: object) -> str:
        return f"{text!s:{self.side}{self.width}}  "


def build_table(
    events: Sequence[Any],
    *,
    use_device: str | None,
    row_limit: int,
    max_src_column_width: int | None,
    max_name_column_width: int | None,
    max_shapes_column_width: int | None,
    header: str | None,
    profile_memory: bool,
    with_flops: bool,
    top_level_events_only: bool,
    time_unit: str | None,
    device_note: str = "",
) -> str:
    """The table of some events in their order; empty for none."""
    if not events:
        return ""
    on_device = any(event.self_device_time_total > 0 for event in events)
    if on_device and not use_device:
        raise ArgumentError("table: the events have times on a device, and none says on which (use_device is None)")
    cpu_total = sum(event.self_cpu_time_total for event in events)
    device_total = sum(event.self_device_time_total for event in events if _counts_on_device(event))
    named = [*_names(events, max_name_column_width), *_cpu_times(cpu_total, time_unit)]
    if on_device:
        named += _device_times(str(use_device).upper(), device_total, time_unit)
    if profile_memory:
        named += _memory("CPU", "cpu")
        if use_device and any(event.self_device_memory_usage > 0 for event in events):
            named += _memory(use_device.upper(), "device")
    named.append(Column("# of Calls", lambda event: event.count))
    if any(event.node_id != -1 for event in events):
        named.append(Column("Node ID", lambda event: event.node_id))
    named += _shapes(events, max_shapes_column_width)
    source = _source(events, max_src_column_width)
    columns = [*named, *source, *(_flops(events) if with_flops else ())]
    empty = [""] * len(named)

    rule = "".join(f"{'-' * column.width}  " for column in columns)
    lines = []
    if header is not None:
        lines += ["=" * (len(rule) - 2), header]
    if top_level_events_only:
        lines += ["=" * (len(rule) - 2), "This report only display top-level ops statistics"]
    lines += [rule, _row(columns, [column.heading for column in columns]), rule]
    shown = [event for event in events if not (top_level_events_only and event.cpu_parent is not None)]
    for event in shown if row_limit < 0 else shown[:row_limit]:
        lines.append(_row(columns, [column.cell(event) for column in columns]))
        if source:
            behind = [""] * (len(columns) - len(named) - 1)
            for entry in (*(event.stack or ())[1:], ""):
                lines.append(_row(columns, [*empty, _end_of(entry, source[0].width), *behind]))
    lines += [rule, f"Self CPU time total: {format_time(cpu_total, time_unit)}"]
    if on_device:
        lines.append(f"Self {str(use_device).upper()} time total: {format_time(device_total, time_unit)}{device_note}")
    return "".join(f"{line}\n" for line in lines)


def _row(columns: Sequence[Column], texts: Sequence[object]) -> str:
    return "".join(column.write(text) for column, text in zip(columns, texts, strict=True))


def _counts_on_device(event: Any) -> bool:
    if event.device_type == DeviceType.CPU:
        return bool(event.is_legacy)
    return event.device_type in ON_A_DEVICE and not event.is_user_annotation


def _names(events: Sequence[Any], limit: int | None) -> Iterator[Column]:
    width = _narrowed(max(len(event.key) for event in events) + 4, limit)

    def cut(text: str) -> str:
        return text if limit is None or len(text) < limit - 3 else text[: limit - 3] + "..."

    yield Column("Name", lambda event: cut(event.key), width)
    if any(event.overload_name for event in events):
        yield Column("Overload Name", lambda event: cut(event.overload_name), width)


def _cpu_times(total: float, unit: str | None) -> list[Column]:
    def share_of_own(event: Any) -> str:
        event.self_cpu_percent = format_share(event.self_cpu_time_total, total)
        return str(event.self_cpu_percent)

    def share(event: Any) -> object:
        event.total_cpu_percent = 0 if event.is_async else format_share(event.cpu_time_total, total)
        return event.total_cpu_percent

    return [
        Column("Self CPU %", share_of_own),
        Column("Self CPU", lambda event: format_time(event.self_cpu_time_total, unit)),
        Column("CPU total %", share),
        Column("CPU total", lambda event: format_time(event.cpu_time_total, unit)),
        Column("CPU time avg", lambda event: format_time(event.cpu_time, unit)),
    ]


def _device_times(device: str, total: float, unit: str | None) -> list[Column]:
    def share(event: Any) -> str:
        event.total_device_percent = format_share(event.self_device_time_total, total)
        return str(event.total_device_percent)

    return [
        Column(f"Self {device}", lambda event: format_time(event.self_device_time_total, unit)),
        Column(f"Self {device} %", share),
        Column(f"{device} total", lambda event: format_time(event.device_time_total, unit)),
        Column(f"{device} time avg", lambda event: format_time(event.device_time, unit)),
    ]


def _memory(device: str, kind: str) -> list[Column]:
    return [
        Column(f"{device} Mem", lambda event: format_memory(getattr(event, f"{kind}_memory_usage"))),
        Column(f"Self {device} Mem", lambda event: format_memory(getattr(event, f"self_{kind}_memory_usage"))),
    ]


def _shapes(events: Sequence[Any], limit: int | None) -> list[Column]:
    if not any(event.input_shapes for event in events):
        return []
    width = _narrowed(max(len(str(event.input_shapes)) for event in events) + 4, limit)
    return [Column("Input Shapes", lambda event: str(event.input_shapes)[:width], width)]


def _source(events: Sequence[Any], limit: int | None) -> list[Column]:
    entries = [entry for event in events for entry in event.stack or ()]
    if not entries:
        return []
    width = _narrowed(max(map(len, entries)) + 4, limit)
    return [Column("Source Location", lambda event: _end_of(event.stack[0], width) if event.stack else "", width, "<")]


def _flops(events: Sequence[Any]) -> list[Column]:
    """In the unit that fits the smallest number; no column where nothing counts."""
    counted = [event.flops for event in events if event.flops and event.flops > 0]
    if not counted:
        return []
    power = int(min(math.log10(min(counted)) / 3, len(FLOPS_UNITS) - 1))
    scale = 10 ** (-3.0 * power)
    return [
        Column(
            f"Total {FLOPS_UNITS[power]}",
            lambda event: f"{event.flops * scale:8.3f}" if event.flops and event.flops > 0 else "--",
        )
    ]


def _narrowed(width: int, limit: int | None) -> int:
    return width if limit is None else min(width, limit)


def _end_of(path: str, width: int) -> str:
    """The end of a path that is too long, behind three dots."""
    if len(path) <= width:
        return path
    path = path[len(path) - width :]
    return "..." + path[3:] if len(path) > 3 else path
