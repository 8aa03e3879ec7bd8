"""Lists the keys on backends first, and all others after them."""

from collections.abc import Iterator

from glasstorch.core.keys import ALIASES, BACKENDS, FUNCTIONALITIES, PER_BACKEND, DispatchKey

REFUSED_BY = "check"

PARTS: dict[str, tuple[str, str | None]] = {}
for functionality in FUNCTIONALITIES:
    if functionality in PER_BACKEND:
        PARTS |= {PER_BACKEND[functionality] + backend: (functionality, backend) for backend in BACKENDS}
    else:
        PARTS[functionality] = functionality, None


def key_set_of(*keys: DispatchKey | str) -> int:
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
    present = [name for place, name in enumerate(FUNCTIONALITIES, start=16) if keys >> place & 1]
    for functionality in (name for name in present if name in PER_BACKEND):
        for backend_place, backend in enumerate(BACKENDS):
            if keys >> backend_place & 1:
                yield DispatchKey[PER_BACKEND[functionality] + backend]
    yield from (DispatchKey[name] for name in present if name not in PER_BACKEND)
