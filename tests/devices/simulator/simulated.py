"""How do these tests run a kernel on NumPy arrays?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from glasstorch.devices.arguments import pack
from glasstorch.devices.simulator.errors import SimFault
from glasstorch.devices.simulator.module import Counts, SimModule

Array = np.ndarray[Any, Any]
FILE = "planted.cu"


def dim(size: int | Sequence[int]) -> tuple[int, int, int]:
    """One to three sizes as three."""
    x, y, z = (*((size,) if isinstance(size, int) else size), 1, 1)[:3]
    return (x, y, z)


def run(
    source: str,
    arguments: Sequence[Any],
    grid: int | Sequence[int] = 1,
    block: int | Sequence[int] = 32,
    name: str = "f",
    shared_memory: int = 0,
    order: str = "forward",
    seed: int = 1,
    check: bool = False,
    count: bool = False,
    fresh: Sequence[Array] = (),
    constant: Sequence[Array] = (),
) -> Counts | None:
    """Run a kernel on arrays, each a buffer of its own, and on NumPy scalars.

    With `check`, what is in `fresh` counts as never written, and what is in `constant` may not be written.
    """
    plain = "extern" in source and name.isidentifier()
    module = SimModule(source, FILE, () if plain else (name,), check=check or count)
    kernel = module.kernel(name)
    given = [argument.ctypes.data if isinstance(argument, np.ndarray) else argument for argument in arguments]
    rows, kept = [], []
    for array in (argument for argument in arguments if isinstance(argument, np.ndarray)):
        written = np.full(array.nbytes, not any(array is one for one in fresh), np.uint8)
        kept.append(written)
        flags = int(any(array is one for one in constant))
        rows.append((array.ctypes.data, array.ctypes.data + array.nbytes, written.ctypes.data, flags))
    buffers = np.array(sorted(rows), np.uint64).reshape(-1, 4) if check else None
    packed = pack(name, kernel.signature, given)
    return kernel.run(dim(grid), dim(block), packed, shared_memory, order, seed, buffers)


def fault(*arguments: Any, **options: Any) -> SimFault:
    """The fault that a run ends with."""
    try:
        run(*arguments, **options)
    except SimFault as found:
        return found
    raise AssertionError("the kernel ran to its end")
