"""How is a CUDA tensor filled with random numbers?

Mirrors: aten/src/ATen/native/cuda/DistributionTemplates.h, aten/src/ATen/native/cuda/Randperm.cu,
    aten/src/ATen/native/cuda/MultinomialKernel.cu
Differs: the numbers are those of PyTorch's kernels on the same device, but they are computed on the CPU and copied.
    `multinomial` with replacement draws its uniform numbers in another order than PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from glasstorch._tensor import Tensor, empty, empty_strided, wrap
from glasstorch.core.device import device
from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import int64
from glasstorch.core.errors import DeviceError
from glasstorch.core.geometry import Shape, memory_order, strides_like
from glasstorch.core.layout import layout
from glasstorch.core.random.bounds import RandomNumberError
from glasstorch.core.random.draws import Array
from glasstorch.core.random.generator import Generator, default_generator_of
from glasstorch.core.random.philox_draws import BLOCK_SIZE, Draws
from glasstorch.devices.runtime import driver
from glasstorch.dispatch.library import KernelTable, caller
from glasstorch.kernels.cpu.random.distributions import fill_in_memory_order, fill_parts_in_memory_order
from glasstorch.kernels.cpu.random.multinomial import Source, sampled_indices
from glasstorch.kernels.creation.factories import new_empty
from glasstorch.kernels.cuda.copies import copy_elements
from glasstorch.kernels.structured import check_writable

CUDA = KernelTable("CUDA")
Draw = Callable[..., Array]


def draws_on(on: device, generator: Generator | None) -> Draws:
    """The random stream for a tensor on a device: that of the given generator, else of the device's default one."""
    generator = default_generator_of(on) if generator is None else generator
    if generator.device is not on:
        kind = generator.device.type
        found = f"'{kind}' device type for generator" if kind != "cuda" else f"a generator of {generator.device}"
        raise DeviceError(f"Expected a 'cuda' device type for generator but found {found}; the tensor is on {on}")
    properties = driver().properties(on.index or 0)
    blocks = properties.multi_processor_count * (properties.max_threads_per_multi_processor // BLOCK_SIZE)
    return Draws(generator.stream, blocks * BLOCK_SIZE)


def like_on_host(self: Tensor) -> Tensor:
    """An uninitialised CPU tensor with the memory order of a CUDA tensor."""
    check_writable(self, ())
    if self._strides is None:
        return empty(self._shape, self.dtype)
    return empty_strided(self._shape, strides_like(self._shape, self._strides), self.dtype)


def draws(name: str, parts: bool = False) -> Callable[[Draw], Draw]:
    """Register an operator that fills its first argument with `draw(draws, shape, dtype, ...)`.

    With `parts` it also fills complex tensors: the real and imaginary part of each element are drawn in sequence.
    """

    def decorate(draw: Draw) -> Draw:
        def kernel(keys: int, self: Tensor, *arguments: Any) -> Tensor:
            source = draws_on(self.device, arguments[-1])
            drawn = like_on_host(self)
            if parts and self.dtype.is_complex:
                real = self.dtype.to_real().numpy
                fill_parts_in_memory_order(drawn, lambda shape: draw(source, shape, real, *arguments[:-1], True))
            else:
                fill_in_memory_order(drawn, lambda shape: draw(source, shape, self.dtype.numpy, *arguments[:-1]))
            return copy_elements(self, drawn)

        kernel.__name__ = kernel.__qualname__ = draw.__name__
        CUDA.add(name, kernel, caller(1))
        return draw

    return decorate


@draws("uniform_", parts=True)
def uniform_(source: Draws, shape: Shape, dtype: Any, from_: float, to: float, of_complex: bool = False) -> Array:
    """Uniform numbers in [from, to); in a complex tensor, both parts."""
    return source.uniform(shape, dtype, from_, to)


@draws("normal_", parts=True)
def normal_(source: Draws, shape: Shape, dtype: Any, mean: float, std: float, of_complex: bool = False) -> Array:
    """Normal numbers; in a complex tensor each part has half of the variance."""
    return source.normal(shape, dtype, mean, std / math.sqrt(2) if of_complex else std)


CUDA_DRAWS: dict[str, Draw] = {
    "log_normal_": Draws.log_normal,
    "exponential_": Draws.exponential,
    "cauchy_": Draws.cauchy,
    "geometric_": Draws.geometric,
    "random_.from": Draws.integers,
    "random_": Draws.all_integers,
    "bernoulli_.float": Draws.bernoulli,
}
for _name, _draw in CUDA_DRAWS.items():
    draws(_name)(_draw)


@draws("random_.to")
def random_to_(source: Draws, shape: Shape, dtype: Any, to: int) -> Array:
    """Integers in [0, to)."""
    return source.integers(shape, dtype, 0, to)


@CUDA.impl("bernoulli_.Tensor")
def bernoulli_tensor_(keys: int, self: Tensor, p: Tensor, generator: Generator | None) -> Tensor:
    """Ones and zeros; the elements of `p`, broadcast to the tensor, are the probabilities of a one."""
    if not self.numel():
        return self
    drawn = like_on_host(self)
    order = memory_order([drawn.strides()], self._shape)[::-1]
    probabilities = p.cpu().expand(self._shape).array().transpose(order)
    numbers = draws_on(self.device, generator).bernoulli_each(self.dtype.numpy, probabilities)
    drawn.array().transpose(order)[...] = numbers
    return copy_elements(self, drawn)


@CUDA.impl("multinomial")
def multinomial(keys: int, self: Tensor, num_samples: int, replacement: bool, generator: Generator | None) -> Tensor:
    """Indices of the last dimension, sampled with its weights."""
    stream = draws_on(self.device, generator)
    source = Source(stream.uniform, stream.exponential)
    drawn = wrap(sampled_indices(self.cpu(), num_samples, replacement, source), int64)
    return copy_elements(empty(drawn._shape, int64, self.device), drawn)


@CUDA.impl("randperm.generator")
def randperm(
    keys: int,
    n: int,
    generator: Generator | None,
    dtype: Dtype | None,
    layout: layout | None,
    device: device,
    pin_memory: bool | None,
) -> Tensor:
    """The numbers 0 to n - 1 in random order."""
    dtype = int64 if dtype is None else dtype
    if n < 0:
        raise RandomNumberError(f"n must be non-negative, got {n}")
    result = new_empty(device, (n,), dtype, pin_memory, None)
    return copy_elements(result, wrap(draws_on(result.device, generator).permutation(n, dtype.numpy), dtype))
