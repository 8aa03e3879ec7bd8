"""Which kernels did a call pass through?

Mirrors: what TORCH_SHOW_DISPATCH_TRACE prints in a debug build of PyTorch (aten/src/ATen/core/dispatch/Dispatcher.h)
Differs: works in every build, records instead of printing, and costs nothing while it is off: the tables are cleared
    when a trace starts, refilled with recording entries, and cleared again when it stops.

# Note [As it runs]
`trace()` lists every hop that PyTorch makes too, each with the plain kernel that defines its answer. A call outside a
trace does less: a shortcut takes several hops at once (Note [Hops taken at once]), and fast functions stand in front of
plain ones (Note [Plain and fast]). `trace(as_run=True)` shows that. A shortcut is a hop of its own, and knows the hops
that it is `in_place_of`. A hop whose kernel has a fast function names it, and so does each slot that a kernel runs. A
fast function decides itself whether its case applies: where it does not, it calls the plain one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from glasstorch.core.errors import MissingKernelError
from glasstorch.core.keys import (
    ADINPLACEORVIEW,
    AUTOGRAD,
    BELOW_ADINPLACEORVIEW,
    BELOW_AUTOGRAD,
    DispatchKey,
    DispatchKeySet,
    highest_key,
)
from glasstorch.dispatch.fast import SLOTS
from glasstorch.dispatch.library import place
from glasstorch.dispatch.operator import Boxed, Operator, registry
from glasstorch.dispatch.resolve import MATH_KERNEL, Resolution, resolve
from glasstorch.dispatch.show import around


@dataclass(frozen=True, slots=True)
class Hop:
    """One kernel that ran: its operator and key, the rule that chose it, and where it is defined."""

    depth: int
    operator: str  # or the name of a slot
    key: DispatchKey
    rule: str
    keys: int  # the masked key set that the key was found in; 0 for a slot
    kernel: str  # the qualified name of the function; the plain one, if a fast one stands in front of it
    where: str  # file:line, relative to the library where it is inside
    fast: str = ""  # name and file:line of the fast function that ran in front of it; only as_run
    in_place_of: tuple[DispatchKey, ...] = ()  # of a shortcut, the keys of the hops that it replaced; only as_run

    @property
    def skipped(self) -> tuple[DispatchKey, ...]:
        """The keys that fell through on the way to this hop's, highest first."""
        return passed_by((self,))

    def __str__(self) -> str:
        key = self.rule if self.rule in (SHORTCUT, SLOT) else self.key.name
        line = f"{'  ' * self.depth}{self.operator}  [{key}]  {self.kernel}  {self.where}"
        if self.rule == SHORTCUT:
            line += f"  in place of {', '.join(key.name for key in self.in_place_of)}"
        return f"{line}\n{'  ' * self.depth}    fast: {self.fast}" if self.fast else line


SHORTCUT, SLOT = "shortcut", "slot"  # the rules of hops that only a trace as_run has


