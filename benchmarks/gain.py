"""For which programs is a compiled function faster than the same function in eager mode, and for which is it slower?

    python -m benchmarks.gain        measure, print the table, keep the numbers in `results/`

Each program runs in four ways: eager and compiled, here and in torch. All have one thread, and the processor's time is
measured, so that other programs on the machine matter less. First calls, which compile, are measured in processes of
their own, with what those start: with an empty cache of machine code, and with the one that another process has left.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before NumPy or torch starts its threads: one thread each

import numpy as np

from benchmarks.fusion import SIZE, busy, chain, keep_memory
from benchmarks.harness import Contest, Row

Program = Callable[..., Any]  # given the library, and its tensors
CACHES = {"glasstorch": "GLASSTORCH_CACHE", "torch": "TORCHINDUCTOR_CACHE_DIR"}
WORDS = [f"kind {i}" for i in range(16)]  # more than a function may have graphs
FIRST_CALL = """
import json, resource, sys, time
import {module} as library

def chain(x, y):
    a = (x * y + x).sigmoid()
    b = (a * y - x).tanh()
    return (b * 0.5).relu()

def spent():
    who = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(resource.getrusage(one).ru_utime + resource.getrusage(one).ru_stime for one in who)

x, y = library.ones(1_000_000), library.ones(1_000_000)
run = library.compile(chain)
before = spent()
run(x, y)
print(json.dumps(spent() - before))
"""


def fused(module: ModuleType, x: Any, y: Any) -> Any:
    return chain(x, y)


def product(module: ModuleType, x: Any, w: Any) -> Any:
    return (x @ w).relu()


def broken(module: ModuleType, x: Any, y: Any) -> Any:
    """The eight operators, with a break after each but the last."""
    cut = module._dynamo.graph_break
    a = x * y
    cut()
    a = a + x
    cut()
    a = a.sigmoid()
    cut()
    b = a * y
    cut()
    b = b - x
    cut()
    b = b.tanh()
    cut()
    b = b * 0.5
    cut()
    return b.relu()


def broken_in_a_loop(module: ModuleType, x: Any, y: Any) -> Any:
    for _ in range(4):
        x = chain(x, y)
        module._dynamo.graph_break()
    return x


def branching(module: ModuleType, x: Any, y: Any) -> Any:
    a = (x * y + x).sigmoid()
    b = (a * y - x).tanh()
    return (b * 0.5).relu() if b.sum() > 0 else (b * 2).relu()


def selecting(module: ModuleType, x: Any, y: Any) -> Any:
    """`branching` without its branch."""
    a = (x * y + x).sigmoid()
    b = (a * y - x).tanh()
    return module.where(b.sum() > 0, (b * 0.5).relu(), (b * 2).relu())


# name, the program, the shapes of its arguments, how often it runs in a batch
PROGRAMS: list[tuple[str, Program, list[tuple[int, ...]], int]] = [
    ("eight operators on 1e6 floats", fused, [(SIZE,), (SIZE,)], 3),
    ("eight operators on 8 floats", fused, [(8,), (8,)], 300),
    ("a product of 1024 x 1024, and relu", product, [(1024, 1024), (1024, 1024)], 1),
    ("a break after each operator, 1e6 floats", broken, [(SIZE,), (SIZE,)], 3),
    ("a break after each operator, 8 floats", broken, [(8,), (8,)], 50),
    ("a break in each of four rounds, 8 floats", broken_in_a_loop, [(8,), (8,)], 50),
    ("a branch on elements, 1e6 floats", branching, [(SIZE,), (SIZE,)], 3),
    ("the same with where, 1e6 floats", selecting, [(SIZE,), (SIZE,)], 3),
]


def in_four_ways(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """Each program eager and compiled, in the modules that are installed."""
    keep_memory(modules.get("torch"))
    for name, program, shapes, number in PROGRAMS:
        arrays = [np.random.default_rng(i).standard_normal(shape, np.float32) for i, shape in enumerate(shapes)]
        runs = {}
        for of, module in modules.items():
            module.compiler.reset()
            tensors = [module.from_numpy(array.copy()) for array in arrays]
            eager, compiled = _both(module, program, tensors)
            runs |= {_label(of, "eager"): busy(eager), _label(of, "compiled"): busy(compiled)}
        yield Contest(name, runs, number, 40)
    runs = {}
    for of, module in modules.items():
        module.compiler.reset()
        eager, compiled = _with_words(module)
        runs |= {_label(of, "eager"): busy(eager), _label(of, "compiled"): busy(compiled)}
    yield Contest("sixteen different strings, 8 floats", runs, 20, 40)


def _label(of: str, way: str) -> str:
    return way if of == "glasstorch" else f"{of} {way}"


def _both(module: ModuleType, program: Program, tensors: list[Any]) -> tuple[Program, Program]:
    def call(*given: Any) -> Any:
        return program(module, *given)

    run = module.compile(call)
    return lambda: call(*tensors), lambda: run(*tensors)


def _with_words(module: ModuleType) -> tuple[Program, Program]:
    def named(x: Any, y: Any, word: str) -> Any:
        return chain(x, y) if word else x

    x, y = module.ones(8), module.ones(8)
    run = module.compile(named)
    return lambda: [named(x, y, word) for word in WORDS], lambda: [run(x, y, word) for word in WORDS]


def first_calls(modules: dict[str, ModuleType]) -> dict[str, float]:
    """The seconds of a first call of eight operators, in a process of its own."""
    facts: dict[str, float] = {}
    for module in modules:
        with tempfile.TemporaryDirectory() as folder:
            there = {**os.environ, CACHES[module]: folder, "TORCHINDUCTOR_COMPILE_THREADS": "1"}
            for cache in ("an empty cache", "the cache of another process"):
                ran = subprocess.run(
                    [sys.executable, "-c", FIRST_CALL.format(module=module)],
                    env=there,
                    check=True,
                    capture_output=True,
                    text=True,
                )
                facts[f"first call, {module}, {cache}, seconds"] = json.loads(ran.stdout.splitlines()[-1])
    return facts


def main() -> int:
    from benchmarks.__main__ import modules, save, versions

    contestants = modules()
    rows: list[Row] = []
    for contest in in_four_ways(contestants):
        print(f"  measuring {contest.name}", file=sys.stderr, flush=True)
        rows.append(contest.measure())
        print(rows[-1].name, {who: f"{seconds * 1e6:.1f} us" for who, seconds in rows[-1].seconds.items()})
    facts = first_calls(contestants)
    print(facts)
    save(rows, facts, versions(contestants), "gain")
    return 0


if __name__ == "__main__":
    sys.exit(main())
