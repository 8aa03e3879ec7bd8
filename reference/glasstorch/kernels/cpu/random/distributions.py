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
from glasstorch.dispatch.library import KernelTable, caller
from glasstorch.kernels.structured import check_writable

CPU = KernelTable("CPU")
Draw = Callable[..., Tensor]

# Kernels that fill their first argument with random numbers; the other backends use them too.
DRAWS: dict[str, Draw] = {}


def draws(name: str) -> Callable[[Draw], Draw]:
    """Register a CPU kernel, and add it to `DRAWS`."""

    def decorate(function: Draw) -> Draw:
        CPU.add(name, function, caller(1))
        DRAWS[name] = function
        return function

    return decorate


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


# Continuous distributions ------------------------------------------------------------------------------------------


@draws("uniform_")
def uniform_(keys: int, self: Tensor, from_: float, to: float, generator: Generator | None) -> Tensor:
    """Uniform numbers in [from, to); in a complex tensor, both parts."""
    stream = stream_of(generator)
    if self.dtype.is_complex:
        if not self.numel():
            return self
        real = self.dtype.to_real().numpy
        return fill_parts_in_memory_order(self, lambda shape: stream.uniform(shape, real, from_, to))
    return fill_in_memory_order(self, lambda shape: stream.uniform(shape, self.dtype.numpy, from_, to))


@draws("normal_")
def normal_(keys: int, self: Tensor, mean: float, std: float, generator: Generator | None) -> Tensor:
    """Normal numbers; in a complex tensor each part has half of the variance."""
    stream = stream_of(generator)
    dense = self.is_row_major()
    if self.dtype.is_complex:
        if not std >= 0:
            raise RandomNumberError(f"normal expects std >= 0.0, but found std {std:g}")
        real, part = self.dtype.to_real().numpy, std / math.sqrt(2)
        return fill_parts_in_memory_order(self, lambda shape: stream.normal(shape, real, mean, part, contiguous=dense))
    return fill_in_memory_order(self, lambda shape: stream.normal(shape, self.dtype.numpy, mean, std, contiguous=dense))


@draws("log_normal_")
def log_normal_(keys: int, self: Tensor, mean: float, std: float, generator: Generator | None) -> Tensor:
    """Numbers whose logarithms are normal."""
    stream = stream_of(generator)
    return fill_in_memory_order(
        self, lambda shape: distributions.log_normal(stream, shape, self.dtype.numpy, mean, std)
    )


@draws("exponential_")
def exponential_(keys: int, self: Tensor, lambd: float, generator: Generator | None) -> Tensor:
    """Exponentially distributed numbers."""
    stream = stream_of(generator)
    return fill_in_memory_order(self, lambda shape: distributions.exponential(stream, shape, self.dtype.numpy, lambd))


@draws("cauchy_")
def cauchy_(keys: int, self: Tensor, median: float, sigma: float, generator: Generator | None) -> Tensor:
    """Cauchy-distributed numbers."""
    stream = stream_of(generator)
    return fill_in_memory_order(
        self, lambda shape: distributions.cauchy(stream, shape, self.dtype.numpy, median, sigma)
    )


# Integers -----------------------------------------------------------------------------------------------------


@draws("random_.from")
def random_from_(keys: int, self: Tensor, from_: int, to: int | None, generator: Generator | None) -> Tensor:
    """Integers in [from, to)."""
    stream = stream_of(generator)
    return fill_in_memory_order(self, lambda shape: stream.integers(shape, self.dtype.numpy, from_, to))


@draws("random_.to")
def random_to_(keys: int, self: Tensor, to: int, generator: Generator | None) -> Tensor:
    """Integers in [0, to)."""
    return random_from_(keys, self, 0, to, generator)


@draws("random_")
def random_(keys: int, self: Tensor, generator: Generator | None) -> Tensor:
    """Integers from 0 to the largest number up to which the dtype represents every integer."""
    stream = stream_of(generator)
    return fill_in_memory_order(self, lambda shape: stream.all_integers(shape, self.dtype.numpy))


@draws("geometric_")
def geometric_(keys: int, self: Tensor, p: float, generator: Generator | None) -> Tensor:
    """The number of trials up to the first success; each trial succeeds with probability p."""
    stream = stream_of(generator)
    return fill_in_memory_order(self, lambda shape: distributions.geometric(stream, shape, self.dtype.numpy, p))


@draws("bernoulli_.float")
def bernoulli_float_(keys: int, self: Tensor, p: float, generator: Generator | None) -> Tensor:
    """Ones with probability p, otherwise zeros."""
    stream = stream_of(generator)
    return fill_in_memory_order(self, lambda shape: stream.bernoulli(shape, self.dtype.numpy, p))


@draws("bernoulli_.Tensor")
def bernoulli_tensor_(keys: int, self: Tensor, p: Tensor, generator: Generator | None) -> Tensor:
    """Ones and zeros; the elements of `p`, broadcast to the tensor, are the probabilities of a one."""
    if not self.numel():
        return self
    check_writable(self, ())
    expanded = p.cpu().expand(self._shape)
    order = memory_order([self.strides()], self._shape)[::-1]
    target = self.array().transpose(order)
    probabilities = expanded.array().transpose(order)
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
