"""Are the counts those of PyTorch, and is their table the one that PyTorch prints?"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

from glasstorch.devices.blocks import KIB, MIB
from glasstorch.devices.statistics import METRICS, POOLS, Stat, Statistics, summary


def test_a_number_remembers_its_peak_and_its_sums() -> None:
    stat = Stat()
    for amount in (5, -2, 4, 0, -7, 1):
        stat.change(amount)
    assert stat.as_dict() == {"current": 1, "peak": 7, "allocated": 10, "freed": 9}


def test_a_change_is_counted_for_its_pool_and_for_all() -> None:
    statistics = Statistics()
    statistics.change("allocated_bytes", "small_pool", 512)
    statistics.change("allocated_bytes", "large_pool", 3 * MIB)
    stats = statistics.metrics["allocated_bytes"]
    assert {pool: stats[pool].current for pool in POOLS} == {
        "all": 3 * MIB + 512,
        "large_pool": 3 * MIB,
        "small_pool": 512,
    }
    assert statistics.current("allocated_bytes") == 3 * MIB + 512
    assert statistics.current("active_bytes") == 0


def test_peaks_and_sums_can_begin_again() -> None:
    statistics = Statistics()
    for amount in (7, -4):
        statistics.change("active", "small_pool", amount)
    statistics.num_ooms = statistics.num_alloc_retries = statistics.num_sync_all_streams = 2
    statistics.num_device_alloc = statistics.num_device_free = 3
    stat = statistics.metrics["active"]["small_pool"]
    statistics.reset_peak()
    assert stat.as_dict() == {"current": 3, "peak": 3, "allocated": 7, "freed": 4}
    statistics.reset_accumulated()
    assert stat.as_dict() == {"current": 3, "peak": 3, "allocated": 0, "freed": 0}
    assert [value for value in statistics.nested().values() if isinstance(value, int)] == [0] * 5


def some_statistics(scale: int) -> Statistics:
    """Counts of every metric, large enough for several units."""
    statistics = Statistics()
    for place, metric in enumerate(METRICS, 1):
        statistics.change(metric, "small_pool", 3 * place * scale)
        statistics.change(metric, "large_pool", 7 * place * scale * scale)
        statistics.change(metric, "large_pool", -5 * place * scale * scale)
    statistics.num_ooms, statistics.num_alloc_retries = 12, 34
    return statistics


@pytest.mark.parametrize("abbreviated", [False, True])
@pytest.mark.parametrize("scale", [1, 700, 90 * KIB, 5 * MIB])
def test_the_table_is_the_one_that_torch_prints(
    require: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, scale: int, abbreviated: bool
) -> None:
    memory: Any = require("torch").cuda.memory
    statistics = some_statistics(scale)
    flat: dict[str, int] = {"num_ooms": 12, "num_alloc_retries": 34}
    for metric, stats in statistics.metrics.items():
        flat |= {f"{metric}.{pool}.{name}": n for pool, stat in stats.items() for name, n in stat.as_dict().items()}
    for metric in ("oversize_allocations", "oversize_segments"):
        flat |= {f"{metric}.{name}": 0 for name in ("current", "peak", "allocated", "freed")}
    monkeypatch.setattr(memory, "memory_stats", lambda device: flat)
    theirs = memory.memory_summary(3, abbreviated).splitlines()
    ours = summary(statistics, "glasstorch CUDA memory summary, device ID 3: a card", abbreviated).splitlines()
    assert ours[1] == f"|{'glasstorch CUDA memory summary, device ID 3: a card':^75}|"
    assert ours[3].replace(" ", "") == theirs[3].replace(" ", "")
    oversize = slice(-5, -1)  # two rows that we do not count, each with its line
    del theirs[oversize]
    assert ours[4:] == theirs[4:]


def test_a_long_name_of_a_device_stays_whole() -> None:
    name = "x" * 90
    assert name in summary(Statistics(), name)
