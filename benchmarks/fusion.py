"""What does it save to run a chain of pointwise operators as one loop?

    python -m benchmarks.fusion        measure, print the table, keep the numbers in `results/`

Eight operators on a million floats: each operator by itself reads and writes memory of several times the cache's size.
torch's column is torch's eager mode. NumPy's column is what a person would write by hand: the same ufuncs on one block
after another that fits into the cache.

Where all have one thread the processor's time is measured, so that other programs on the machine matter less; where
they have several, the time that passes.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy or torch starts its threads: one thread each

import numpy as np

from benchmarks.harness import Contest, Row, Run, repeat

SIZE = 1_000_000
BUDGET = 0.6
BLOCK = 1 << 14  # elements of the hand-written loop's blocks
PAUSE = 0.25  # seconds; threads of OpenMP stay busy for 0.2 s after their work, in case more comes
Array = np.ndarray[Any, Any]


def chain(x: Any, y: Any) -> Any:
    """Eight pointwise operators."""
    a = (x * y + x).sigmoid()
    b = (a * y - x).tanh()
    return (b * 0.5).relu()


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    ours = modules["glasstorch"]
    keep_memory(modules.get("torch"))
    x, y = (np.random.default_rng(seed).standard_normal(SIZE, np.float32) for seed in (0, 1))
    eager = {name: busy(_eager(module, x, y)) for name, module in modules.items()}
    out = np.empty_like(x)
    by_hand = {"numpy": busy(lambda: hand_blocked(x, y, out))}
    others = {name: run for name, run in eager.items() if name != "glasstorch"} | by_hand
    yield Contest("eight operators on 1e6 floats, one by one", eager, 5, rounds=20)
    for fuser in ("numpy", "cpp"):
        runs = {"glasstorch": busy(_fused(ours, fuser, x, y))} | others
        name = f"eight operators on 1e6 floats, fused by {LABELS[fuser]}"
        contest = Contest(name, runs, 5, rounds=20, budget=BUDGET)
        yield contest
        yield ByHand(f"the loop of {LABELS[fuser]}, in times of NumPy's blocks by hand", contest)
    if "torch" in modules:
        torch = modules["torch"]
        threads = os.cpu_count() or 1
        runs = {
            "glasstorch": with_threads(torch, threads, repeat(_fused(ours, "default", x, y))),
            "torch": with_threads(torch, threads, repeat(_eager(torch, x, y))),
        }
        yield Contest(f"the same with {threads} threads each", runs, 60, rounds=6, budget=BUDGET)
    backward = {name: busy(_forward_backward(module, x, y)) for name, module in modules.items() if name == "torch"}
    backward["glasstorch"] = busy(_traced_forward_backward(ours, x, y))
    yield Contest("eight operators on 1e6 floats, forward and backward, fused", backward, 5, rounds=20, budget=BUDGET)
    small = {name: busy(_eager(module, x[:8], y[:8])) for name, module in modules.items() if name != "glasstorch"}
    small["glasstorch"] = busy(_fused(ours, "default", x[:8], y[:8]))
    yield Contest("eight operators on 8 floats, fused", small, 300)


class ByHand(Contest):
    """A contest's time in times of the loop that was written by hand; it is measured before."""

    def __init__(self, name: str, of: Contest) -> None:
        super().__init__(name, {}, 0, budget=1.0)
        self.of = of

    def measure(self) -> Row:
        return Row(self.name, {}, self.budget, share=self.of.fastest["glasstorch"] / self.of.fastest["numpy"])


LABELS = {"numpy": "NumPy in blocks", "cpp": "C++"}


def keep_memory(torch: ModuleType | None) -> None:
    """Have the C library keep memory of torch's results instead of fetching it anew from the system each time.

    It keeps blocks as large as the largest one that was freed, up to 32 MiB (mallopt: M_MMAP_THRESHOLD). Without this
    torch is two to three times slower in some runs, and not in others.
    """
    if torch is not None:
        torch.empty(31 << 20, dtype=torch.uint8)


def busy(function: Callable[[], object]) -> Run:
    """As harness.repeat, in seconds that the processor was at work for this process."""

    def run(number: int) -> float:
        start = time.process_time()
        for _ in range(number):
            function()
        return time.process_time() - start

    return run


