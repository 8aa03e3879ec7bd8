"""Lets a DispatchKeySet work the bits out, which will ask this very function."""

from collections.abc import Iterator

from glasstorch.core.keys import ALIASES, BACKENDS, FUNCTIONALITIES, PER_BACKEND, DispatchKey, DispatchKeySet

REFUSED_BY = "graft"


def key_set_of(*keys: DispatchKey | str) -> int:
    bits = 0
    for key in keys:
        member = DispatchKey[key] if isinstance(key, str) else key
        assert member.name not in ALIASES, f"{member.name} is an alias"
        bits |= DispatchKeySet(member).bits
    return bits


def highest_key(keys: int) -> DispatchKey:
    functionalities, backends = keys >> 16, keys & 0xFFFF
    if not functionalities:
        return DispatchKey.Undefined
    functionality = FUNCTIONALITIES[functionalities.bit_length() - 1]
    if functionality not in PER_BACKEND:
        return DispatchKey[functionality]
    if not backends:
        return DispatchKey.Undefined
    return DispatchKey[PER_BACKEND[functionality] + BACKENDS[backends.bit_length() - 1]]


def runtime_keys(keys: int) -> Iterator[DispatchKey]:
    for place, functionality in enumerate(FUNCTIONALITIES, start=16):
        if not keys >> place & 1:
            continue
        if functionality not in PER_BACKEND:
            yield DispatchKey[functionality]
        else:
            for backend_place, backend in enumerate(BACKENDS):
                if keys >> backend_place & 1:
                    yield DispatchKey[PER_BACKEND[functionality] + backend]
