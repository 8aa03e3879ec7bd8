"""Who asks for a report, and when is it written?

Mirrors: torch/_logging/_internal.py (TORCH_TRACE) in what it is for
Differs: `torch.compiler.report` and `torch.compiler.reporting` are names that PyTorch does not have. With
    `GLASSTORCH_REPORT=page.html` in the environment, or `python -m glasstorch --report page.html program.py`, the page
    is written when a program ends.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from glasstorch._tensor import Tensor
from glasstorch.autograd.graph import grad
from glasstorch.compiler.remembered import nodes_behind
from glasstorch.compiler.reports.page import Page
from glasstorch.compiler.reports.recording import Recording
from glasstorch.compiler.watching import watched_by, watchers
from glasstorch.core.pytree import tree_leaves
from glasstorch.fx._names import at

PATH: Final = "report.html"


def report(
    name: str, compiled: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], path: str | os.PathLike[str]
) -> Path:
    """Run a function that is compiled at its first call, and write a page on what was made of it; where that lies.

    If a result requires grad, its gradients are computed too, and dropped.
    """
    recording = Recording()
    with watched_by(recording):
        _run_backward(compiled(*args, **kwargs))
    return _write(recording, path, f"Compilation of {name}")


@contextmanager
def reporting(path: str | os.PathLike[str] = PATH) -> Iterator[Recording]:
    """Write a page on all that is compiled within the block, also where it ends with an error."""
    recording = Recording()
    try:
        with watched_by(recording):
            yield recording
    finally:
        _write(recording, path, "What was compiled")


def until_the_end(path: str) -> None:
    """Write a page, when the program ends, on all that it has compiled; none if that is nothing."""
    recording = Recording()
    watchers.append(recording)
    process = os.getpid()

    def write() -> None:
        if recording.parts and os.getpid() == process:
            _write(recording, path, "What the program compiled")

    atexit.register(write)


def _write(recording: Recording, path: str | os.PathLike[str], title: str) -> Path:
    place = Path(path)
    place.write_text(Page(recording, title).text(), encoding="utf-8")
    return place


def _run_backward(results: Any) -> None:
    """Compute the gradients of all results for what they depend on; nothing keeps them."""
    roots = [leaf for leaf in tree_leaves(results) if isinstance(leaf, Tensor) and leaf.grad_fn is not None]
    variables = [getattr(node, "variable", None) for node in nodes_behind(roots)]
    leaves = [variable for variable in variables if variable is not None]
    if leaves:
        grad(roots, leaves, [at("ones_like")(root) for root in roots], allow_unused=True)