class Trace(list[Hop]):
    """The hops of the calls inside a `with trace()` block, in the order in which they started."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def key_set(self, index: int) -> DispatchKeySet:
        """The key set that a hop was resolved from."""
        return DispatchKeySet(self[index].keys)

    def passed_by(self, index: int = 0) -> tuple[DispatchKey, ...]:
        """The keys that fell through in the whole call that begins with a hop, its redispatches included."""
        return passed_by(self, index)


def passed_by(hops: Sequence[Hop], first: int = 0) -> tuple[DispatchKey, ...]:
    """The keys that were asked in the call that begins with a hop, and fell through: each once, in the order asked.

    A call goes on in a hop that one of its kernels made directly, of the same operator, with no key in its set that was
    not in the kernel's own: it was redispatched. Any other hop belongs to another call. Keys below the last hop were
    not asked, nor those that a kernel took out of the set. A functionality is asked on its highest backend.
    """
    found: dict[DispatchKey, None] = {}
    of_call: dict[int, Hop | None] = {}  # by depth, the hop that runs there, if it belongs to the call
    for index, hop in enumerate(hops[first:]):
        caller = of_call.get(hop.depth - 1)
        redispatched = caller is not None and caller.operator == hop.operator and not hop.keys & ~caller.keys
        of_call[hop.depth] = hop if index == 0 or redispatched else None
        keys = hop.keys if of_call[hop.depth] else 0
        while (key := highest_key(keys)) not in (hop.key, DispatchKey.Undefined):
            found[key] = None
            keys &= ~(1 << (keys.bit_length() - 1))
    return tuple(found)


class _Recorder(NamedTuple):
    hops: Trace
    depth: list[int]
    as_run: bool


_recorder: ContextVar[_Recorder | None] = ContextVar("recorder", default=None)
_kernel = threading.local()  # .recorder: of the hop whose kernel runs; NumPy runs in other contexts (kernels/quiet.py)
_lock = threading.Lock()
_active = 0


@contextmanager
def trace(*, as_run: bool = False) -> Iterator[Trace]:
    """Record every kernel that runs inside, in this context only.

    `as_run` records what a call outside a trace runs, with its shortcuts and fast functions: Note [As it runs].
    While a trace is on, other threads run the recording entries too, and record nothing.
    """
    recorded = Trace()
    _switch(+1)
    token = _recorder.set(_Recorder(recorded, [0], as_run))
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
            registry.wrap = around(_recording if _active else None)
            registry.changed()
        if _active and step > 0 and _active == 1:
            for slot in SLOTS.values():
                slot.run = slot.run if slot.run is slot.plain else _recording_slot(slot.name, slot.plain, slot.run)
        elif not _active:
            for slot in SLOTS.values():
                slot.run = getattr(slot.run, "untraced", slot.run)


def _recording(operator: Operator, resolution: Resolution) -> Boxed:
    """The table entry that records a hop and then runs the kernel, or the shortcut, where there is one."""
    choice = resolution.choice
    kernel = choice.kernel
    assert kernel is not None
    function = kernel.function
    name = getattr(function, "__qualname__", None) or type(function).__name__
    where = _location(function, kernel.where)
    fast = "" if kernel.fast is None else _named(kernel.fast)

    def hop(current: _Recorder, keys: int) -> Hop:
        shown = fast if current.as_run else ""
        return Hop(current.depth[0], str(operator.name), choice.key, choice.rule, keys, name, where, shown)

    every_hop = _recorded(hop, resolution.entry)
    if registry.shorten is None:
        return every_hop
    short = registry.shorten(operator, resolution.keys, replace(resolution, entry=every_hop))
    if short is every_hop:
        return every_hop
    at_once = _recorded_shortcut(operator, choice.key, short)

    def entry(keys: int, *arguments: Any) -> Any:
        current = _recorder.get()
        return (at_once if current is not None and current.as_run else every_hop)(keys, *arguments)

    return entry


def _recorded(hop: Callable[[_Recorder, int], Hop], run: Boxed) -> Boxed:
    """An entry that records a hop, if a trace is on in its context, and then runs a function."""

    def record(keys: int, *arguments: Any) -> Any:
        current = _recorder.get()
        if current is None:
            return run(keys, *arguments)
        current.hops.append(hop(current, keys))
        current.depth[0] += 1
        outer, _kernel.recorder = getattr(_kernel, "recorder", None), current
        try:
            return run(keys, *arguments)
        finally:
            current.depth[0] -= 1
            _kernel.recorder = outer

    return record


def _recorded_shortcut(operator: Operator, key: DispatchKey, short: Boxed) -> Boxed:
    """An entry that records a shortcut, with the hops that it took the place of, which are known when it has run."""
    name, where = short.__qualname__.partition(".")[0], _location(short, "")

    def record(keys: int, *arguments: Any) -> Any:
        current = _recorder.get()
        assert current is not None
        hops, at = current.hops, len(current.hops)
        hops.append(Hop(current.depth[0], str(operator.name), key, SHORTCUT, keys, name, where))
        current.depth[0] += 1
        try:
            return short(keys, *arguments)
        finally:
            current.depth[0] -= 1
            reached = hops[at + 1].key if len(hops) > at + 1 else None
            path = _path(operator, keys)
            replaced = path[: path.index(reached)] if reached in path else path
            if replaced:
                hops[at] = replace(hops[at], in_place_of=tuple(replaced))
            else:  # it left the call to the kernel that it stands in front of
                del hops[at]
                hops[at:] = [replace(hop, depth=hop.depth - 1) for hop in hops[at:]]

    return record


def _path(operator: Operator, keys: int) -> list[DispatchKey]:
    """The keys of the hops that a call makes without a shortcut: autograd, ADInplaceOrView, a backend."""
    path = []
    try:
        for layer, below in ((AUTOGRAD, BELOW_AUTOGRAD), (ADINPLACEORVIEW, BELOW_ADINPLACEORVIEW), (0, 0)):
            if keys & layer or not layer:
                choice = resolve(operator, keys).choice
                path += [choice.key] if choice.key not in path else []
                if choice.rule == MATH_KERNEL:  # what it calls are hops of other operators
                    break
                keys &= below
    except MissingKernelError:  # the call raises the error
        pass
    return path


def _recording_slot(name: str, plain: Boxed, run: Boxed) -> Boxed:
    """What a slot runs while a trace is on: it records the fast function."""

    def record(*arguments: Any, **named: Any) -> Any:
        current: _Recorder | None = getattr(_kernel, "recorder", None)
        if current is None or not current.as_run:
            return run(*arguments, **named)
        hop = Hop(current.depth[0], name, DispatchKey.CPU, SLOT, 0, plain.__qualname__, _location(plain, ""))
        current.hops.append(replace(hop, fast=_named(run)))
        current.depth[0] += 1
        try:
            return run(*arguments, **named)
        finally:
            current.depth[0] -= 1

    record.untraced = run  # type: ignore[attr-defined]
    return record


def _named(function: Boxed) -> str:
    """A function's name and location."""
    return f"{function.__qualname__.partition('.')[0]}  {_location(function, '')}"


def _location(function: Boxed, registered: str) -> str:
    """file:line of a kernel, or of its registration where the function has no code of its own."""
    code = getattr(function, "__code__", None)
    return place(code.co_filename, code.co_firstlineno) if code else registered
