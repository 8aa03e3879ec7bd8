"""Makes a table of all names first; then sets are combined bit by bit, and read from the highest bit down."""

from collections.abc import Iterator

from glasstorch.core.keys import ALIASES, BACKENDS, FUNCTIONALITIES, PER_BACKEND, DispatchKey

PARTS: dict[str, tuple[str, str | None]] = {}
for functionality in FUNCTIONALITIES:
    if functionality in PER_BACKEND:
        PARTS |= {PER_BACKEND[functionality] + backend: (functionality, backend) for backend in BACKENDS}
    else:
        PARTS[functionality] = functionality, None


def key_set_of(*keys: DispatchKey | str) -> int:
    """The bits of these runtime keys, given as names or as members."""
    bits = 0
    for key in keys:
        name = key if isinstance(key, str) else key.name
        assert name not in ALIASES, f"{name} is an alias"
        if name == "Undefined":
            continue
        functionality, backend = PARTS[name]
        bits |= 1 << 16 + FUNCTIONALITIES.index(functionality)
        if backend is not None:
            bits |= 1 << BACKENDS.index(backend)
    return bits


def highest_key(keys: int) -> DispatchKey:
    """The runtime key that a set goes to."""
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
    """Yield the runtime keys in a set, the lowest functionality first."""
    for place, functionality in enumerate(FUNCTIONALITIES, start=16):
        if not keys >> place & 1:
            continue
        if functionality not in PER_BACKEND:
            yield DispatchKey[functionality]
        else:
            for backend_place, backend in enumerate(BACKENDS):
                if keys >> backend_place & 1:
                    yield DispatchKey[PER_BACKEND[functionality] + backend]
