"""What does autocast cost, and a training step under it?

The matrices are small, so that what is measured is the hop and not the product. What a hop costs is the difference
between a call inside a block and the same call outside of one, which then needs no cast.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from benchmarks.harness import Contest, Run, repeat
from benchmarks.jit import Difference


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    outside: dict[str, Run] = {}
    inside: dict[str, Run] = {}
    weights: dict[str, Run] = {}
    passed: dict[str, Run] = {}
    steps: dict[str, Run] = {}
    for name, module in modules.items():
        half = module.ones(8, 8, dtype=module.bfloat16)
        weight = module.ones(8, 8, requires_grad=True)
        outside[name] = _repeated(module, half, half, on=False)
        inside[name] = _repeated(module, half, half, on=True)
        weights[name] = _repeated(module, half, weight, on=True)
        passed[name] = _block(module, lambda half=half: half + half)
        steps[name] = repeat(_step(module))
    without = Contest("a product of 8x8 in bfloat16, autocast off", outside, 5000)
    within = Contest("a product of 8x8 in bfloat16, autocast on", inside, 5000)
    yield without
    yield within
    yield Difference("autocast beyond the call of an operator; at most 1.8 us", within, without)
    yield Contest("a product of 8x8 with a weight whose cast is kept", weights, 5000)
    yield Contest("a sum of 8x8 in bfloat16, autocast on", passed, 5000)
    yield Contest("digits classifier, a step of training under autocast", steps, 20)


def _repeated(module: Any, left: Any, right: Any, on: bool) -> Run:
    def product() -> object:
        return module.mm(left, right)

    return _block(module, product) if on else repeat(product)


def _block(module: Any, function: Callable[[], object]) -> Run:
    """Repeats a function inside one block, whose own cost is not counted."""

    def run(number: int) -> float:
        with module.autocast("cpu"):
            start = time.perf_counter()
            for _ in range(number):
                function()
            return time.perf_counter() - start

    return run


def _step(module: Any) -> Callable[[], None]:
    nn = module.nn
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    images, labels = module.ones(64, 64), module.zeros(64, dtype=module.int64)
    optimizer = module.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def step() -> None:
        optimizer.zero_grad()
        with module.autocast("cpu"):
            loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()

    return step
