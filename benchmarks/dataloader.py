"""What does a pass through a small dataset cost, without workers and with two?

10,000 samples of 8 floats, in batches of 64. The workers are kept, and started before the clock is: passes from the
second on are measured. The median of seven rounds counts and not the fastest, since a pass with workers is spread over
three processes, and its fastest is luck.

A TensorDataset with the default collation is read at once. A dataset that a program has written itself is not: its
samples are asked for one by one, which costs what indexing and stacking do.
"""

from __future__ import annotations

import importlib
import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from benchmarks.harness import Contest, Row, Run, repeat

SAMPLES, WIDTH, BATCH = 10_000, 8, 64


@dataclass
class MedianContest(Contest):
    """A contest whose figure is the median of the batches."""

    def measure(self) -> Row:
        """Run the contestants in turn."""
        seconds: dict[str, list[float]] = {name: [] for name in self.runs}
        for run in self.runs.values():
            run(1)
        for _ in range(self.rounds):
            for name, run in self.runs.items():
                seconds[name].append(run(self.number) / self.number)
        medians = {name: statistics.median(some) for name, some in seconds.items()}
        return Row(self.name, medians, self.budget, self.note)


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    size = f"{SAMPLES:,} x {WIDTH}, batches of {BATCH}"
    for workers, budget, said in ((0, 1.2, "no workers"), (2, 1.5, "two workers")):
        runs = {name: _passes(module, workers) for name, module in modules.items()}
        yield MedianContest(f"DataLoader, {size}, {said}", runs, 1, rounds=7, budget=budget)
    runs = {name: _passes(module, 0, own=True) for name, module in modules.items()}
    yield MedianContest(f"DataLoader, {size}, a dataset of one's own", runs, 1, rounds=7)


def _passes(module: ModuleType, workers: int, own: bool = False) -> Run:
    """Seconds for `number` passes."""
    data = importlib.import_module(f"{module.__name__}.utils.data")
    library: Any = module
    library.manual_seed(0)
    values = library.rand(SAMPLES, WIDTH)
    dataset = _Own(values) if own else data.TensorDataset(values)
    loader = data.DataLoader(dataset, BATCH, num_workers=workers, persistent_workers=workers > 0)

    def one_pass() -> None:
        for _ in loader:
            pass

    return repeat(one_pass)


class _Own:
    """What a program writes."""

    def __init__(self, values: Any) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: int) -> Any:
        return self.values[index]
