"""Which backend creates a tensor when no argument is a tensor?

Mirrors: torchgen/gen_backend_stubs.py and build/aten/src/ATen/RegisterBackendSelect.cpp, c10/core/TensorOptions.h
    (computeDispatchKey)
Differs: dtype plays no part.

A factory function such as `empty` has no tensor among its arguments, so its key set holds only what every call
includes: BackendSelect. The kernel for that key reads the argument `device`, or else the default device, and
redispatches on that device's keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch.core import private_use
from glasstorch.core.device import chosen, chosen_device, device
from glasstorch.core.keys import FUNCTIONALITY_BIT, SPARSE_COO, SPARSE_CSR, OfDevices, key_set_of
from glasstorch.core.layout import sparse_coo, strided
from glasstorch.dispatch.library import KernelTable
from glasstorch.dispatch.operator import registry
from glasstorch.operators.generated.registry import OPERATORS

BACKEND_SELECT = KernelTable("BackendSelect")

KEYS_OF_TYPE = OfDevices(
    cpu=key_set_of("CPU"),
    cuda=key_set_of("CUDA"),
    meta=key_set_of("Meta"),
    privateuseone=key_set_of("PrivateUse1"),
)
CPU = KEYS_OF_TYPE["cpu"]
DENSE = FUNCTIONALITY_BIT["Dense"]


def device_position(schema: str) -> int | None:
    """The position of the argument `device` in a factory's schema; None if a tensor argument decides instead.

    The schema's text is searched: parsing every schema would cost more than the rest of the import.

    >>> device_position("zeros(SymInt[] size, *, ScalarType? dtype=None, Device? device=None) -> Tensor")
    2
    """
    before, found, _ = schema.partition("Device? device")
    if not found or "Tensor" in before:
        return None
    return before.count(", ") - before.count("*, ")


def select_backend(name: str, position: int) -> Callable[..., Any]:
    """The BackendSelect kernel of one factory function."""
    table = registry.find(name).table

    def backend_select(keys: int, *arguments: Any) -> Any:  # hot path: benchmarks/eager.py
        on: device | None = arguments[position]
        if on is None and chosen.ever and (on := chosen_device()) is not None:
            arguments = *arguments[:position], on, *arguments[position + 1 :]
        below = CPU if on is None else KEYS_OF_TYPE[on.type]
        layout = arguments[position - 1]
        if layout is not None and layout is not strided:
            below = below & ~DENSE | (SPARSE_COO if layout is sparse_coo else SPARSE_CSR)
        if on is not None and below is not CPU:
            arguments = *arguments[:position], private_use.with_index(on), *arguments[position + 1 :]
        return table[below](below, *arguments)

    return backend_select


for _row in OPERATORS:
    _position = device_position(_row.schema)
    if _position is not None:
        BACKEND_SELECT.add(_row.name, select_backend(f"aten::{_row.name}", _position))
