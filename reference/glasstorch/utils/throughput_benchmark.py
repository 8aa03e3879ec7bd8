"""How many calls of a module do several threads get through in a second?

Mirrors: torch/utils/throughput_benchmark.py, torch/csrc/utils/throughput_benchmark.cpp
Differs: modules are Python code, so that threads take turns wherever NumPy does not release the interpreter's lock.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from itertools import count
from typing import Any, NamedTuple

from glasstorch.autograd.profiler import profile

__all__ = ["ExecutionStats", "ThroughputBenchmark", "format_time"]

UNITS = ((1e6, "s"), (1e3, "ms"))  # microseconds in a unit


def format_time(time_us: float | None = None, time_ms: float | None = None, time_s: float | None = None) -> str:
    """A time, given in one unit, in the largest unit of which there is one or more.

    >>> format_time(time_ms=1500)
    '1.500s'
    """
    given = [value * scale for value, scale in ((time_us, 1.0), (time_ms, 1e3), (time_s, 1e6)) if value is not None]
    if len(given) != 1:
        raise AssertionError("Expected only one of time_us, time_ms, time_s is given.")
    for size, unit in UNITS:
        if given[0] >= size:
            return f"{given[0] / size:.3f}{unit}"
    return f"{given[0]:.3f}us"


class _Config(NamedTuple):
    """How a benchmark was run."""

    num_calling_threads: int
    num_warmup_iters: int
    num_iters: int
    profiler_output_path: str


class ExecutionStats(NamedTuple):
    """What a benchmark measured: the mean time of a call, and how many calls there were."""

    latency_avg_ms: float
    num_iters: int
    benchmark_config: _Config

    @property
    def iters_per_second(self) -> float:
        """How many calls a second all threads got through."""
        return self.num_iters / self.total_time_seconds

    @property
    def total_time_seconds(self) -> float:
        """How long it took, if all threads were busy all the time."""
        return self.num_iters * (self.latency_avg_ms / 1000.0) / self.benchmark_config.num_calling_threads

    def __str__(self) -> str:
        return "\n".join(
            [
                "Average latency per example: " + format_time(time_ms=self.latency_avg_ms),
                f"Total number of iterations: {self.num_iters}",
                f"Total number of iterations per second (across all threads): {self.iters_per_second:.2f}",
                "Total time: " + format_time(time_s=self.total_time_seconds),
            ]
        )


class ThroughputBenchmark:
    """Calls a module from several threads, on inputs that are drawn from those it was given.

    >>> import glasstorch as torch
    >>> bench = ThroughputBenchmark(torch.nn.Linear(2, 1))
    >>> bench.add_input(torch.ones(3, 2))
    >>> bench.benchmark(num_calling_threads=2, num_warmup_iters=1, num_iters=10).num_iters >= 10
    True
    """

    def __init__(self, module: Callable[..., Any]) -> None:
        self._module = module
        self._inputs: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def run_once(self, *args: Any, **kwargs: Any) -> Any:
        """The module's result, to see that it is the one that is meant."""
        return self._module(*args, **kwargs)

    def add_input(self, *args: Any, **kwargs: Any) -> None:
        """Keep the arguments of one call."""
        self._inputs.append((args, kwargs))

    def benchmark(
        self,
        num_calling_threads: int = 1,
        num_warmup_iters: int = 10,
        num_iters: int = 100,
        profiler_output_path: str = "",
    ) -> ExecutionStats:
        """Measure so many calls of all threads together; each warms up by itself before.

        A trace of the measured calls is written to `profiler_output_path` where one is given.
        """
        if not self._inputs:
            raise RuntimeError("benchmark: there is no input; expected one add_input() or more before")
        config = _Config(num_calling_threads, num_warmup_iters, num_iters, profiler_output_path)
        profiler: Any = profile() if profiler_output_path else nullcontext()
        ready, go, taken = threading.Barrier(num_calling_threads + 1), threading.Event(), count()
        spent: list[tuple[int, float]] = []  # of each thread, its calls and its time

        def call_repeatedly() -> None:
            for _ in range(num_warmup_iters):
                self._call_once()
            ready.wait()
            go.wait()
            calls, start = 0, time.perf_counter()
            while next(taken) < num_iters:
                self._call_once()
                calls += 1
            spent.append((calls, time.perf_counter() - start))

        threads = [threading.Thread(target=call_repeatedly) for _ in range(num_calling_threads)]
        for thread in threads:
            thread.start()
        ready.wait()
        with profiler:
            go.set()
            for thread in threads:
                thread.join()
        if profiler_output_path:
            profiler.export_chrome_trace(profiler_output_path)
        calls = sum(one for one, _ in spent)
        return ExecutionStats(1000 * sum(seconds for _, seconds in spent) / calls, calls, config)

    def _call_once(self) -> None:
        args, kwargs = random.choice(self._inputs)
        self._module(*args, **kwargs)
