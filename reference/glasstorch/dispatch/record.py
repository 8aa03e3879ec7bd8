"""How does each call of an operator leave a record while somebody profiles?

Mirrors: aten/src/ATen/record_function.h (RecordFunction, RecordScope), the RecordFunction guard in
    aten/src/ATen/core/dispatch/Dispatcher.h (Dispatcher::call, callWithDispatchKeySlowPath)
Differs: PyTorch asks at each call whether somebody listens. Here the question costs nothing: Note [Recorded calls].

# Note [Recorded calls]
PyTorch records in `Dispatcher::call`, before the key set is looked at, and not in `redispatch`: one record for each
call of an operator, however many kernels it passes through, and the calls that its kernels make are records inside it.
A key at the top of the set does exactly that. While a recorder is active, the included keys contain the mark RECORDED,
which stands above all keys, so that every call finds the entry made here: it strips the mark, records, and runs what
the table holds for the rest of the set. A redispatch passes the rest on, and is not seen. PyTorch 1.6 had such a key,
`Profiler`. RECORDED is none of PyTorch's keys and does not show in a key set. While nobody records, no set contains it.

A composite operator runs its plain kernel, not the shortcut that may stand in front of it (Note [Hops taken at once]),
so that the operators that it is composed of have records of their own, as in PyTorch.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from enum import IntEnum
from threading import get_ident
from time import perf_counter_ns as clock
from typing import Any, NamedTuple

from glasstorch.core.keys import AUTOGRAD_AND_NESTED, RECORDED
from glasstorch.dispatch.active_keys import active_keys
from glasstorch.dispatch.operator import Boxed, Operator, registry
from glasstorch.dispatch.resolve import MATH_KERNEL, resolve


class RecordScope(IntEnum):
    """What kind of code a record is about; the values are PyTorch's."""

    FUNCTION = 0
    BACKWARD_FUNCTION = 1
    TORCHSCRIPT_FUNCTION = 2
    KERNEL_FUNCTION_DTYPE = 3
    CUSTOM_CLASS = 4
    BUILD_FEATURE = 5
    LITE_INTERPRETER = 6
    USER_SCOPE = 7
    STATIC_RUNTIME_OP = 8
    STATIC_RUNTIME_MODEL = 9

    def __str__(self) -> str:
        return f"RecordScope.{self.name}"


FUNCTION, BACKWARD_FUNCTION, USER_SCOPE = (
    int(scope) for scope in (RecordScope.FUNCTION, RecordScope.BACKWARD_FUNCTION, RecordScope.USER_SCOPE)
)


class Record(NamedTuple):
    """One piece of a program's time: a call of an operator, a node's backward step, a labelled block.

    Times are in nanoseconds of `time.perf_counter_ns`. `sequence` is the number of the node that the call makes, or of
    the node that runs; -1 where none does. `detail` is what `Recorder.capture` kept of the arguments, and `device` what
    `Recorder.device_begins` returned. While somebody records, it is a plain tuple, which costs less to make.
    """

    what: tuple[str, str, int]  # name, overload, scope
    start: int
    end: int
    sequence: int
    thread: int
    forward_thread: int = 0
    detail: Any = None
    device: Any = None

    @property
    def name(self) -> str:
        return self.what[0]

    @property
    def overload(self) -> str:
        return self.what[1]

    @property
    def scope(self) -> int:
        return self.what[2]


class Open:
    """A record of something that is no call of an operator, and has begun."""

    __slots__ = ("detail", "forward_thread", "sequence", "start", "thread", "what")

    def __init__(self, name: str, scope: int, sequence: int, detail: Any) -> None:
        self.what = name, "", scope
        self.sequence = sequence
        self.thread = thread_number(get_ident())
        self.forward_thread = self.thread if scope != USER_SCOPE and sequence >= 0 else 0
        self.detail = detail
        self.start = clock()

    def ended(self, end: int) -> tuple[Any, ...]:
        return self.what, self.start, end, self.sequence, self.thread, self.forward_thread, self.detail


