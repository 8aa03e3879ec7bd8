"""Tells those that passed by from the lowest to the highest."""

from collections.abc import Callable

from glasstorch.core.keys import DispatchKey, highest_key

REFUSED_BY = "check"


def next_hop(keys: int, passes_by: Callable[[DispatchKey], bool]) -> tuple[DispatchKey, tuple[DispatchKey, ...]]:
    passed: tuple[DispatchKey, ...] = ()
    while (key := highest_key(keys)) is not DispatchKey.Undefined and passes_by(key):
        passed = (key, *passed)
        keys -= 1 << (keys.bit_length() - 1)
    return key, passed
