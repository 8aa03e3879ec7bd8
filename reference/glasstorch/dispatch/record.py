"""How does each call of an operator leave a record while somebody profiles?

Mirrors: aten/src/ATen/record_function.h (RecordFunction, RecordScope), the RecordFunction guard in
    aten/src/ATen/core/dispatch/Dispatcher.h (Dispatcher::call, callWithDispatchKeySlowPath)
Differs: PyTorch asks at each call whether somebody listens. Here the question costs nothing: Note [Recorded calls].

# Note [Recorded calls]
PyTorch records in `Dispatcher::call`, before the key set is looked at, and not in `redispatch`: one record for each call
of an operator, however many kernels it passes through, and the calls that its kernels make are records inside it.
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
from time import perf_counter_ns as clock
from typing import Any

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


FUNCTION, BACKWARD_FUNCTION, USER_SCOPE = int(RecordScope.FUNCTION), int(RecordScope.BACKWARD_FUNCTION), 7


class Record:
    """One piece of a program's time: a call of an operator, a node's backward step, a labelled block, a function.

    Times are in nanoseconds of `time.perf_counter_ns`; `end` is 0 until it is over. `sequence` is the number of the
    node that the call makes, or of the node that runs; -1 where none does.
    """

    __slots__ = ("detail", "device", "end", "forward_thread", "name", "overload", "scope", "sequence", "start", "thread")

    def __init__(self, name: str, overload: str, scope: int, sequence: int, thread: int) -> None:
        self.name = name
        self.overload = overload
        self.scope = scope
        self.sequence = sequence
        self.thread = thread
        self.forward_thread = 0
        self.detail: Any = None  # what `Recorder.describe` said about the arguments
        self.device: Any = None  # what `Recorder.device_begins` returned
        self.start = self.end = 0


class Recorder:
    """Who listens: the records so far, and what else is to be noted of each call.

    `upcoming` says which sequence number the next node will have, -1 where none is recorded. The others are None where
    nothing of the kind is to be noted: `describe(operator, arguments)`; `results(arguments, result)`, which is called
    before the record ends; `device_begins()` and `device_ends(mark)`, around the call.
    """

    __slots__ = ("describe", "device_begins", "device_ends", "records", "results", "upcoming")

    def __init__(self, upcoming: Callable[[], int]) -> None:
        self.records: list[Record] = []
        self.upcoming = upcoming
        self.describe: Callable[[Operator | None, Sequence[Any]], Any] | None = None
        self.results: Callable[[Sequence[Any], Any], None] | None = None
        self.device_begins: Callable[[], Any] | None = None
        self.device_ends: Callable[[Any], None] | None = None

    def begin(self, name: str, scope: int = FUNCTION, sequence: int = -1) -> Record:
        """A record of something that is no call of an operator; it begins now."""
        record = Record(name, "", scope, sequence, thread_number())
        self.records.append(record)
        record.start = clock()
        return record

    def end(self, record: Record) -> None:
        record.end = clock()

    def node(self, node: Any, apply: Callable[[Any], Any], grads: Any) -> Any:
        """Run a node's backward step, recorded under the node's name."""
        record = self.begin(node.name(), BACKWARD_FUNCTION, sequence_of(node))
        record.forward_thread = record.thread if record.sequence >= 0 else 0
        if self.describe is not None:
            record.detail = self.describe(None, grads)
        try:
            return apply(grads)
        finally:
            record.end = clock()

    def evaluation(self, node: Any) -> Record:
        """The record of all that the engine does for a node; the engine ends it."""
        record = self.begin(f"autograd::engine::evaluate_function: {node.name()}", FUNCTION, sequence_of(node))
        record.forward_thread = record.thread if record.sequence >= 0 else 0
        return record


def sequence_of(node: Any) -> int:
    """A node's sequence number; -1 for the node of a leaf, which has the highest."""
    number: int = node.sequence_nr
    return number if number < 1 << 62 else -1


recorder: ContextVar[Recorder | None] = ContextVar("profile_recorder", default=None)

_numbers: dict[int, int] = {}  # thread -> its number
_native: dict[int, int] = {}  # number -> the operating system's name for it


def thread_number(identify: Callable[[], int] = threading.get_ident) -> int:
    """The calling thread's number: 1 for the first that records."""
    ident = identify()
    number = _numbers.get(ident)
    if number is None:
        number = _numbers[ident] = len(_numbers) + 1
        _native[number] = threading.get_native_id()
    return number


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
    name, _, overload = operator.name.partition(".")
    numbered = bool(below & AUTOGRAD_AND_NESTED)
    if registry.wrap is None and (resolution := resolve(operator, below)).choice.rule == MATH_KERNEL:
        run = resolution.entry
    else:
        run = operator.table[below]

    def entry(keys: int, *arguments: Any) -> Any:  # hot path: benchmarks/profiler.py
        current = recorder.get()
        if current is None:  # a mode that was left after the profile restored the mark
            return run(below, *arguments)
        record = Record(name, overload, 0, current.upcoming() if numbered else -1, thread_number())
        current.records.append(record)
        if current.describe is not None:
            record.detail = current.describe(operator, arguments)
        if current.device_begins is not None:
            record.device = current.device_begins()
        record.start = clock()
        try:
            result = run(below, *arguments)
            if current.results is not None:
                current.results(arguments, result)
            return result
        finally:
            if current.device_ends is not None:
                current.device_ends(record.device)
            record.end = clock()

    return entry


registry.record = recorded