class Recorder:
    """Who listens: the records so far, and what else is to be noted of each call.

    `upcoming` says which sequence number the next node will have, -1 where none is recorded. The others are None where
    nothing of the kind is to be noted: `capture(arguments)`; `results(arguments, result)`, which is called before the
    record ends; `device_begins()` and `device_ends(mark)`, around the call. `plain`: all of them are None.
    """

    __slots__ = ("capture", "device_begins", "device_ends", "open", "plain", "records", "results", "upcoming")

    def __init__(
        self,
        upcoming: Callable[[], int],
        capture: Callable[[Sequence[Any]], Any] | None = None,
        results: Callable[[Sequence[Any], Any], None] | None = None,
        device_begins: Callable[[], Any] | None = None,
        device_ends: Callable[[Any], None] | None = None,
    ) -> None:
        self.records: list[tuple[Any, ...]] = []  # of Record's fields, in the order in which they ended
        self.open: dict[int, Open] = {}
        self.upcoming = upcoming
        self.capture = capture
        self.results = results
        self.device_begins = device_begins
        self.device_ends = device_ends
        self.plain = capture is None and results is None and device_begins is None

    def begin(self, name: str, scope: int = FUNCTION, sequence: int = -1, arguments: Any = None) -> Open:
        """A record of something that is no call of an operator; it begins now, and `end` ends it."""
        detail = None if arguments is None or self.capture is None else self.capture(arguments)
        begun = Open(name, scope, sequence, detail)
        self.open[id(begun)] = begun
        return begun

    def end(self, begun: Open) -> None:
        """What was begun is over."""
        if self.open.pop(id(begun), None) is not None:
            self.records.append(begun.ended(clock()))

    def end_beyond(self, count: int) -> None:
        """All is over that was begun after the first so many that are open: an error has left it."""
        for begun in [*self.open.values()][: count - 1 if count else None : -1]:
            self.end(begun)

    def applying(self, node: Any) -> Callable[[Any], Any]:
        """The node's backward step, recorded under the node's name when it is called."""

        def apply(grads: Any) -> Any:
            begun = self.begin(node.name(), BACKWARD_FUNCTION, sequence_of(node), grads)
            try:
                return node.apply(grads)
            finally:
                self.end(begun)

        return apply

    def evaluation(self, node: Any) -> Open:
        """The record of all that the engine does for a node; the engine ends it."""
        return self.begin(f"autograd::engine::evaluate_function: {node.name()}", FUNCTION, sequence_of(node))

    def finished(self, end: int) -> list[Record]:
        """All records, in the order in which they began. What is still open ends at a given time."""
        for begun in self.open.values():
            self.records.append(begun.ended(end))
        self.open.clear()
        return sorted((Record(*record) for record in self.records), key=lambda record: (record.start, -record.end))


def sequence_of(node: Any) -> int:
    """A node's sequence number; -1 for the node of a leaf, which has the highest."""
    number: int = node.sequence_nr
    return number if number < 1 << 62 else -1


recorder: ContextVar[Recorder | None] = ContextVar("profile_recorder", default=None)

_native: dict[int, int] = {}  # number -> the operating system's name for the thread


class _Numbers(dict[int, int]):
    """Thread -> its number; 1 for the first that records."""

    def __missing__(self, ident: int) -> int:
        number = self[ident] = len(self) + 1
        _native[number] = threading.get_native_id()
        return number


thread_number = _Numbers().__getitem__


def native_id(number: int) -> int:
    """The operating system's id of the thread with a number."""
    return _native.get(number, number)


def start(listener: Recorder) -> None:
    """Record the calls in this context from now on."""
    included, allowed = active_keys.get()
    active_keys.set((included | RECORDED, allowed | RECORDED))
    recorder.set(listener)


def stop() -> None:
    """Record no more calls in this context."""
    included, allowed = active_keys.get()
    active_keys.set((included & ~RECORDED, allowed & ~RECORDED))
    recorder.set(None)


def recorded(operator: Operator, keys: int) -> Boxed:
    """The table's entry for calls with the mark: record the call, and run the entry for the rest of the set."""
    below = keys & ~RECORDED
    name, _, overload = str(operator.name).partition(".")
    numbered = bool(below & AUTOGRAD_AND_NESTED)
    if registry.wrap is None and (resolution := resolve(operator, below)).choice.rule == MATH_KERNEL:
        run = resolution.entry
    else:
        run = operator.table[below]

    what = name, overload, FUNCTION

    def entry(keys: int, *arguments: Any) -> Any:  # hot path: benchmarks/profiler.py
        current = recorder.get()
        if current is None:  # a mode that was left after the profile restored the mark
            return run(below, *arguments)
        sequence = current.upcoming() if numbered else -1
        if not current.plain:
            return noted(current, sequence, arguments)
        start = clock()
        try:
            return run(below, *arguments)
        finally:
            current.records.append((what, start, clock(), sequence, thread_number(get_ident())))

    def noted(current: Recorder, sequence: int, arguments: tuple[Any, ...]) -> Any:
        """The same, with all that is to be noted besides."""
        detail = None if current.capture is None else current.capture(arguments)
        device = None if current.device_begins is None else current.device_begins()
        start = clock()
        try:
            result = run(below, *arguments)
            if current.results is not None:
                current.results(arguments, result)
            return result
        finally:
            if current.device_ends is not None:
                current.device_ends(device)
            thread = thread_number(get_ident())
            current.records.append((what, start, clock(), sequence, thread, 0, detail, device))

    return entry


registry.record = recorded
