"""How are random numbers put into a tensor, in the order in which PyTorch draws them?

Mirrors: aten/src/ATen/native/Distributions.cpp, aten/src/ATen/native/cpu/DistributionTemplates.h
Differs: core/generator.py draws a whole array at a time.

PyTorch walks through a tensor in the order of its memory, not of its indices: TensorIterator puts the dimension with
the smallest stride innermost. So does `fill_in_memory_order`: a transposed tensor receives the same numbers as there.
"""

from __future__ import annotations

from collections.abc import Callable

from glasstorch._tensor import Tensor
from glasstorch.core.generator import Generator, default_generator
from glasstorch.core.geometry import Shape, memory_order
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.structured import check_writable

CPU = KernelTable("CPU")


def fill_in_memory_order(tensor: Tensor, draw: Callable[[Shape], Array]) -> Tensor:
    """Write what `draw(shape)` gives, the dimension that moves fastest through memory last in `shape`."""
    if tensor._strides is None:
        tensor.array()[...] = draw(tensor._shape)
        return tensor
    check_writable(tensor, ())
    order = memory_order([tensor._strides], tensor._shape)[::-1]
    target = tensor.array().transpose(order)
    target[...] = draw(target.shape)
    return tensor


@CPU.impl("uniform_")
def uniform_(keys: int, self: Tensor, from_: float, to: float, generator: Generator | None) -> Tensor:
    """Numbers of [from, to)."""
    stream = default_generator if generator is None else generator
    return fill_in_memory_order(self, lambda shape: stream.uniform(shape, self.dtype.numpy, from_, to))


@CPU.impl("normal_")
def normal_(keys: int, self: Tensor, mean: float, std: float, generator: Generator | None) -> Tensor:
    """Normal numbers."""
    stream = default_generator if generator is None else generator
    dense = self.is_row_major()
    return fill_in_memory_order(self, lambda shape: stream.normal(shape, self.dtype.numpy, mean, std, contiguous=dense))


@CPU.impl("random_.from")
def random_(keys: int, self: Tensor, from_: int, to: int | None, generator: Generator | None) -> Tensor:
    """Whole numbers of [from, to)."""
    stream = default_generator if generator is None else generator
    return fill_in_memory_order(self, lambda shape: stream.integers(shape, self.dtype.numpy, from_, to))
