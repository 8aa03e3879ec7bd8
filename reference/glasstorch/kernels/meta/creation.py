"""How are meta tensors created?

Mirrors: aten/src/ATen/EmptyTensor.cpp (empty_meta), torch/_meta_registrations.py
"""

from __future__ import annotations

from glasstorch._tensor import Tensor, empty
from glasstorch.core.device import META as NOWHERE
from glasstorch.core.device import device
from glasstorch.core.dtype import Number, dtype
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.creation.factories import register_empty
from glasstorch.kernels.creation.ranges import register_arange

META = KernelTable("Meta")


def made(start: Number, step: Number, length: int, dtype: dtype, device: device, pin_memory: bool | None) -> Tensor:
    """A vector with the length of the range."""
    return empty((length,), dtype, NOWHERE)


def fill(out: Tensor, start: Number, step: Number) -> None:
    """There is nothing to write."""


register_empty(META, NOWHERE)
register_arange(META, made, fill)
