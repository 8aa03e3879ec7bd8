"""Who is told what a compilation does, stage by stage, and how long it takes?

Mirrors: torch/_logging/_internal.py (trace_structured), torch/_dynamo/utils.py (dynamo_timed)
Differs: a watcher is a function of this process; PyTorch writes to loggers and files.

A stage says what it made where somebody watches: `told("joint", module=joint)`. If nobody does, that costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, Final

Watcher = Callable[[str, dict[str, Any]], None]
STAGES: Final = (
    "begun", "step", "captured", "graph", "joint", "partition", "forward", "loops", "broken", "recompiled", "hint",
    "took",
)  # fmt: skip
watchers: list[Watcher] = []


def told(stage: str, **facts: Any) -> None:
    """Tell all watchers what a stage made."""
    assert stage in STAGES, stage
    for watcher in watchers:
        watcher(stage, facts)


@contextmanager
def watched_by(watcher: Watcher) -> Iterator[None]:
    """Tell a watcher what is compiled within the block."""
    watchers.append(watcher)
    try:
        yield
    finally:
        watchers.remove(watcher)


@contextmanager
def timed(name: str) -> Iterator[None]:
    """Tell how many seconds a part of a compilation took."""
    if not watchers:
        yield
        return
    start = perf_counter()
    try:
        yield
    finally:
        told("took", name=name, seconds=perf_counter() - start)
