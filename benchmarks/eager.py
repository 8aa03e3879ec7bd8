"""What does one operator cost, and one step backwards?

Small tensors, so that what is measured is the way to the kernel and not the kernel.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.harness import Contest, Run, repeat

CHAIN = 10_000
# A number where an operator does not commute, or has an overload for it.
BY_NUMBER: dict[str, Callable[[Any], Any]] = {
    "1 - a": lambda a: 1 - a,
    "a % 2": lambda a: a % 2,
    "2 ** a": lambda a: 2**a,
}


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    a = np.ones(8, np.float32)
    adds: dict[str, Run] = {"numpy": _doubled(a)}
    recorded: dict[str, Run] = {}
    scaled: dict[str, Run] = {"numpy": _scaled(a)}
    by_numbers = {line: {"numpy": repeat(partial(of, a))} for line, of in BY_NUMBER.items()}
    views: dict[str, Run] = {"numpy": _transposed(np.ones((3, 4), np.float32), (1, 0))}
    large: dict[str, Run] = {"numpy": _doubled(np.ones(1_000_000, np.float32))}
    chains: dict[str, Run] = {}
    for name, module in modules.items():
        adds[name] = _binary(module, False)
        recorded[name] = _binary(module, True)
        scaled[name] = _scaled(module.ones(8))
        for line, of in BY_NUMBER.items():
            by_numbers[line][name] = repeat(partial(of, module.ones(8)))
        views[name] = _transposed(module.ones(3, 4), (0, 1))
        large[name] = _doubled(module.ones(1_000_000))
        chains[name] = backward_of_chain(module)
    yield Contest("`a + b`, 8 floats", adds, 2_000, rounds=200, budget=1.2)
    yield Contest("`a + b`, 8 floats, gradient recorded", recorded, 2_000, rounds=200, budget=1.5)
    yield Contest("`a * 2.0`, 8 floats", scaled, 2_000, rounds=200)
    for line, runs in by_numbers.items():
        yield Contest(f"`{line}`, 8 floats", runs, 2_000, rounds=200)
    yield Contest("`m.transpose(0, 1)`, a view", views, 2_000, rounds=200, budget=1.2)
    yield Contest("`a + b`, 1,000,000 floats", large, 20)
    yield Contest("backward of 10,000 multiplications, for each", chains, CHAIN, rounds=10, budget=1.0)


def _binary(module: ModuleType, requires_grad: bool) -> Run:
    x, y = module.ones(8, requires_grad=requires_grad), module.ones(8)
    return repeat(lambda: x + y)


def _doubled(x: Any) -> Run:
    return repeat(lambda: x + x)


def _scaled(x: Any) -> Run:
    return repeat(lambda: x * 2.0)


def _transposed(x: Any, dims: tuple[int, int]) -> Run:
    return repeat(lambda: x.transpose(*dims))


def backward_of_chain(module: ModuleType) -> Run:
    """Seconds for `number` steps backwards, in chains of CHAIN multiplications; building them is not counted."""
    leaf, factor = module.ones(8, requires_grad=True), module.ones(8)

    def run(number: int) -> float:
        y: Any = leaf
        for _ in range(number):
            y = y * factor
        total = y.sum()
        start = time.perf_counter()
        total.backward()
        seconds = time.perf_counter() - start
        leaf.grad = None
        return seconds

    return run
