"""Asks the highest key, and takes its functionality's bit out of the set while it passes by."""

from collections.abc import Callable

from glasstorch.core.keys import DispatchKey, highest_key

Passes = Callable[[DispatchKey], bool]
Hop = tuple[DispatchKey, tuple[DispatchKey, ...]]


def next_hop(keys: int, passes_by: Passes) -> Hop:
    """The highest key that does not pass by, and those above it that do."""
    passed: list[DispatchKey] = []
    while (key := highest_key(keys)) is not DispatchKey.Undefined and passes_by(key):
        passed.append(key)
        keys -= 1 << (keys.bit_length() - 1)
    return key, tuple(passed)
