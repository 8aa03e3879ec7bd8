"""How are random numbers put into a tensor on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/DistributionTemplates.h
Differs: PyTorch's CUDA generator is another one (Philox, a stream for each thread) and gives other numbers. Here the
    CPU's generator draws, and the numbers are copied: a program gives the same on the CPU and on a device.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor, empty, empty_strided
from glasstorch.core.generator import Generator
from glasstorch.core.geometry import strides_like
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu import random as on_cpu
from glasstorch.kernels.cpu.multinomial import multinomial as multinomial_on_cpu
from glasstorch.kernels.cuda.copies import copy_elements
from glasstorch.kernels.structured import check_writable

CUDA = KernelTable("CUDA")


def drawn_on_cpu(name: str, draw: Callable[..., Tensor]) -> None:
    """Register an operator that draws into its first argument."""

    def kernel(keys: int, self: Tensor, *arguments: Any) -> Tensor:
        check_writable(self, ())
        if self._strides is None:
            drawn = empty(self._shape, self.dtype)
        else:
            drawn = empty_strided(self._shape, strides_like(self._shape, self._strides), self.dtype)
        return copy_elements(self, draw(keys, drawn, *arguments))

    kernel.__name__ = kernel.__qualname__ = draw.__name__
    CUDA.add(name, kernel)


for _name, _draw in on_cpu.DRAWS.items():
    drawn_on_cpu(_name, _draw)


@CUDA.impl("multinomial")
def multinomial(keys: int, self: Tensor, num_samples: int, replacement: bool, generator: Generator | None) -> Tensor:
    """Places of the last dimension, drawn with the weights that stand there."""
    drawn = multinomial_on_cpu(keys, self.cpu(), num_samples, replacement, generator)
    return copy_elements(empty(drawn._shape, drawn.dtype, self.device), drawn)
