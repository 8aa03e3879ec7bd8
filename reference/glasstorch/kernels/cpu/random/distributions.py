"""How is a CPU tensor filled with random numbers in the order in which PyTorch draws them?

Mirrors: aten/src/ATen/native/Distributions.cpp, aten/src/ATen/native/DistributionTemplates.h,
    aten/src/ATen/native/cpu/DistributionTemplates.h, aten/src/ATen/native/TensorFactories.cpp (randperm)
Differs: core/random/draws.py and core/random/distributions.py draw a whole array at a time.

PyTorch fills a tensor in memory order, not in index order: TensorIterator puts the dimension with the smallest stride
innermost. So does `fill_in_memory_order`, and a transposed tensor receives the same numbers as in PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.device import CPU as HERE
from glasstorch.core.device import device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import int64
from glasstorch.core.errors import DeviceError
from glasstorch.core.geometry import Shape, memory_order
from glasstorch.core.layout import layout
from glasstorch.core.random import distributions
from glasstorch.core.random.bounds import RandomNumberError
from glasstorch.core.random.draws import Stream
from glasstorch.core.random.generator import Generator, default_generator
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.structured import check_writable

CPU = KernelTable("CPU")
Kernel = Callable[..., Tensor]
FILLING: list[str] = []  # the operators that fill their first argument with random numbers


def fills(name: str) -> Callable[[Kernel], Kernel]:
    """Register a CPU kernel, and add it to `FILLING`."""
    FILLING.append(name)
    return CPU.impl(name)


def stream_of(generator: Generator | None) -> Stream:
    """The stream to draw from: that of the given generator, else of the default generator."""
    generator = default_generator if generator is None else generator
    if generator.device is not HERE:
        raise DeviceError(f"Expected a 'cpu' device type for generator but found '{generator.device.type}'")
    return generator.stream  # type: ignore[no-any-return]


def fill_in_memory_order(tensor: Tensor, draw: Callable[[Shape], Array]) -> Tensor:
    """Fill a tensor with `draw(shape)`, where `shape` has the dimensions in memory order, the fastest last."""
    if tensor._strides is None:
        tensor.array()[...] = draw(tensor._shape)
        return tensor
    check_writable(tensor, ())
    order = memory_order([tensor._strides], tensor._shape)[::-1]
    target = tensor.array().transpose(order)
    target[...] = draw(target.shape)
    return tensor


def fill_parts_in_memory_order(tensor: Tensor, draw: Callable[[Shape], Array]) -> Tensor:
    """As `fill_in_memory_order` for a complex tensor: `draw` gives a pair of real numbers for each element."""
    dtype = tensor.dtype.numpy
    return fill_in_memory_order(tensor, lambda shape: draw((*shape, 2)).view(dtype)[..., 0])


def register_draw(name: str, draw: Callable[..., Array]) -> None:
    """Register an operator that fills its first argument with `draw(stream, shape, dtype, ...)`."""

    @fills(name)
    def fill(keys: int, self: Tensor, *arguments: Any) -> Tensor:
        *parameters, generator = arguments
        stream = stream_of(generator)
        return fill_in_memory_order(self, lambda shape: draw(stream, shape, self.dtype.numpy, *parameters))


register_draw("log_normal_", distributions.log_normal)
register_draw("exponential_", distributions.exponential)
register_draw("cauchy_", distributions.cauchy)
register_draw("geometric_", distributions.geometric)
register_draw("random_.from", Stream.integers)
register_draw("random_.to", lambda stream, shape, dtype, to: stream.integers(shape, dtype, 0, to))
register_draw("random_", Stream.all_integers)
register_draw("bernoulli_.float", Stream.bernoulli)


@fills("uniform_")
def uniform_(keys: int, self: Tensor, from_: float, to: float, generator: Generator | None) -> Tensor:
    """Uniform numbers in [from, to); in a complex tensor, both parts."""
    stream = stream_of(generator)
    if not self.dtype.is_complex:
        return fill_in_memory_order(self, lambda shape: stream.uniform(shape, self.dtype.numpy, from_, to))
    if not self.numel():
        return self
    real = self.dtype.to_real().numpy
    return fill_parts_in_memory_order(self, lambda shape: stream.uniform(shape, real, from_, to))


@fills("normal_")
def normal_(keys: int, self: Tensor, mean: float, std: float, generator: Generator | None) -> Tensor:
    """Normal numbers; in a complex tensor each part has half of the variance."""
    stream, dense = stream_of(generator), self.is_row_major()
    dtype = self.dtype.to_real().numpy
    if not self.dtype.is_complex:
        return fill_in_memory_order(self, lambda shape: stream.normal(shape, dtype, mean, std, contiguous=dense))
    if not std >= 0:
        raise RandomNumberError(f"normal expects std >= 0.0, but found std {std:g}")
    part = std / math.sqrt(2)
    return fill_parts_in_memory_order(self, lambda shape: stream.normal(shape, dtype, mean, part, contiguous=dense))


@fills("bernoulli_.Tensor")
def bernoulli_tensor_(keys: int, self: Tensor, p: Tensor, generator: Generator | None) -> Tensor:
    """Ones and zeros; the elements of `p`, broadcast to the tensor, are the probabilities of a one."""
    if not self.numel():
        return self
    check_writable(self, ())
    order = memory_order([self.strides()], self._shape)[::-1]
    target = self.array().transpose(order)
    probabilities = p.cpu().expand(self._shape).array().transpose(order)
    target[...] = stream_of(generator).bernoulli(target.shape, self.dtype.numpy, probabilities)
    return self


# Permutations ------------------------------------------------------------------------------------------------------


@CPU.impl("randperm.generator")
def randperm(
    keys: int,
    n: int,
    generator: Generator | None,
    dtype: Dtype | None,
    layout: layout | None,
    device: device | None,
    pin_memory: bool | None,
) -> Tensor:
    """The numbers 0 to n - 1 in random order."""
    dtype = int64 if dtype is None else dtype
    result = wrap(stream_of(generator).permutation(n, dtype.numpy), dtype)
    return result.pin_memory() if pin_memory else result
