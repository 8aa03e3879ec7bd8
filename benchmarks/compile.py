"""What does torch.compile make of a program, and what does ours?

Both compile the same function, with two threads each, in one run. torch's backend is inductor, which
writes C++ as ours does. The first calls, which compile, are not counted; first_calls.py counts them.

A step of training, the optimizer included, is compared with torch's eager mode, and a second line has torch.compile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks import first_calls, networks
from benchmarks.fusion import chain, keep_memory, with_threads
from benchmarks.harness import Contest, Row, Run, repeat

SIZE = 1_000_000
THREADS = 2
ROWS = (4096, 1000)
Array = np.ndarray[Any, Any]
Program = Callable[..., Any]  # given the library and its tensors


def waves(module: ModuleType, x: Any) -> Any:
    return module.sin(x) * 2 + module.exp(-x * x)


def gelu(module: ModuleType, x: Any) -> Any:
    return module.nn.functional.gelu(x)


def log_softmax(module: ModuleType, x: Any) -> Any:
    return module.log_softmax(x, 1)


def layer_norm(module: ModuleType, x: Any) -> Any:
    return module.nn.functional.layer_norm(x, (x.shape[-1],))


def eight(module: ModuleType, x: Any, y: Any) -> Any:
    return chain(x, y)


# name, the program, the shapes of its arguments, whether it goes backward too, what the project set itself
PROGRAMS: list[tuple[str, Program, list[tuple[int, ...]], bool, float | None]] = [
    ("eight operators on 1e6 floats, forward", eight, [(SIZE,), (SIZE,)], False, 0.6),
    ("eight operators on 1e6 floats, forward and backward", eight, [(SIZE,), (SIZE,)], True, 0.7),
    ("sin(x) * 2 + exp(-x * x) of 1e6 floats, forward", waves, [(SIZE,)], False, None),
    ("sin(x) * 2 + exp(-x * x) of 1e6 floats, forward and backward", waves, [(SIZE,)], True, None),
    ("gelu of 1e6 floats, forward and backward", gelu, [(SIZE,)], True, None),
    ("log_softmax of (4096, 1000), forward", log_softmax, [ROWS], False, 0.8),
    ("log_softmax of (4096, 1000), forward and backward", log_softmax, [ROWS], True, None),
    ("layer_norm of (4096, 1000), forward and backward", layer_norm, [ROWS], True, None),
    ("sin(x) * 2 + exp(-x * x) of 8 floats, the whole call", waves, [(8,)], False, None),
    ("x * y + x of 8 floats, the whole call", lambda module, x, y: x * y + x, [(8,), (8,)], False, 1.0),
]
# 2.5 us were asked for where torch took 0.98
GUARDS = 2.5 / 0.98


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    keep_memory(modules.get("torch"))
    for name, program, shapes, backward, budget in PROGRAMS:
        arrays = [np.random.default_rng(i).standard_normal(shape, np.float32) for i, shape in enumerate(shapes)]
        small = arrays[0].size < SIZE
        for module in modules.values():
            module.compiler.reset()  # the programs are called from one place, and a place has a limit of graphs
        runs = {
            of: with_threads(module, THREADS, repeat(compiled(module, program, arrays, backward)))
            for of, module in modules.items()
        }
        yield Contest(f"compiled: {name}, {THREADS} threads each", runs, 300 if small else 1, 30, budget)
    for module in modules.values():
        module.compiler.reset()
    yield Contest("guards of a function of two tensors", {of: guards(m) for of, m in modules.items()}, 1000, 60, GUARDS)
    for name, make, number, budget in (
        ("digits classifier, a compiled step", digits, 20, 0.9),
        ("small GPT, a compiled step", networks.gpt, 2, 0.95),
    ):
        steps = {of: make(module, "inductor" if of == "glasstorch" else None) for of, module in modules.items()}
        if "torch" in modules:
            steps["torch.compile"] = make(modules["torch"], "inductor")
        owners = {"torch.compile": "torch"}
        runs = {of: with_threads(modules[owners.get(of, of)], THREADS, repeat(step)) for of, step in steps.items()}
        contest = Contest(f"{name}, optimizer included, against torch's eager mode", runs, number, 20, budget)
        yield contest
        yield BesideCompiled(f"{name}, optimizer included, in times of torch.compile", contest)
    yield from first_calls.first_steps(modules)


class BesideCompiled(Contest):
    """A contest's time in times of torch.compile's; it is measured before."""

    def __init__(self, name: str, of: Contest) -> None:
        super().__init__(name, {}, 0)
        self.of = of

    def measure(self) -> Row:
        fastest = self.of.fastest
        share = fastest["glasstorch"] / fastest["torch.compile"] if "torch.compile" in fastest else None
        return Row(self.name, {}, share=share)


def guards(module: Any) -> Run:
    """The check whether the graph of a function of two tensors holds, and nothing else."""

    def f(x: Any, y: Any) -> Any:
        return x * y + x

    x, y = module.ones(8), module.ones(8)
    run = module.compile(f, backend="eager")
    run(x, y)
    arguments = {"x": x, "y": y}
    if module.__name__ == "torch":
        (entry,) = module._dynamo.eval_frame._debug_get_cache_entry_list(f.__code__)
        return repeat(lambda: entry.guard_manager.check(arguments))
    (entry,) = run._optimized.entries
    return repeat(lambda: entry.check(arguments, f.__globals__))


def digits(module: Any, compiled: str | None = None) -> Callable[[], object]:
    """A step of the digits classifier on a batch of 64."""
    random, nn = np.random.default_rng(0), module.nn
    data = module.from_numpy(random.random((64, 64), dtype=np.float32))
    labels = module.from_numpy(random.integers(0, 10, 64))
    model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
    optimizer = module.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    def loss_of(data: Any, labels: Any) -> Any:
        return nn.functional.cross_entropy(model(data), labels)

    run = module.compile(loss_of, backend=compiled) if compiled is not None else loss_of

    def step() -> None:
        loss = run(data, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


def compiled(module: ModuleType, program: Program, arrays: list[Array], backward: bool) -> Callable[[], object]:
    """A call of the compiled program, with its backward pass where that is asked for."""
    tensors = [module.from_numpy(array.copy()).requires_grad_(backward) for array in arrays]

    def call(*given: Any) -> Any:
        return program(module, *given)

    run = module.compile(call)
    if not backward:
        return lambda: run(*tensors)
    ones = module.ones(arrays[0].shape)

    def step() -> None:
        for tensor in tensors:
            tensor.grad = None
        run(*tensors).backward(ones)

    return step
