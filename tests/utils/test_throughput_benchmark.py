"""Does a benchmark of calls from several threads count and tell what PyTorch's does?"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import glasstorch
from glasstorch.utils.throughput_benchmark import ExecutionStats, ThroughputBenchmark


def test_all_threads_together_make_the_calls(torch: Any) -> None:
    seen: set[int] = set()

    class Counted(torch.nn.Module):  # type: ignore[misc,name-defined]
        def forward(self, x: Any, scale: Any = 1) -> Any:
            seen.add(threading.get_ident())
            return x * scale

    bench = torch.utils.ThroughputBenchmark(Counted())
    assert bench.run_once(torch.ones(2), scale=3).tolist() == [3.0, 3.0]
    bench.add_input(torch.ones(2))
    bench.add_input(torch.ones(2), scale=torch.tensor(2))
    stats = bench.benchmark(num_calling_threads=2, num_warmup_iters=2, num_iters=50)
    assert 50 <= stats.num_iters <= 52
    assert stats.latency_avg_ms > 0
    assert stats.total_time_seconds == pytest.approx(stats.num_iters * stats.latency_avg_ms / 2000)
    assert stats.iters_per_second == pytest.approx(stats.num_iters / stats.total_time_seconds)
    assert [line.partition(":")[0] for line in str(stats).splitlines()] == [
        "Average latency per example",
        "Total number of iterations",
        "Total number of iterations per second (across all threads)",
        "Total time",
    ]
    assert stats.benchmark_config.num_calling_threads == 2
    assert len(seen) >= 2


@pytest.mark.parametrize("time", [{"time_us": 2}, {"time_us": 2500}, {"time_ms": 2000}, {"time_s": 0.5}])
def test_a_time_is_told_in_the_largest_unit(time: dict[str, float], require: Any) -> None:
    require("torch")
    from torch.utils.throughput_benchmark import format_time

    from glasstorch.utils.throughput_benchmark import format_time as ours

    assert ours(**time) == format_time(**time)


def test_without_an_input_or_with_two_times_it_is_refused() -> None:
    with pytest.raises(RuntimeError, match="benchmark: there is no input; expected one add_input"):
        ThroughputBenchmark(glasstorch.nn.Identity()).benchmark()
    with pytest.raises(AssertionError):
        glasstorch.utils.throughput_benchmark.format_time(1, 2)


def test_a_trace_of_the_measured_calls_is_written(tmp_path: Path) -> None:
    bench = ThroughputBenchmark(glasstorch.nn.Linear(2, 2))
    bench.add_input(glasstorch.ones(1, 2))
    stats = bench.benchmark(num_iters=3, profiler_output_path=str(tmp_path / "trace.json"))
    assert isinstance(stats, ExecutionStats)
    assert "traceEvents" in json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
