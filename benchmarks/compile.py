"""What does torch.compile make of a program, and what does ours?

Both compile the same function, with two threads each, in one run. torch's backend is inductor, which
writes C++ as ours does. The first calls, which compile, are not counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.fusion import chain, keep_memory, with_threads
from benchmarks.harness import Contest, repeat

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
]


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
        yield Contest(f"compiled: {name}, {THREADS} threads each", runs, 300 if small else 1, 60, budget)


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