def _eager(module: ModuleType, x: Array, y: Array) -> Callable[[], Any]:
    a, b = module.from_numpy(x), module.from_numpy(y)
    return lambda: chain(a, b)


def _traced(module: ModuleType, x: Any, y: Any) -> Callable[..., Any]:
    result: Callable[..., Any] = module.jit.trace(chain, (x, y))
    return result


def _fused(module: ModuleType, fuser: str, x: Array, y: Array) -> Callable[[], Any]:
    a, b = module.from_numpy(x), module.from_numpy(y)
    traced = _traced(module, a, b)

    def run() -> Any:
        with module.jit.fuser(fuser):
            return traced(a, b)

    return run


def _forward_backward(module: ModuleType, x: Array, y: Array) -> Callable[[], Any]:
    a, b = _leaves(module, x, y)
    return _step(chain, a, b, module.ones(SIZE))


def _traced_forward_backward(module: ModuleType, x: Array, y: Array) -> Callable[[], Any]:
    a, b = _leaves(module, x, y)
    return _step(_traced(module, a, b), a, b, module.ones(SIZE))


def _leaves(module: ModuleType, x: Array, y: Array) -> tuple[Any, Any]:
    first, second = (module.from_numpy(array.copy()).requires_grad_() for array in (x, y))
    return first, second


def _step(function: Callable[..., Any], x: Any, y: Any, gradient: Any) -> Callable[[], Any]:
    def run() -> None:
        x.grad = y.grad = None
        function(x, y).backward(gradient)

    return run


def with_threads(torch: ModuleType, threads: int, run: Run) -> Run:
    """A run during which both libraries may use so many threads."""

    def threaded(number: int) -> float:
        time.sleep(PAUSE)
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            with _environment("OMP_NUM_THREADS", str(threads)):
                return run(number)
        finally:
            torch.set_num_threads(before)

    return threaded


def hand_blocked(x: Array, y: Array, out: Array) -> None:
    """The chain with NumPy, on blocks."""
    scratch = np.empty(BLOCK, x.dtype)
    one, half, zero = (np.array(number, x.dtype) for number in (1, 0.5, 0))
    for start in range(0, x.size, BLOCK):
        a, b, result = (array[start : start + BLOCK] for array in (x, y, out))
        s = scratch[: a.size]
        np.multiply(a, b, out=s)
        np.add(s, a, out=s)
        np.negative(s, out=s)
        np.exp(s, out=s)
        np.add(s, one, out=s)
        np.reciprocal(s, out=s)
        np.multiply(s, b, out=s)
        np.subtract(s, a, out=s)
        np.tanh(s, out=s)
        np.multiply(s, half, out=s)
        np.maximum(s, zero, out=result)


def compile_seconds(module: ModuleType) -> dict[str, float]:
    """How long a first call takes beyond a later one, with an empty cache and with what another process left there.

    What is kept in this process is forgotten in between.
    """
    from glasstorch.jit.codegen import cpp_loop

    x, y = module.randn(SIZE), module.randn(SIZE)
    facts: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder, _environment("GLASSTORCH_CACHE", folder):
        for name in ("C++, with an empty cache", "C++, compiled by another process before"):
            cpp_loop.load.cache_clear()
            facts[f"first call, {name}, seconds"] = _first_call(module, "cpp", x, y)
    facts["first call, NumPy in blocks, seconds"] = _first_call(module, "numpy", x, y)
    return facts


def _first_call(module: ModuleType, fuser: str, x: Any, y: Any) -> float:
    traced = _traced(module, x, y)
    with module.jit.fuser(fuser):
        start = time.perf_counter()
        traced(x, y)
        first = time.perf_counter() - start
        return first - min(repeat(lambda: traced(x, y))(1) for _ in range(20))


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        del os.environ[name]
        if before is not None:
            os.environ[name] = before


def main() -> int:
    from benchmarks.__main__ import modules, save, table, versions

    contestants = modules()
    rows: list[Row] = []
    for contest in contests(contestants):
        print(f"  measuring {contest.name}", file=sys.stderr, flush=True)
        rows.append(contest.measure())
    facts = compile_seconds(contestants["glasstorch"])
    where = versions(contestants)
    print(table(rows, facts, where))
    save(rows, facts, where, "fusion")
    return 0


if __name__ == "__main__":
    sys.exit(main())
