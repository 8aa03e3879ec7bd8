"""How long does the first step of a compiled network take, and that of the next process?

The small GPT of networks.py, its optimizer included, in processes of its own that have taken eager steps before:
the time of the first compiled step beyond that of a later one. It is captured with a backend that runs the graphs
operator by operator; then compiled to C++, with an empty folder for what is kept, and in a second process that finds
there what the first one left.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from types import ModuleType
from typing import NamedTuple

from benchmarks.harness import Row

FOLDERS = ("GLASSTORCH_CACHE", "TORCHINDUCTOR_CACHE_DIR")
PROGRAM = """
import importlib, sys, time
from benchmarks import networks
module = importlib.import_module(sys.argv[1])
module.set_num_threads(2)
eager = networks.gpt(module)
for _ in range(3):
    eager()
module.compile(lambda x: x + 1, backend="eager")(module.ones(2))  # what all compilations import
step = networks.gpt(module, compiled=sys.argv[2])
times = []
for _ in range(4):
    start = time.perf_counter()
    step()
    times.append(time.perf_counter() - start)
print(times[0] - min(times[1:]))
"""


class FirstCalls(NamedTuple):
    """A contest of the seconds that compilation takes, each time in a process of its own."""

    name: str
    backend: str
    is_second: bool  # whether a process before it has left what it compiled
    rounds: int
    budget: float
    modules: dict[str, ModuleType]

    def measure(self) -> Row:
        found: dict[str, float] = {}
        for module in self.modules:
            with tempfile.TemporaryDirectory() as folder:
                if self.is_second:
                    self.seconds(module, folder)
                for place in range(self.rounds):
                    own = folder if self.is_second else f"{folder}/{place}"
                    found[module] = min(self.seconds(module, own), found.get(module, float("inf")))
        return Row(self.name, found, self.budget)

    def seconds(self, module: str, folder: str) -> float:
        """What a process prints that keeps compiled code in a folder."""
        environment = {**os.environ, **dict.fromkeys(FOLDERS, folder), "OMP_NUM_THREADS": "2"}
        command = [sys.executable, "-c", PROGRAM, module, self.backend]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        return float(done.stdout)


def first_steps(modules: dict[str, ModuleType]) -> Iterator[FirstCalls]:
    """The first steps of the GPT, for the modules that are installed."""
    step = "small GPT, the first compiled step"
    yield FirstCalls(f"{step}, captured for aot_eager", "aot_eager", False, 2, 1.0, modules)
    yield FirstCalls(f"{step}, nothing kept from before", "inductor", False, 1, 1.0, modules)
    yield FirstCalls(f"{step}, in a second process", "inductor", True, 2, 0.5, modules)
