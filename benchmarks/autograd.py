"""What does a gradient cost: recorded, backward, deep, in memory, and by the transforms?

`eager.py` has the recording of one operator and the step back of one node.
"""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.eager import backward_of_chain
from benchmarks.harness import Contest, Row, Run, repeat

DEEP, DEEPER = 10_000, 100_000  # nodes of a chain
Make = Callable[[ModuleType], Callable[[], object]]


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest | Depth | Memory]:
    """The contests of this file, for the modules that are installed."""

    def contest(name: str, make: Make, number: int, budget: float, rounds: int = 15) -> Contest:
        runs: dict[str, Run] = {which: repeat(make(module)) for which, module in modules.items()}
        return Contest(name, runs, number, rounds=rounds, budget=budget)

    yield Depth(modules["glasstorch"])
    yield Memory(modules["glasstorch"])
    yield contest("forward and backward of five pointwise operators, 1,000,000 floats", pointwise, 3, 1.0)
    yield contest("forward and backward of log_softmax, (4096, 1000)", log_softmax, 2, 1.8)
    yield contest("`vmap` of an MLP 64-64-10, 256 samples", mapped, 20, 1.5)
    yield contest("`vmap(grad)` of its loss, for each of 256 samples", per_sample, 5, 2.0)
    yield contest("`functional.jacobian` of tanh(Wx), 64 by 64", jacobian, 5, 1.0)
    yield contest("the same with `vectorize=True`", vectorized, 20, 2.0)
    yield contest("`jacrev` of tanh(Wx), 64 by 64", jacrev, 20, 2.0)
    yield contest("`x[8:120, 3:77]`, a view", sliced, 2_000, 1.2, rounds=100)
    yield contest("the same, recorded", sliced_of_leaf, 2_000, 1.2, rounds=100)


@dataclass
class Depth:
    """A step back in a deep chain, over that in one of a tenth of its depth: the engine's time is linear."""

    module: ModuleType
    name: str = "backward of 100,000 multiplications, for each, to that of 10,000"

    def measure(self) -> Row:
        run = backward_of_chain(self.module)
        deep, deeper = (min(run(nodes) / nodes for _ in range(3)) for nodes in (DEEP, DEEPER))
        return Row(self.name, {}, 1.2, share=deeper / deep)


@dataclass
class Memory:
    """The memory of a chain of additions at its most, for each node, with tensors that take next to nothing."""

    module: ModuleType
    name: str = "peak memory of forward and backward of 10,000 additions, for each, in kB"

    def measure(self) -> Row:
        leaf = self.module.ones((), requires_grad=True)
        gc.collect()
        tracemalloc.start()
        y: Any = leaf
        for _ in range(DEEP):
            y = y + 1.0
        y.backward()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return Row(self.name, {}, 1.0, share=peak / DEEP / 1000)


def random(module: ModuleType, *shape: int, seed: int = 0, **options: Any) -> Any:
    """A tensor of standard normal floats, the same for each contestant."""
    values = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    return module.tensor(values, **options)


def pointwise(module: ModuleType) -> Callable[[], object]:
    x = random(module, 1_000_000, requires_grad=True)

    def run() -> None:
        x.grad = None
        ((x * 2.0 + 1.0).tanh() * x - 0.5).sum().backward()

    return run


def log_softmax(module: ModuleType) -> Callable[[], object]:
    x = random(module, 4096, 1000, requires_grad=True)
    ones = module.ones(4096, 1000)

    def run() -> None:
        x.grad = None
        module.log_softmax(x, 1).backward(ones)

    return run


def mlp(module: ModuleType) -> tuple[Callable[[Any, Any], Any], dict[str, Any]]:
    """The function of a network of two layers, and its parameters."""
    shapes = {"w1": (64, 64), "b1": (64,), "w2": (10, 64), "b2": (10,)}
    parameters = {name: random(module, *shape, seed=seed) * 0.1 for seed, (name, shape) in enumerate(shapes.items())}

    def network(p: Any, x: Any) -> Any:
        linear = module.nn.functional.linear
        return linear(linear(x, p["w1"], p["b1"]).relu(), p["w2"], p["b2"])

    return network, parameters


def mapped(module: ModuleType) -> Callable[[], object]:
    network, parameters = mlp(module)
    samples = random(module, 256, 64, seed=9)
    each = module.func.vmap(network, in_dims=(None, 0))
    return lambda: each(parameters, samples)


def per_sample(module: ModuleType) -> Callable[[], object]:
    network, parameters = mlp(module)
    samples, targets = random(module, 256, 64, seed=9), module.arange(256) % 10

    def loss(p: Any, x: Any, target: Any) -> Any:
        return module.nn.functional.cross_entropy(network(p, x)[None], target[None])

    each = module.func.vmap(module.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: each(parameters, samples, targets)


def layer(module: ModuleType) -> tuple[Callable[[Any], Any], Any]:
    """tanh(Wx) as a function of x, and an x."""
    w = random(module, 64, 64)
    return lambda x: module.tanh(w @ x), random(module, 64, seed=1)


def jacobian(module: ModuleType) -> Callable[[], object]:
    function, x = layer(module)
    return lambda: module.autograd.functional.jacobian(function, x)


def vectorized(module: ModuleType) -> Callable[[], object]:
    function, x = layer(module)
    return lambda: module.autograd.functional.jacobian(function, x, vectorize=True)


def jacrev(module: ModuleType) -> Callable[[], object]:
    function, x = layer(module)
    return lambda: module.func.jacrev(function)(x)


def sliced(module: ModuleType) -> Callable[[], object]:
    x = module.ones(128, 128)
    return lambda: x[8:120, 3:77]


def sliced_of_leaf(module: ModuleType) -> Callable[[], object]:
    x = module.ones(128, 128, requires_grad=True)
    return lambda: x[8:120, 3:77]
