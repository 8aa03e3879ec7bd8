"""Keeps the hops of the call that are running, and takes from each the keys of its set above its own."""

from collections.abc import Sequence

from glasstorch.core.keys import DispatchKey, highest_key
from glasstorch.dispatch.trace import Hop


def passed_by(hops: Sequence[Hop], first: int = 0) -> tuple[DispatchKey, ...]:
    """The keys that were passed by in the call that begins at hops[first]."""
    begin = hops[first]
    running = [begin]  # the hops of the call that may still make the next one, the innermost last
    passed = above(begin)
    for hop in hops[first + 1 :]:
        while running and running[-1].depth >= hop.depth:
            running.pop()  # it has returned
        if not running:
            break
        maker = running[-1]
        if hop.depth == maker.depth + 1 and hop.operator == maker.operator and hop.keys & maker.keys == hop.keys:
            running.append(hop)
            passed += above(hop)
    return tuple(dict.fromkeys(passed))


def above(hop: Hop) -> list[DispatchKey]:
    """The keys of a hop's set that were looked up before its own."""
    found, keys = [], hop.keys
    while (key := highest_key(keys)) not in (hop.key, DispatchKey.Undefined):
        found.append(key)
        keys -= 1 << (keys.bit_length() - 1)
    return found
