"""How do programs reach the engine without `backward` and `grad`?

`Variable._execution_engine` is what libraries use that queue a callback for the end of a pass.

Mirrors: torch/csrc/autograd/python_engine.cpp
Differs: `run_backward` takes tensors and edges that `backward` and `grad` have prepared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from glasstorch.autograd import engine
from glasstorch.autograd.graph import differentiated, input_edges, roots_of
from glasstorch.core.errors import AutogradError


class EngineBase:
    """The engine, as `torch.autograd.Variable._execution_engine` shows it."""

    def run_backward(
        self,
        tensors: tuple[Any, ...],
        grad_tensors: tuple[Any, ...],
        keep_graph: bool,
        create_graph: bool,
        inputs: tuple[Any, ...] = (),
        allow_unreachable: bool = False,
        accumulate_grad: bool = False,
    ) -> tuple[Any, ...] | None:
        """Run a pass: gradients go to leaves with `accumulate_grad`, and are returned without it."""
        _check_tuple("tensors", tensors)
        _check_tuple("grad_tensors", grad_tensors)
        if len(tensors) != len(grad_tensors):
            raise AutogradError(f"got {len(tensors)} tensors and {len(grad_tensors)} gradients")
        roots, edges = roots_of(tensors), input_edges(inputs)
        if accumulate_grad:
            engine.execute(roots, grad_tensors, keep_graph, create_graph, only=edges or None)
            return None
        return tuple(differentiated(roots, grad_tensors, keep_graph, create_graph, edges, allow_unreachable))

    def queue_callback(self, callback: Callable[[], None]) -> None:
        """Call a function when the pass that is running has run its last node."""
        engine.queue_callback(callback)

    def is_checkpoint_valid(self) -> bool:
        """Whether a node may start a backward pass of its own."""
        return engine.is_checkpoint_valid()


EngineBase.__name__ = EngineBase.__qualname__ = "_EngineBase"


def _check_tuple(name: str, given: Sequence[Any]) -> None:
    if not isinstance(given, tuple):
        raise AutogradError(f"{name} argument is expected to be a tuple, but got {type(given).__name__}")


ImperativeEngine = EngineBase
