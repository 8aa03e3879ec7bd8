"""Asks every key first and looks at the answers afterwards."""

from collections.abc import Callable

from glasstorch.core.keys import DispatchKey, highest_key

REFUSED_BY = "check"


def next_hop(keys: int, passes_by: Callable[[DispatchKey], bool]) -> tuple[DispatchKey, tuple[DispatchKey, ...]]:
    answers: list[tuple[DispatchKey, bool]] = []
    while (key := highest_key(keys)) is not DispatchKey.Undefined:
        answers.append((key, passes_by(key)))
        keys -= 1 << (keys.bit_length() - 1)
    for place, (key, passes) in enumerate(answers):
        if not passes:
            return key, tuple(above for above, _ in answers[:place])
    return DispatchKey.Undefined, tuple(above for above, _ in answers)
