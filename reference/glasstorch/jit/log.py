"""Where do the passes' log messages go?

Mirrors: torch/csrc/jit/jit_log.h (GRAPH_DUMP, GRAPH_UPDATE), jit_log.cpp (JitLoggingConfig)
Differs: a pass is named by its function (in PyTorch by its file), and `*` names all. Besides standard error, messages
    can go to a function for the duration of a `with` block.

The environment variable GLASSTORCH_JIT_LOG_LEVEL names passes, separated by colons. With `peephole`, the changes of
that pass are logged; with `>peephole`, the whole graph before and after it too.

    GLASSTORCH_JIT_LOG_LEVEL='eliminate_dead_code:>fuse_pointwise' python program.py
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from difflib import ndiff
from typing import Final

from glasstorch.jit.ir import Graph, Node

VARIABLE: Final = "GLASSTORCH_JIT_LOG_LEVEL"
Show = Callable[[str], None]

_listener: ContextVar[Show | None] = ContextVar("listener", default=None)


@contextmanager
def show_passes(to: Show = print) -> Iterator[None]:
    """In the `with` block, pass `to` the changes of each pass as text, and what could not be fused, and why.

    A graph is optimised before its first run: one that has run is not optimised again.

    >>> import glasstorch as torch
    >>> traced = torch.jit.trace(lambda x: (x.t().t() + 1).exp(), torch.zeros(2, 2))
    >>> with show_passes(lambda text: print(text.splitlines()[0])), torch.jit.fuser("none"):
    ...     _ = traced(torch.zeros(2, 2))
    erase_shape_information: 6 -> 6 nodes
    peephole: 6 -> 5 nodes
    eliminate_dead_code: 5 -> 4 nodes
    """
    token = _listener.set(to)
    try:
        yield
    finally:
        _listener.reset(token)


def run_pass(change: Callable[[Graph], bool], graph: Graph, show: Show | None = None) -> bool:
    """Run a pass on a graph and log what it changed. Returns whether it changed anything.

    `show` gets the messages of this one run, in addition to the program's other listeners.
    """
    name = change.__name__
    listeners = [to for to in (show, _listener.get()) if to is not None]
    level = _level(name)
    if not listeners and level is None:
        return change(graph)
    before, count = str(graph), _count(graph)
    changed = change(graph)
    if changed:
        text = f"{name}: {count} -> {_count(graph)} nodes\n{_difference(before, str(graph))}"
        for to in listeners:
            to(text)
        if level == 0:
            _write(text)
        elif level is not None:
            _write(f"Before {name}:\n{before}\nAfter {name}:\n{graph}\n{text}")
    return changed


def log_unfused(node: Node, why: str) -> None:
    """Log that a node was not fused."""
    _tell("fuse_pointwise", lambda: f"left {str(node).strip().partition(chr(10))[0]} as it is: {why}")


def log_underived(node: Node, why: str) -> None:
    """Log that a group's operators are differentiated one by one, as no gradient could be derived."""
    _tell(
        "create_autodiff_subgraphs",
        lambda: f"left the gradient of {str(node).strip().partition(chr(10))[0]} to its operators: {why}",
    )


def _tell(name: str, what: Callable[[], str]) -> None:
    """Log a message of a pass; the text is made only if there is a listener."""
    to, level = _listener.get(), _level(name)
    if to is None and level is None:
        return
    text = f"{name}: {what()}"
    if to is not None:
        to(text)
    if level is not None:
        _write(text)


def _level(name: str) -> int | None:
    """How many `>` precede the name of a pass in the variable; None if it is not named."""
    for entry in os.environ.get(VARIABLE, "").split(":"):
        named = entry.lstrip(">")
        if named in (name, "*"):
            return len(entry) - len(named)
    return None


def _write(text: str) -> None:
    print(text, file=sys.stderr)


def _count(graph: Graph) -> int:
    return sum(1 for _ in graph.all_nodes())


def _difference(before: str, after: str) -> str:
    lines = ndiff(before.splitlines(), after.splitlines())
    return "\n".join(line for line in lines if not line.startswith("?"))
