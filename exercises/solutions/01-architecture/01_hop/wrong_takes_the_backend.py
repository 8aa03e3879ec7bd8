"""Takes all bits of the key out of the set, that of its backend among them."""

from collections.abc import Callable

from glasstorch.core.keys import DispatchKey, highest_key, key_set_of

REFUSED_BY = "check"


def next_hop(keys: int, passes_by: Callable[[DispatchKey], bool]) -> tuple[DispatchKey, tuple[DispatchKey, ...]]:
    passed: list[DispatchKey] = []
    while (key := highest_key(keys)) is not DispatchKey.Undefined and passes_by(key):
        passed.append(key)
        keys &= ~key_set_of(key)
    return key, tuple(passed)
