"""What does it cost to run a program as a graph?

Small tensors, so that what is measured is the interpreter and not the kernels: the difference between an operator
in a graph and the same operator called from Python is what the graph costs, or saves. Where the interpreter is
measured, the graph is run as it was traced: nothing is fused.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from benchmarks.harness import Contest, Row, Run, repeat

NODES = 100


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    called: dict[str, Run] = {}
    interpreted: dict[str, Run] = {}
    steps: dict[str, Run] = {}
    for name, module in modules.items():
        x, y = module.ones(8), module.ones(8)
        called[name] = _for_each_node(_chain, x, y)
        interpreted[name] = _as_traced(module, _for_each_node(_traced(module, _chain, (x, y)), x, y))
        model, traced = _classifier(module), _classifier(module)
        images, labels = module.ones(64, 64), module.zeros(64, dtype=module.int64)
        steps[name] = _steps(module, model, model, images, labels)
        steps[f"{name}, traced"] = _steps(module, _traced(module, traced, (images,)), traced, images, labels)
    calls = Contest(f"an operator of {NODES} on 8 floats, called", called, 20 * NODES)
    nodes = Contest(f"an operator of {NODES} on 8 floats, interpreted", interpreted, 20 * NODES)
    yield calls
    yield nodes
    yield Difference("an interpreted node beyond its operator's call; at most 1 us", nodes, calls)
    step = Contest("digits classifier, a step of training, called", steps, 20)
    yield step
    yield Traced("digits classifier, a step of training, traced", step)
    yield Share("the traced step, in times of the called one", step, budget=1.0)


class Difference(Contest):
    """What one contest takes longer than another, by their fastest batches: both are measured before it."""

    def __init__(self, name: str, longer: Contest, shorter: Contest) -> None:
        super().__init__(name, {}, 0)
        self.longer = longer
        self.shorter = shorter

    def measure(self) -> Row:
        return Row(self.name, {"glasstorch": self.longer.fastest["glasstorch"] - self.shorter.fastest["glasstorch"]})


class Traced(Contest):
    """What the traced contestants of a contest took, which is measured before it: all of them run in turn."""

    def __init__(self, name: str, contest: Contest) -> None:
        super().__init__(name, {}, 0)
        self.contest = contest

    def measure(self) -> Row:
        fastest = self.contest.fastest
        return Row(self.name, {name: fastest[f"{name}, traced"] for name in fastest if f"{name}, traced" in fastest})


class Share(Contest):
    """The traced time of glasstorch in times of the called one, in a contest that is measured before it."""

    def __init__(self, name: str, contest: Contest, budget: float) -> None:
        super().__init__(name, {}, 0, budget=budget)
        self.contest = contest

    def measure(self) -> Row:
        fastest = self.contest.fastest
        return Row(self.name, {}, self.budget, share=fastest["glasstorch, traced"] / fastest["glasstorch"])


def _chain(x: Any, y: Any) -> Any:
    for _ in range(NODES // 2):
        x = x * y
        x = x + y
    return x


def _traced(module: ModuleType, function: Any, inputs: tuple[Any, ...]) -> Callable[..., Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # torch's word on tracing
        result: Callable[..., Any] = module.jit.trace(function, inputs)
    return result


def _as_traced(module: ModuleType, run: Run) -> Run:
    """The same run with optimisation switched off."""

    def unoptimized(number: int) -> float:
        with module.jit.optimized_execution(False):
            return run(number)

    return unoptimized


def _for_each_node(function: Callable[..., Any], *inputs: Any) -> Run:
    """Runs a chain of NODES operators, and counts operators."""

    def run(number: int) -> float:
        start = time.perf_counter()
        for _ in range(number // NODES):
            function(*inputs)
        return time.perf_counter() - start

    return run


def _classifier(module: Any) -> Any:
    nn = module.nn
    return nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))


def _steps(module: Any, run: Callable[..., Any], model: Any, images: Any, labels: Any) -> Run:
    """Steps of training: forward, loss, backward, and what the optimizer does with the gradients."""
    optimizer = module.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def step() -> None:
        optimizer.zero_grad()
        module.nn.functional.cross_entropy(run(images), labels).backward()
        optimizer.step()

    return repeat(step)
