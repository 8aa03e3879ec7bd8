"""What do views, sums, indices and chains of pointwise operators cost, in time and in memory?

Small tensors for views, so that what is measured is the way to them; large ones for the rest. The chains are measured
in seconds that the processor was at work, so that other programs on the machine matter less.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.fusion import busy, keep_memory
from benchmarks.harness import Contest, Row, Run, repeat

SIZE = 1_000_000
ROOT = Path(__file__).resolve().parents[1]

# name, sizes of the tensor, what is done with it, repetitions in a batch, budget
VIEWS: list[tuple[str, tuple[int, ...], Callable[[Any], object], float]] = [
    ("`x[2:9]`, a view", (30, 4), lambda x: x[2:9], 1.2),
    ("`x.reshape(4, 3)`, a view", (3, 4), lambda x: x.reshape(4, 3), 1.2),
]
SUMS: list[tuple[str, Callable[[Any], object]]] = [
    ("`x.sum(0)`, 4096x1000", lambda x: x.sum(0)),
    ("`x.sum(1)`, 4096x1000", lambda x: x.sum(1)),
    ("`x.sum()`, 4096x1000", lambda x: x.sum()),
]


def chain(x: Any, y: Any) -> Any:
    """Six pointwise operators."""
    return (((x * y + x) * 0.5 - y).abs() + 1.0).sqrt()


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    for name, sizes, use, budget in VIEWS:
        runs = {"numpy": _repeated(use, np.ones(sizes, np.float32))}
        runs |= {library: _repeated(use, module.ones(sizes)) for library, module in modules.items()}
        yield Contest(name, runs, 2_000, rounds=200, budget=budget)
    matrix = np.random.default_rng(0).standard_normal((4096, 1000), np.float32)
    for name, use in SUMS:
        runs = {"numpy": _repeated(use, matrix)}
        runs |= {library: _repeated(use, module.from_numpy(matrix)) for library, module in modules.items()}
        yield Contest(name, runs, 2, rounds=60, budget=1.5)
    yield Contest("`x[i]`, 1,000 of 10,000 floats", dict(_picks(modules)), 1_000, rounds=60, budget=2.0)
    keep_memory(modules.get("torch"))
    x, y = (np.random.default_rng(seed).standard_normal(SIZE, np.float32) for seed in (0, 1))
    runs = {library: busy(_chained(module, x, y)) for library, module in modules.items()}
    yield Contest("six operators on 1e6 floats, one by one", runs, 5, budget=1.0)
    if "torch" in modules and CLEAR.exists():
        yield PeakMemory()


def _repeated(use: Callable[[Any], object], x: Any) -> Run:
    return repeat(lambda: use(x))


def _picks(modules: dict[str, ModuleType]) -> Iterator[tuple[str, Run]]:
    numbers, places = np.arange(10_000, dtype=np.float32), np.random.default_rng(0).integers(0, 10_000, 1_000)
    yield "numpy", repeat(lambda: numbers[places])
    for library, module in modules.items():
        yield library, _picked(module.from_numpy(numbers), module.from_numpy(places))


def _picked(x: Any, i: Any) -> Run:
    return repeat(lambda: x[i])


def _chained(module: ModuleType, x: Any, y: Any) -> Callable[[], object]:
    a, b = module.from_numpy(x), module.from_numpy(y)
    return lambda: chain(a, b)


# Memory ---------------------------------------------------------------------------------------------------------

CLEAR = Path("/proc/self/clear_refs")  # Linux: writing 5 makes the peak of resident memory what it is now

# Each library in a process of its own. The first round loads what is loaded once.
PROGRAM = """
import sys
import {module} as library
from benchmarks.tensors import CLEAR, SIZE, chain, resident
x, y = library.full((SIZE,), 2.0), library.full((SIZE,), 3.0)
chain(x[:1000], y[:1000])
CLEAR.write_text("5")
before = resident("VmRSS")
for _ in range(3):
    z = chain(x, y)
print(resident("VmHWM") - before)
"""


class PeakMemory(Contest):
    """By how much the chain raises the resident memory at most, in times of what it is in torch."""

    def __init__(self) -> None:
        super().__init__("peak memory of the six operators, in times of torch's", {}, 0, budget=1.0)

    def measure(self) -> Row:
        ours, theirs = (min(peak(module) for _ in range(3)) for module in ("glasstorch", "torch"))
        return Row(self.name, {}, self.budget, share=ours / theirs)


def peak(module: str) -> int:
    """KiB by which the chain raises the resident memory of a process."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", PROGRAM.format(module=module)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=environment)
    return int(done.stdout)


def resident(what: str) -> int:
    """KiB of memory that this process has now (VmRSS), or had at most (VmHWM)."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(what + ":"))
