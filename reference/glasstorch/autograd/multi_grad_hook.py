"""When have the gradients of several tensors arrived?

Mirrors: torch/autograd/graph.py (register_multi_grad_hook)
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Self

from glasstorch._tensor import Tensor
from glasstorch.autograd.accumulate_grad import AccumulateGrad
from glasstorch.autograd.engine import GraphTask, running
from glasstorch.autograd.history import grad_accumulator, gradient_edge
from glasstorch.autograd.node import Node
from glasstorch.core.errors import AutogradError

MODES = ("all", "any")


class MultiHandle:
    """The handle of one hook on several tensors; `remove()` unregisters it from all."""

    def __init__(self, handles: Sequence[Any]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def register_multi_grad_hook(tensors: Sequence[Tensor], fn: Callable[[Any], None], *, mode: str = "all") -> MultiHandle:
    """Call `fn` once in each backward pass in which gradients of these tensors are computed.

    With "all", it is called when the last of them has arrived, with a list that has None for each tensor which this
    pass does not reach. With "any", it is called with the first that arrives.
    """
    if mode not in MODES:
        raise ValueError(f"Expects mode to be one of {MODES} but got {mode}")
    hooks = _on_all(tensors, fn) if mode == "all" else _on_first(tensors, fn)
    return MultiHandle([tensor.register_hook(hook) for tensor, hook in hooks])


def _on_all(tensors: Sequence[Tensor], fn: Callable[[Any], None]) -> list[tuple[Tensor, Callable[[Any], None]]]:
    if not all(tensor.requires_grad for tensor in tensors):
        raise AssertionError("Expected gradient function to be set")
    nodes = [_node_of(tensor) for tensor in tensors]
    # For each pass: the gradients so far, and how many are still to come.
    waiting: weakref.WeakKeyDictionary[GraphTask, tuple[list[Any], list[None]]] = weakref.WeakKeyDictionary()

    def arrived(position: int, grad: Any) -> None:
        task = _running()
        if task not in waiting:
            reached = [None for node in nodes if _arrives(node(), task)]
            waiting[task] = [None] * len(nodes), reached
        gradients, missing = waiting[task]
        gradients[position] = grad
        missing.pop()
        if not missing:
            del waiting[task]
            fn(gradients)

    return [(tensor, partial(arrived, position)) for position, tensor in enumerate(tensors)]


def _node_of(tensor: Tensor) -> Callable[[], Node | None]:
    """Finds the node that a tensor's gradient comes to, as long as it exists; it is not held, as it holds the hook."""
    edge = gradient_edge(tensor)
    if edge is None:
        return lambda: None
    if tensor.grad_fn is not None:
        return weakref.ref(edge[0])
    leaf = weakref.ref(tensor)  # whose node is another for each graph
    return lambda: None if (found := leaf()) is None else grad_accumulator(found)


def _arrives(node: Node | None, task: GraphTask) -> bool:
    """Whether a pass brings a gradient to the node."""
    if node is None or not task.reaches(node):
        return False
    if isinstance(node, AccumulateGrad) and node in task.captures:
        raise AutogradError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
            "currently not supported."
        )
    return True


def _on_first(tensors: Sequence[Tensor], fn: Callable[[Any], None]) -> list[tuple[Tensor, Callable[[Any], None]]]:
    done: weakref.WeakSet[GraphTask] = weakref.WeakSet()

    def arrived(grad: Any) -> None:
        task = _running()
        if task not in done:
            done.add(task)
            fn(grad)

    return [(tensor, arrived) for tensor in tensors if tensor.requires_grad]


def _running() -> GraphTask:
    task = running.get()
    if task is None:
        raise AutogradError("a hook on several tensors was called outside a backward pass")
    return task
