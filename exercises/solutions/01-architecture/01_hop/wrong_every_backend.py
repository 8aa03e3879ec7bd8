"""Goes through the keys one by one, and asks a functionality on each of its backends."""

from collections.abc import Callable

from glasstorch.core.keys import DispatchKey, runtime_keys

REFUSED_BY = "check"


def next_hop(keys: int, passes_by: Callable[[DispatchKey], bool]) -> tuple[DispatchKey, tuple[DispatchKey, ...]]:
    passed: list[DispatchKey] = []
    for key in reversed([*runtime_keys(keys)]):
        if not passes_by(key):
            return key, tuple(passed)
        passed.append(key)
    return DispatchKey.Undefined, tuple(passed)
