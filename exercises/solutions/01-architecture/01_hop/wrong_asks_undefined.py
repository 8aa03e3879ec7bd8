"""Has no end of its own, and asks Undefined too, which passes by as well where all do."""

from collections.abc import Callable

from glasstorch.core.keys import DispatchKey, highest_key

REFUSED_BY = "check"


def next_hop(keys: int, passes_by: Callable[[DispatchKey], bool]) -> tuple[DispatchKey, tuple[DispatchKey, ...]]:
    passed: list[DispatchKey] = []
    while passes_by(key := highest_key(keys)):
        passed.append(key)
        keys -= 1 << (keys.bit_length() - 1)
    return key, tuple(passed)
