"""Are trees, averages, tables and stacks of events PyTorch's, to the letter?"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from glasstorch.autograd import profiler_util as ours
from tests.profiler.made_up import events

Require = Callable[[str], Any]
SEEDS = range(12)


@pytest.fixture
def theirs(require: Require) -> ModuleType:
    require("torch")
    return importlib.import_module("torch.autograd.profiler_util")


@pytest.mark.parametrize("seed", SEEDS)
def test_the_tree_is_pytorchs(theirs: ModuleType, seed: int) -> None:
    def tree(library: ModuleType) -> list[Any]:
        return [
            (e.id, e.cpu_parent and e.cpu_parent.id, [c.id for c in e.cpu_children], e.stack, e.self_cpu_memory_usage)
            for e in events(library, seed)
        ]

    assert tree(ours) == tree(theirs)


TABLES: list[dict[str, Any]] = [
    {},
    {"sort_by": "self_cpu_time_total"},
    {"sort_by": "cpu_memory_usage", "row_limit": 3},
    {"row_limit": 0},
    {"row_limit": -1, "time_unit": "ms"},
    {"time_unit": "s", "header": "A header"},
    {"top_level_events_only": True, "max_name_column_width": 20},
    {"max_src_column_width": 10, "max_shapes_column_width": 5},
    {"max_src_column_width": None, "max_shapes_column_width": None, "max_name_column_width": None},
]


@pytest.mark.parametrize("options", TABLES, ids=str)
@pytest.mark.parametrize("stack", [False, True])
def test_the_table_is_pytorchs(theirs: ModuleType, options: dict[str, Any], stack: bool) -> None:
    """Without operations where there are stacks: PyTorch writes their cells under each other's heading."""
    for seed in SEEDS:
        one, other = (events(library, seed, stack=stack, memory=seed % 2 == 0) for library in (ours, theirs))
        one._with_flops = other._with_flops = not stack
        if any(event.flops for event in one):
            assert one.table(**options) == other.table(**options)
            assert one.key_averages().table(**options) == other.key_averages().table(**options)
        assert str(one) == str(other)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("options", [(False, 0, False), (True, 0, False), (False, 2, False), (True, 1, True)], ids=str)
def test_averages_are_pytorchs(theirs: ModuleType, seed: int, options: tuple[bool, int, bool]) -> None:
    def averages(library: ModuleType) -> list[Any]:
        return [
            (repr(row), row.count, row.flops, row.stack, row.overload_name, row.self_cpu_memory_usage, row.scope)
            for row in events(library, seed).key_averages(*options)
        ]

    assert averages(ours) == averages(theirs)


@pytest.mark.parametrize("seed", SEEDS)
def test_totals_and_representations_are_pytorchs(theirs: ModuleType, seed: int) -> None:
    one, other = events(ours, seed), events(theirs, seed)
    assert repr(one.total_average()) == repr(other.total_average())
    assert one.self_cpu_time_total == other.self_cpu_time_total
    assert list(map(repr, one)) == list(map(repr, other))


@pytest.mark.parametrize("seed", SEEDS)
def test_files_of_stacks_and_of_events_are_pytorchs(theirs: ModuleType, seed: int, tmp_path: Path) -> None:
    texts = []
    for library in (ours, theirs):
        made = events(library, seed)
        made.export_stacks(str(tmp_path / "stacks"), "self_cpu_time_total")
        made.export_chrome_trace(str(tmp_path / "trace.json"))
        texts.append(((tmp_path / "stacks").read_text(), json.loads((tmp_path / "trace.json").read_text())))
    assert texts[0] == texts[1]


def test_stacks_and_operations_stand_under_their_own_headings() -> None:
    event = ours.FunctionEvent(
        1, "aten::mm", 1, 0.0, 5.0, stack=["program.py(1): f", "program.py(2): g"], flops=7, overload_name=""
    )
    made = ours.EventList([event], with_flops=True)
    made._build_tree()
    lines = made.table().splitlines()
    heading, row, second = lines[1], lines[3], lines[4]
    assert heading.index("Source Location") == row.index("program.py(1): f") == second.index("program.py(2): g")
    assert heading.index("Total FLOPs") + len("Total FLOPs") == row.index("7.000") + len("7.000")


def test_no_events_are_an_empty_table() -> None:
    assert ours.EventList().table() == ""


def test_an_unknown_metric_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"metric should be one of: .*'self_cpu_time_total'.*got 'cpu'"):
        ours.EventList().export_stacks(str(tmp_path / "stacks"), "cpu")


def test_device_times_without_a_device_are_refused() -> None:
    event = ours.FunctionEvent(
        1, "aten::mm", 1, 0.0, 5.0, use_device="cuda", overload_name="", stack=[], is_legacy=True
    )
    event.append_kernel("kernel", 0, 3.0)
    made = ours.EventList([event], use_device="cuda")
    made._build_tree()
    assert "Self CUDA time total: 3.000us" in made.table()
    event.use_device = None
    averages = ours.FunctionEventAvg().add(event)
    averages.self_device_time_total = 3.0
    with pytest.raises(RuntimeError, match="none says on which"):
        ours.EventList([averages]).table()


@pytest.mark.parametrize("seed", range(5))
def test_the_columns_of_a_device_are_pytorchs(theirs: ModuleType, seed: int) -> None:
    texts = []
    for library in (ours, theirs):
        made = events(library, seed, stack=False)
        for number, event in enumerate(made):
            event.use_device, event.device_memory_usage = "cuda", 100 * number + 4
            event.append_kernel(event.name, 0, 10.0 * number + 1)
            event.is_legacy = True
        texts.append(made.table() + made.key_averages().table(sort_by="self_cuda_time_total"))
    assert texts[0] == texts[1]


@pytest.mark.parametrize(("start", "end"), [(0, 10), (3, 3), (4, 9), (11, 20), (5, 2)])
def test_records_of_memory_are_found_by_their_times(theirs: ModuleType, start: int, end: int) -> None:
    records = [[SimpleNamespace(start_ns=lambda at=at: at), False] for at in (7, 3, 3, 9, 1)]
    assert list(ours.MemRecordsAcc(records).in_interval(start, end)) == list(
        theirs.MemRecordsAcc(records).in_interval(start, end)
    )


def test_old_names_of_device_times_warn(theirs: ModuleType) -> None:
    for library in (ours, theirs):
        event = events(library, 0)[0]
        for name in ("cuda_time_total", "self_cuda_time_total", "self_cuda_memory_usage", "cuda_time", "metadata_json"):
            with pytest.warns(FutureWarning, match=f"`{name}` is deprecated"):
                getattr(event, name)


def test_metadata_is_read_as_by_pytorch(theirs: ModuleType) -> None:
    texts = {"grid": "[1, 2, 3]", "stream": "7", "Is asynchronized op": "true", "Collective name": '"all"'}
    made = [library.FunctionEvent(1, "k", 1, 0, 1, extra_meta=texts).event_metadata for library in (ours, theirs)]
    assert made[0]._asdict() == made[1]._asdict()
    assert ours.FunctionEvent(1, "k", 1, 0, 1, extra_meta={"unknown": "1"}).event_metadata is None
    assert list(ours.EventMetadata._fields) == list(theirs.EventMetadata._fields)
