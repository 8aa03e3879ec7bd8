"""Is an entry computed and kept, and not kept if it is out of date?"""

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

from glasstorch.core.errors import MissingKernelError
from glasstorch.core.keys import DispatchKey, key_set_of
from glasstorch.dispatch.operator import DispatchTable, Kernel, Operator, registry
from glasstorch.dispatch.schema import FunctionSchema
from workbook.exercises.asking import Ask, Raises, expect

KEYS = key_set_of("CPU")
MORE_KEYS = key_set_of("CPU", "ADInplaceOrView")


class Disturbed(Operator):
    """An operator that runs a function when its schema is read, which is while an entry is computed."""

    happens: Callable[[], object] | None = None

    @property
    def schema(self) -> FunctionSchema:  # type: ignore[override]
        happens, self.happens = self.happens, None
        if happens is not None:
            happens()
        return FunctionSchema.parse(self.text)


def an_operator(answer: str) -> Disturbed:
    """An operator whose kernel for the CPU returns a word and its arguments."""
    operator = Disturbed("check::op", "check::op(Tensor x) -> Tensor", "the check")
    put(operator, answer)
    return operator


def put(operator: Operator, answer: str) -> None:
    """Register a kernel for the CPU, as another thread might."""

    def kernel(*arguments: object) -> tuple[object, ...]:
        return answer, *arguments

    registered = Kernel(kernel, DispatchKey.CPU, where="the check", by_user=True)
    with registry.lock:
        operator.kernels.setdefault(DispatchKey.CPU, []).append(registered)
        registry.changed(operator)


class Lock:
    """A lock that counts how often it is held, and may call a function once, just "before" or "after" it is held."""

    def __init__(self) -> None:
        self.depth = 0
        self.happens: dict[str, Callable[[], object]] = {}

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        self.now("before")
        self.depth += 1
        return True

    def release(self) -> None:
        self.depth -= 1
        self.now("after")

    def now(self, moment: str) -> None:
        if self.depth == 0 and moment in self.happens:
            self.happens.pop(moment)()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *error: object) -> None:
        self.release()


@contextmanager
def instead(name: str, value: Any) -> Any:
    """Replace an attribute of the registry inside a `with` block."""
    before = getattr(registry, name)
    setattr(registry, name, value)
    try:
        yield value
    finally:
        setattr(registry, name, before)


def test_the_entry(ask: Ask) -> None:
    """the entry for a key set, which is called as entry(keys, *arguments)"""
    for keys in (KEYS, MORE_KEYS):
        operator = an_operator("kernel")
        entry = ask("missing", operator.table, keys).value
        came = entry(keys, "x") if callable(entry) else entry
        asked = "the result of the entry, called with the keys and 'x'"
        because = "the entry is `resolution.entry`, which takes the keys and calls the kernel without them"
        expect(came, ("kernel", "x"), asked=asked, because=because)


def test_the_next_call(ask: Ask) -> None:
    """the contents of the table afterwards"""
    for keys in (KEYS, MORE_KEYS):
        operator = an_operator("kernel")
        ask("missing", operator.table, keys)
        asked = "the key sets that the table holds afterwards"
        expect([*operator.table], [keys], asked=asked, because="the next call with this key set must find it there")


def test_a_registration_meanwhile(ask: Ask) -> None:
    """the contents of the table, if a kernel was registered while the entry was computed"""
    operator = an_operator("old")
    operator.happens = lambda: put(operator, "new")
    entry = ask("missing", operator.table, KEYS).value
    kept = [entry(KEYS, "x") for entry in operator.table.values()]
    asked = "whether an entry is returned, and whether the table keeps the kernel that was replaced meanwhile"
    because = "an entry that is out of date would stay in the table, and every later call would run it"
    expect((callable(entry), ("old", "x") in kept), (True, False), asked=asked, because=because)


def test_a_trace(ask: Ask) -> None:
    """the entry, while a trace is on"""
    operator = an_operator("kernel")

    def recording(*arguments: object) -> str:
        return "recorded"

    with instead("wrap", lambda operator, resolution: recording):
        came = ask("missing", operator.table, KEYS).value
    expect(came, recording, because="registry.wrap returns the entry that replaces the kernel's own")


def test_no_kernel(ask: Ask) -> None:
    """an error for a backend without a kernel"""
    came = ask("missing", an_operator("kernel").table, key_set_of("CUDA"))
    expect(came, Raises(MissingKernelError, "Could not run"), because="the error of `resolve` must reach the caller")


class Watched(DispatchTable):
    """A table that records whether the lock is held when an entry is put in."""

    __slots__ = ("held", "lock")

    def __setitem__(self, keys: int, entry: Any) -> None:
        self.held.append(self.lock.depth > 0)
        super().__setitem__(keys, entry)


def test_the_lock(ask: Ask) -> None:
    """the moments at which the registry's lock is held"""
    operator = an_operator("kernel")
    table = Watched(operator)
    with instead("lock", Lock()) as lock:
        table.lock, table.held = lock, []
        resolving: list[bool] = []
        operator.happens = lambda: resolving.append(lock.depth > 0)
        entry = ask("missing", table, KEYS).value
    asked = "whether an entry is returned, and whether the lock is held while it is computed and when it is kept"
    because = "other threads may register during `resolve`, but not between the check of the generation and keeping"
    expect((callable(entry), resolving, table.held), (True, [False], [True]), asked=asked, because=because)


def at_the_lock(lock: Lock, moment: str, operator: Operator) -> Callable[[], None]:
    """A function that makes another kernel be registered when the lock is next taken or released."""

    def arm() -> None:
        lock.happens[moment] = lambda: put(operator, "new")

    return arm


def test_a_registration_at_the_last_moment(ask: Ask) -> None:
    """the contents of the table, if a kernel was registered when the entry was ready"""
    for moment, words in (("before", "before the lock was taken"), ("after", "after the lock was released")):
        operator = an_operator("old")
        with instead("lock", Lock()) as lock:
            operator.happens = at_the_lock(lock, moment, operator)
            entry = ask("missing", operator.table, KEYS).value
        replaced = not lock.happens
        kept = [entry(KEYS, "x") for entry in operator.table.values()]
        asked = f"whether an entry is returned, and whether a kernel replaced just {words} is in the table afterwards"
        because = "check and keep while holding the lock once; whenever it is free, another thread may register"
        came = callable(entry), replaced and ("old", "x") in kept
        expect(came, (True, False), asked=asked, because=because)
