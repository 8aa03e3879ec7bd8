"""Which kernels did a call pass through?

Mirrors: what TORCH_SHOW_DISPATCH_TRACE prints in a debug build of PyTorch (aten/src/ATen/core/dispatch/Dispatcher.h)
Differs: works in every build, records instead of printing, and costs nothing while it is off: the tables are cleared
    when a trace starts, refilled with recording entries, and cleared again when it stops.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from glasstorch.core.keys import DispatchKey, DispatchKeySet
from glasstorch.dispatch.library import place
from glasstorch.dispatch.operator import Boxed, Operator, registry
from glasstorch.dispatch.resolve import Resolution


@dataclass(frozen=True, slots=True)
class Hop:
    """One kernel that ran: its operator and key, the rule that chose it, and where it is defined."""

    depth: int
    operator: str
    key: DispatchKey
    rule: str
    skipped: tuple[DispatchKey, ...]  # keys that fell through before this one
    keys: int  # the masked key set of the call
    kernel: str  # the function's qualified name
    where: str  # file:line, relative to the library where it is inside

    def __str__(self) -> str:
        return f"{'  ' * self.depth}{self.operator}  [{self.key.name}]  {self.kernel}  {self.where}"


class Trace(list[Hop]):
    """The hops of the calls inside a `with trace()` block, in the order in which they started."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def key_set(self, index: int) -> DispatchKeySet:
        """The key set that a hop was resolved from."""
        return DispatchKeySet(self[index].keys)


_recorder: ContextVar[tuple[Trace, list[int]] | None] = ContextVar("recorder", default=None)
_lock = threading.Lock()
_active = 0


@contextmanager
def trace() -> Iterator[Trace]:
    """Record every kernel that runs inside, in this context only.

    While a trace is on, other threads run the recording entries too, and record nothing.
    """
    recorded = Trace()
    _switch(+1)
    token = _recorder.set((recorded, [0]))
    try:
        yield recorded
    finally:
        _recorder.reset(token)
        _switch(-1)


def _switch(step: int) -> None:
    global _active
    with _lock:
        _active += step
        with registry.lock:
            registry.wrap = _recording if _active else None
            registry.changed()


def _recording(operator: Operator, resolution: Resolution) -> Boxed:
    """The table entry that records a hop and then runs the kernel."""
    entry = resolution.entry
    kernel = resolution.choice.kernel
    assert kernel is not None
    function = kernel.function
    name = getattr(function, "__qualname__", None) or type(function).__name__
    where = _location(function, kernel.where)

    def record(keys: int, *arguments: Any) -> Any:
        current = _recorder.get()
        if current is None:
            return entry(keys, *arguments)
        recorded, depth = current
        choice = resolution.choice
        recorded.append(Hop(depth[0], operator.name, choice.key, choice.rule, resolution.skipped, keys, name, where))
        depth[0] += 1
        try:
            return entry(keys, *arguments)
        finally:
            depth[0] -= 1

    return record


def _location(function: Boxed, registered: str) -> str:
    """file:line of a kernel, or of its registration where the function has no code of its own."""
    code = getattr(function, "__code__", None)
    return place(code.co_filename, code.co_firstlineno) if code else registered
