"""What does an epoch of training cost, and what a step of Adam for many parameters?

The digits classifier of `examples/digits.py`: 64-128-64-10, batches of 64, stochastic gradient descent with momentum,
or Adam. Steps of Adam alone are of 200 parameters, in the form that each library takes by default, and in PyTorch's
fastest, the fused one.

All with one thread. With two, PyTorch shares out the matrix products and the square roots, which MKL computes, and
waits for the second thread at each of them. Where others use the cores, its step of Adam for the classifier then
takes 84 ms instead of 0.3; ours takes 0.2 with either, for only its products have threads. So an epoch with Adam
could stand at 0.96 of PyTorch's with two threads, and at 1.49 with one: PyTorch had become slower, not the library
faster.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Run, repeat

SAMPLES, BATCH = 1437, 64


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    runs = {name: _epochs(module, "SGD", lr=0.05, momentum=0.9) for name, module in modules.items()}
    yield Contest("digits classifier, one epoch", runs, 1, rounds=12, budget=1.5)
    runs = {name: _epochs(module, "Adam", lr=1e-3) for name, module in modules.items()}
    yield Contest("digits classifier, one epoch with Adam", runs, 1, rounds=12, budget=1.0)
    for sizes in ((64,), (64, 64)):
        runs = {name: _steps(module, sizes) for name, module in modules.items()}
        yield Contest(f"Adam, 200 tensors of {sizes}", runs, 3, budget=1.0)
        runs = {name: _steps(module, sizes, fused=True) for name, module in modules.items()}
        yield Contest(f"Adam, fused, 200 tensors of {sizes}", runs, 3, budget=2.0)


def _steps(module: ModuleType, sizes: tuple[int, ...], **options: Any) -> Run:
    """Seconds for `number` steps of Adam."""
    generator = np.random.default_rng(0)

    def tensor() -> Any:
        return module.from_numpy(generator.standard_normal(sizes).astype(np.float32))

    parameters = [tensor().requires_grad_() for _ in range(200)]
    for parameter in parameters:
        parameter.grad = tensor()
    return repeat(module.optim.Adam(parameters, **options).step)


def _epochs(module: ModuleType, kind: str, **options: Any) -> Run:
    """Seconds for `number` epochs on data of the digits' shape, which is made before the clock starts."""
    generator = np.random.default_rng(0)
    data = module.from_numpy(generator.random((SAMPLES, 64), dtype=np.float32))
    labels = module.from_numpy(generator.integers(0, 10, SAMPLES))
    nn: Any = module.nn
    module.manual_seed(0)
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    loss_of = nn.CrossEntropyLoss()
    optimizer = getattr(module.optim, kind)(model.parameters(), **options)

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
