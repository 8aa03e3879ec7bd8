"""Which optimised graph does a call run?

Mirrors: torch/csrc/jit/runtime/graph_executor.cpp (GraphExecutorImpl, lastExecutedOptimizedGraph),
    graph_executor_impl.h (getPlanFor), graph_executor.h (ExecutionPlan)
Differs: without shape propagation and profiling, a plan serves every shape and dtype: it depends only on whether
    gradients are recorded. During tracing, the graph of another traced function runs without passes, so that its
    operators are recorded.

A graph is never run as it is: each plan is a copy that was optimised and compiled once, before its first run.
"""

from __future__ import annotations

import threading
from copy import deepcopy
from pickle import PicklingError
from typing import Any, NamedTuple, NoReturn

import glasstorch.jit.differentiable_graph  # noqa: F401  (registers its kind of node)
from glasstorch._tensor import Tensor
from glasstorch.autograd.modes import grad_mode
from glasstorch.core.errors import ArgumentError
from glasstorch.jit.interpreter import Code
from glasstorch.jit.ir import Graph
from glasstorch.jit.log import run_pass
from glasstorch.jit.passes.create_autodiff_subgraphs import create_autodiff_subgraphs
from glasstorch.jit.passes.pipeline import run_nondiff_optimization, run_optimization
from glasstorch.jit.settings import fuser_name, optimize
from glasstorch.jit.tracer import tracing_state


class ExecutionPlan(NamedTuple):
    """A graph in its final form, and the instructions that run it."""

    graph: Graph
    code: Code


class PlanKey(NamedTuple):
    """The facts that a plan depends on."""

    optimized: bool
    records_gradients: bool = False
    fuser: str = "none"


AS_TRACED = PlanKey(optimized=False)

# One plan is made at a time (PyTorch's compile_mutex is per graph). Reentrant: constant folding may run another graph.
_compiling = threading.RLock()


class _LastExecuted(threading.local):
    graph: Graph | None = None


_last_executed = _LastExecuted()


class GraphExecutor:
    """Runs a graph: `executor(*inputs)` returns its outputs as a tuple."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self._plans: dict[PlanKey, ExecutionPlan] = {}

    def __call__(self, *inputs: Any) -> tuple[Any, ...]:
        plan = self.plan_for(inputs)
        _last_executed.graph = plan.graph
        return plan.code(*inputs)

    def graph_for(self, *inputs: Any) -> Graph:
        """The graph that a call with these inputs would run; nothing is run."""
        return self.plan_for(inputs).graph

    def plan_for(self, inputs: tuple[Any, ...]) -> ExecutionPlan:
        """The plan for a call with these inputs, made if it is the first such call."""
        if not optimize.get() or tracing_state.get() is not None:
            key = AS_TRACED
        else:
            key = PlanKey(True, grad_mode.get() and _any_requires_grad(inputs), fuser_name.get())
        return self._plans.get(key) or self._compile(key)

    def _compile(self, key: PlanKey) -> ExecutionPlan:
        with _compiling:
            if key not in self._plans:  # another thread may have been first
                self.graph.lint()  # it may have been edited since
                graph = self.graph.copy()
                if key.records_gradients:
                    run_optimization(graph)
                    run_pass(create_autodiff_subgraphs, graph)
                elif key.optimized:
                    run_nondiff_optimization(graph)
                self._plans[key] = ExecutionPlan(graph, Code(graph))
            return self._plans[key]

    def __reduce__(self) -> NoReturn:
        raise PicklingError("a traced program cannot be pickled; jit.save writes it, to a file or a buffer")

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphExecutor:
        return GraphExecutor(deepcopy(self.graph, memo))


def last_executed_optimized_graph() -> Graph:
    """The graph that this thread's last call of a traced function or module ran; ArgumentError before any call."""
    if _last_executed.graph is None:
        raise ArgumentError("no graph has been executed in this thread; call a traced function or module first")
    return _last_executed.graph


def _any_requires_grad(values: tuple[Any, ...] | list[Any]) -> bool:
    for value in values:
        if isinstance(value, Tensor):
            if value.requires_grad:
                return True
        elif isinstance(value, tuple | list) and _any_requires_grad(value):
            return True
    return False
