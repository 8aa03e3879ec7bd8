"""How does a compiler get a whole program, its backward pass included?

Reading order: `effects` (what a function does to its arguments, and which results share their memory), `joint` (one
graph of the forward and the backward pass), `partition` (cut in two), `boxed` (how a compiled graph is called),
`compiled` (run as one autograd node), `aot` (all of it, for a function), `decompositions/` (operators in terms of
simpler ones); `loops/` (from a graph to C++); how Python code becomes such a graph: `bytecode/`, `guards` (when a graph
may be used again), `captured` (a function that runs by its graphs).

Below stands what a program finds at torch.compiler. Programs ask whether they are being compiled, and mark functions
that must not be. Both are answered as PyTorch answers them outside `torch.compile`, which is refused by name until it
has a compiler of its own; `torch._dynamo.optimize` captures a function for a backend that is given.

Mirrors: torch/compiler/__init__.py
Differs: there is no compiler of graphs yet.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "cudagraph_mark_step_begin",
    "disable",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "reset",
]


def is_compiling() -> bool:
    """Whether the code that asks is being compiled or exported: no."""
    return False


def is_dynamo_compiling() -> bool:
    """Whether the code that asks is being captured: no."""
    return False


def is_exporting() -> bool:
    """Whether the code that asks is being exported: no."""
    return False


def reset() -> None:
    """Forget what has been compiled: nothing has."""


def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """A function that is not compiled: itself. Without a function, a decorator."""
    return (lambda function: function) if fn is None else fn


def allow_in_graph(fn: Any) -> Any:
    """A function, or a list of them, that stays one call in a graph: itself."""
    if isinstance(fn, list | tuple):
        return [allow_in_graph(one) for one in fn]
    if not callable(fn):
        raise AssertionError("allow_in_graph expects a callable")
    return fn


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose result does not change between calls: itself."""
    return fn


def cudagraph_mark_step_begin() -> None:
    """Mark the begin of a step for graphs of CUDA, of which there are none."""


__getattr__ = refuse_unknown_names(__name__)
