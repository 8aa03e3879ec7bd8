"""What does an epoch of training cost?

The digits classifier of `examples/digits.py`: 64-128-64-10, batches of 64, stochastic gradient descent with momentum.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Run

SAMPLES, BATCH = 1437, 64


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    runs = {name: _epochs(module) for name, module in modules.items()}
    yield Contest("digits classifier, one epoch", runs, 1, rounds=12, budget=1.5)


def _epochs(module: ModuleType) -> Run:
    """Seconds for `number` epochs on data of the digits' shape, which is made before the clock starts."""
    generator = np.random.default_rng(0)
    data = module.from_numpy(generator.random((SAMPLES, 64), dtype=np.float32))
    labels = module.from_numpy(generator.integers(0, 10, SAMPLES))
    nn: Any = module.nn
    module.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    loss_of = nn.CrossEntropyLoss()
    optimizer = module.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    def run(number: int) -> float:
        start = time.perf_counter()
        for _ in range(number):
            for first in range(0, SAMPLES, BATCH):
                loss = loss_of(model(data[first : first + BATCH]), labels[first : first + BATCH])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        return time.perf_counter() - start

    return run
