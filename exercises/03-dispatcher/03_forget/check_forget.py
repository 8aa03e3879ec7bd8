"""Is an entry worked out and kept, and not kept where it is no longer right?"""

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
    """An operator to which something happens while an entry is worked out: its schema is read then."""

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
    """A lock that knows whether it is held. Something may happen once, just "before" or just "after" that."""

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
    """Something else in the registry, for a while."""
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
        asked = "what the entry gives when it is called with the keys and 'x'"
        because = "the entry of the resolution stands between the table and the kernel, which wants no keys"
        expect(came, ("kernel", "x"), asked=asked, because=because)


def test_the_next_call(ask: Ask) -> None:
    """what the table holds afterwards"""
    for keys in (KEYS, MORE_KEYS):
        operator = an_operator("kernel")
        ask("missing", operator.table, keys)
        asked = "the key sets that the table holds afterwards"
        expect([*operator.table], [keys], asked=asked, because="the next call with this whole set is to find it there")


def test_a_registration_meanwhile(ask: Ask) -> None:
    """what the table holds, if a kernel was registered while the entry was worked out"""
    operator = an_operator("old")
    operator.happens = lambda: put(operator, "new")
    entry = ask("missing", operator.table, KEYS).value
    kept = [entry(KEYS, "x") for entry in operator.table.values()]
    asked = "whether an entry came, and whether the kernel that was replaced meanwhile is in the table afterwards"
    because = "nobody would take it out again, and every call from now on would run it"
    expect((callable(entry), ("old", "x") in kept), (True, False), asked=asked, because=because)


def test_a_trace(ask: Ask) -> None:
    """the entry, while a trace is on"""
    operator = an_operator("kernel")

    def recording(*arguments: object) -> str:
        return "recorded"

    with instead("wrap", lambda operator, resolution: recording):
        came = ask("missing", operator.table, KEYS).value
    expect(came, recording, because="registry.wrap says what is put in the kernel's place")


def test_no_kernel(ask: Ask) -> None:
    """the entry for a backend without a kernel"""
    came = ask("missing", an_operator("kernel").table, key_set_of("CUDA"))
    expect(came, Raises(MissingKernelError, "Could not run"), because="the caller is to hear of it")


class Watched(DispatchTable):
    """A table that notes whether the lock is held when something is put in."""

    __slots__ = ("held", "lock")

    def __setitem__(self, keys: int, entry: Any) -> None:
        self.held.append(self.lock.depth > 0)
        super().__setitem__(keys, entry)


def test_the_lock(ask: Ask) -> None:
    """when the registry's lock is held"""
    operator = an_operator("kernel")
    table = Watched(operator)
    with instead("lock", Lock()) as lock:
        table.lock, table.held = lock, []
        resolving: list[bool] = []
        operator.happens = lambda: resolving.append(lock.depth > 0)
        entry = ask("missing", table, KEYS).value
    asked = "whether an entry came, and whether the lock was held: while it was worked out, and when it was kept"
    because = "others may register while you work, but not between looking at the generation and keeping"
    expect((callable(entry), resolving, table.held), (True, [False], [True]), asked=asked, because=because)


def at_the_lock(lock: Lock, moment: str, operator: Operator) -> Callable[[], None]:
    """Lets another thread register when the lock is next taken or given back."""

    def arm() -> None:
        lock.happens[moment] = lambda: put(operator, "new")

    return arm


def test_a_registration_at_the_last_moment(ask: Ask) -> None:
    """what the table holds, if a kernel was registered when the entry was ready"""
    for moment, words in (("before", "before the lock was taken"), ("after", "after the lock was given back")):
        operator = an_operator("old")
        with instead("lock", Lock()) as lock:
            operator.happens = at_the_lock(lock, moment, operator)
            entry = ask("missing", operator.table, KEYS).value
        replaced = not lock.happens
        kept = [entry(KEYS, "x") for entry in operator.table.values()]
        asked = f"whether an entry came, and whether a kernel that was replaced just {words} is in the table afterwards"
        because = "look and keep while you hold the lock once: before it, and between two times, others may register"
        came = callable(entry), replaced and ("old", "x") in kept
        expect(came, (True, False), asked=asked, because=because)
