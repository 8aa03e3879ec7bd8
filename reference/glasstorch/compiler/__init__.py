"""How does a compiler get a whole program, its backward pass included?

Reading order: `effects` (what a function does to its arguments, and which results share their memory), `joint` (one
graph of the forward and the backward pass), `drawn_again` (whose random numbers a checkpoint uses), `partition` (cut
in two), `roles`, `common_results` and `min_cut` (cut so
that little is saved), `partition_settings`, `boxed` (how a compiled graph is called), `compiled` (run as one autograd
node), `shared_arguments` (which share memory), `aot` (all of it, for a function), `graph_compilers` (that only look at
a graph), `decompositions/` (operators in terms of simpler ones), `remembered`
(from which line of the program a node comes); `patterns/` (parts of a graph that are replaced by cheaper ones);
`loops/` (from a graph to C++); how Python code
becomes such a graph: `bytecode/`, `guards` and `mismatch` (when a graph may be used again, and why not), `shapes`
(which sizes are symbols), `compilation` (what the graphs of one program have in common), `captured` (a function that
runs by its graphs), `entry` and `optimize` (how a program asks for that), `optimized_module` (for a module); `backends`
(who compiles a graph), `marks` (what is not captured), `stance` (whether graphs are used now), `setting_table`,
`settings` (what else
can be chosen), `watching` (who is told of each stage), `reports/` (a page on all), `explain`, `counters` `log_names`,
`log_state`, `logs` and `log_texts` (what was captured), `reasons` (what PyTorch calls that), `errors`.

Below stands what a program finds at torch.compiler.

Mirrors: torch/compiler/__init__.py
Differs: `report` and `reporting`, which PyTorch does not have, write a page on a compilation.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from glasstorch.compiler.stance import is_compiling as is_compiling
from glasstorch.compiler.stance import is_dynamo_compiling as is_dynamo_compiling
from glasstorch.compiler.stance import is_exporting as is_exporting
from glasstorch.compiler.stance import set_stance as set_stance
from glasstorch.core.unknown_names import refuse_unknown_names

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "get_default_backend",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "report",
    "reporting",
    "reset",
    "set_default_backend",
    "set_stance",
]


def compile(*args: Any, **kwargs: Any) -> Any:  # PyTorch's name
    """`torch.compile`."""
    from glasstorch.compiler import entry

    return entry.compile(*args, **kwargs)


def reset() -> None:
    """Forget what has been compiled."""
    from glasstorch.compiler import captured

    captured.reset()


def list_backends(exclude_tags: Sequence[str] | None = ("debug", "experimental")) -> list[str]:
    """The names that `compile(backend=...)` takes, but for those with a tag that is left out."""
    from glasstorch.compiler import backends

    return backends.list_backends(exclude_tags)


def set_default_backend(backend: Any) -> None:
    """Which backend compiles where none is named; None for PyTorch's default, "inductor"."""
    from glasstorch.compiler import backends

    backends.set_default_backend(backend)


def get_default_backend() -> Any:
    """The backend that compiles where none is named."""
    from glasstorch.compiler import backends

    return backends.get_default_backend()


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """A function that is not captured: a call of it is a graph break. Without a function, a decorator."""
    from glasstorch.compiler import marks

    return marks.disable(fn, recursive, reason=reason)


def allow_in_graph(fn: Any) -> Any:
    """Let a function, or each of a list, stay one call in a graph: what it does is not looked into."""
    from glasstorch.compiler import marks

    return marks.allow_in_graph(fn)


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function be called once, while its caller is captured, and its result be a constant of the graph."""
    from glasstorch.compiler import marks

    return marks.assume_constant_result(fn)


def cudagraph_mark_step_begin() -> None:
    """Mark where a step begins, for CUDA graphs, of which there are none."""


def report(fn: Callable[..., Any], *args: Any, path: str | os.PathLike[str] = "report.html", **kwargs: Any) -> Path:
    """Compile a function, run it with these arguments, and write a page on what was made of it, stage by stage.

    The function is called once; if a result requires grad, its gradients are computed too, and dropped. A function
    that `torch.compile` has made is compiled anew, with the options that it has. The result is the page's path.
    """
    from glasstorch.compiler import entry, reports

    name = getattr(fn, "__qualname__", type(fn).__qualname__)
    return reports.report(name, entry.anew(fn), args, kwargs, path)


def reporting(path: str | os.PathLike[str] = "report.html") -> AbstractContextManager[Any]:
    """A context that writes a page on all that is compiled within it."""
    from glasstorch.compiler import reports

    return reports.reporting(path)


__getattr__ = refuse_unknown_names(__name__)
