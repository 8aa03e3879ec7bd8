"""Keeps its answers by key set, as an operator does, and forgets that each operator has its own."""

from collections.abc import Callable

from glasstorch.core.keys import DispatchKey, highest_key

REFUSED_BY = "lab"


Hop = tuple[DispatchKey, tuple[DispatchKey, ...]]
KNOWN: dict[int, Hop] = {}


def next_hop(keys: int, passes_by: Callable[[DispatchKey], bool]) -> tuple[DispatchKey, tuple[DispatchKey, ...]]:
    if keys not in KNOWN:
        KNOWN[keys] = walk(keys, passes_by)
    return KNOWN[keys]


def walk(keys: int, passes_by: Callable[[DispatchKey], bool]) -> Hop:
    passed: list[DispatchKey] = []
    while (key := highest_key(keys)) is not DispatchKey.Undefined and passes_by(key):
        passed.append(key)
        keys -= 1 << (keys.bit_length() - 1)
    return key, tuple(passed)
