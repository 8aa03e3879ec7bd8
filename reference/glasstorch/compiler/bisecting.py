"""How many times may a step of the compiler be taken, while the step is looked for that goes wrong?

Mirrors: torch/_inductor/compiler_bisector.py (CompilerBisector.disable_subsystem)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final

_limits: Final[dict[str, int]] = {}
taken: Final[Counter[str]] = Counter()  # how often each step was asked for since the limit was set
names: Final[dict[str, str]] = {}  # what the last step that was taken was about


def applies(step: str, name: object) -> bool:
    """Whether a step is taken; always, unless a search has limited it."""
    if not _limits or step not in _limits:
        return True
    taken[step] += 1
    if taken[step] > _limits[step]:
        return False
    names[step] = str(name)
    return True


@contextmanager
def limited(step: str, most: int) -> Iterator[None]:
    """Let a step be taken so many times, and then no more."""
    taken[step] = 0
    names.pop(step, None)
    _limits[step] = most
    try:
        yield
    finally:
        del _limits[step]


def limited_table(table: dict[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """A table of decompositions, of which each is a step."""
    return {op: _one(op, function) for op, function in table.items()} if "decomposition" in _limits else table


def _one(op: Any, function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def decomposed(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) if applies("decomposition", op) else NotImplemented

    return decomposed
