"""Do operators on a device have its times and memory? On the simulated one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import glasstorch as torch
from glasstorch.devices import runtime
from tests.devices.devices import made
from tests.profiler.programs import profile_of

CPU, CUDA = torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA


@pytest.fixture
def device() -> Iterator[str]:
    runtime.use_driver(made("forward"))
    yield "cuda:0"
    runtime.use_driver(None)


def test_an_operator_has_the_time_between_two_events_on_its_stream(device: str) -> None:
    x = torch.ones(8, 8, device=device)
    profile = profile_of(torch, lambda: (x @ x).sum(), activities=[CPU, CUDA])
    rows = {row.key: row for row in profile.key_averages()}
    assert rows["aten::mm"].device_time_total > 0
    assert rows["aten::matmul"].device_time_total >= rows["aten::mm"].device_time_total
    assert rows["aten::matmul"].use_device == "cuda"
    lines = profile.key_averages().table(sort_by="cuda_time_total").splitlines()
    assert [part for part in lines[1].split("  ") if "CUDA" in part] != []
    assert lines[-1].startswith("Self CUDA time total: ")
    assert lines[-1].endswith(" (simulated CUDA device (CPU))")


def test_without_the_activity_there_are_no_times_of_the_device(device: str) -> None:
    x = torch.ones(8, 8, device=device)
    profile = profile_of(torch, lambda: x @ x, activities=[CPU])
    assert "CUDA" not in profile.key_averages().table()
    assert all(event.device_time_total == 0 for event in profile.events())


def test_memory_of_the_device_has_columns_of_its_own(device: str) -> None:
    held: list[Any] = []

    def program() -> None:
        held.append(torch.ones(100, device=device))
        held.append(held[0].neg())
        held.pop()

    profile = profile_of(torch, program, activities=[CPU, CUDA], profile_memory=True)
    usage = {event.name: (event.cpu_memory_usage, event.device_memory_usage) for event in profile.events()}
    assert usage["aten::ones"] == usage["aten::neg"] == (0, 400)
    assert usage["[memory]"] == (0, -400)
    assert "Self CUDA Mem" in profile.key_averages().table()


def test_the_times_of_the_device_alone_are_refused(device: str) -> None:
    with pytest.raises(AssertionError, match="Legacy CUDA profiling requires use_cpu=True"):
        profile_of(torch, lambda: None, activities=[CUDA])
