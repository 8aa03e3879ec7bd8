"""What do random operators do on meta tensors?

Mirrors: aten/src/ATen/native/Distributions.cpp (uniform_meta_, normal_meta_, random_meta_),
    torch/_meta_registrations.py
Differs: parameters are not checked.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.device import META as NOWHERE
from glasstorch.core.device import device
from glasstorch.core.dtype import dtype, int64
from glasstorch.core.layout import layout
from glasstorch.core.random.generator import Generator
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.random.distributions import FILLING
from glasstorch.kernels.creation.factories import new_empty

META = KernelTable("Meta")


@META.impl(*FILLING)
def nothing_to_draw(keys: int, self: Tensor, *arguments: Any) -> Tensor:
    """The tensor itself, which has no elements to fill."""
    return self


@META.impl("randperm.generator")
def randperm(
    keys: int,
    n: int,
    generator: Generator | None,
    dtype: dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
) -> Tensor:
    """A vector of n elements."""
    return new_empty(NOWHERE, (n,), int64 if dtype is None else dtype, pin_memory, None)
