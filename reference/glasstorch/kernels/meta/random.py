"""What is left of drawing random numbers where there are no elements?

Mirrors: aten/src/ATen/native/Distributions.cpp (uniform_meta_, normal_meta_, random_meta_),
    torch/_meta_registrations.py
Differs: parameters are not looked at.
"""

from __future__ import annotations

from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.random.distributions import DRAWS

META = KernelTable("Meta")


@META.impl(*DRAWS)
def nothing_to_draw(keys: int, self: Tensor, *arguments: Any) -> Tensor:
    """The tensor itself."""
    return self
