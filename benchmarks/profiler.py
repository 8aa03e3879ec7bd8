"""What does a call cost while a profile is on, and while none is?

Both libraries record each call, its time and its sequence number. A profile is counted from its beginning to its end,
which is where PyTorch does most of its work; what is made of the events is not. So what a profile costs for each call
is the difference between the first two rows. The third is with the arguments noted too. The fourth is a block of a
program, whose label costs something in PyTorch even if nothing is recorded.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from benchmarks.harness import Contest, Run, repeat


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    off = {name: repeat(_sum(module)) for name, module in modules.items()}
    yield Contest("`a + b`, 8 floats, no profile", off, 2_000, rounds=200, budget=1.2)
    on = {name: _profiled(module) for name, module in modules.items()}
    yield Contest("`a + b`, 8 floats, under a profile", on, 2_000, rounds=20, budget=1.0)
    shapes = {name: _profiled(module, record_shapes=True) for name, module in modules.items()}
    yield Contest("`a + b`, 8 floats, under a profile with shapes", shapes, 2_000, rounds=20)
    blocks = {name: repeat(_block(module)) for name, module in modules.items()}
    yield Contest("`record_function`, no profile", blocks, 2_000, rounds=20, budget=1.0)


def _sum(module: ModuleType) -> Any:
    x, y = module.ones(8), module.ones(8)
    return lambda: x + y


def _profiled(module: ModuleType, **settings: Any) -> Run:
    """Seconds for additions under a profile, its beginning and its end."""
    profile = importlib.import_module(f"{module.__name__}.profiler").profile
    add = _sum(module)

    def run(number: int) -> float:
        start = time.perf_counter()
        with profile(**settings):
            for _ in range(number):
                add()
        return time.perf_counter() - start

    return run


def _block(module: ModuleType) -> Any:
    record_function = importlib.import_module(f"{module.__name__}.profiler").record_function

    def block() -> None:
        with record_function("a block"):
            pass

    return block
