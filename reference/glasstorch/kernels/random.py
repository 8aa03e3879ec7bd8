"""How is the tensor given as out= filled with random numbers?

Mirrors: aten/src/ATen/native/TensorFactories.cpp (rand_out, randn_out, randint_out, randperm_out),
    aten/src/ATen/native/DistributionTemplates.h (normal_out_impl, bernoulli_out_impl)
Differs: these functions are kernels and not composites, because only kernels resize `out`.
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor
from glasstorch.core.errors import DtypeError
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.core.random.generator import Generator
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.structured import resize_output
from glasstorch.operators.composite.random import check_deviation, check_deviations
from glasstorch.operators.generated.functions import multinomial, randperm

COMPOSED = KernelTable("CompositeExplicitAutograd", calls_operators=True, takes_keys=False)
IMPLICIT = KernelTable("CompositeImplicitAutograd", calls_operators=True, takes_keys=False)


# Of a given size ---------------------------------------------------------------------------------------------------


@COMPOSED.impl("rand.out")
def rand_out(size: Sequence[int], out: Tensor) -> Tensor:
    """`out`, resized and filled with uniform numbers."""
    return out.resize_(size).uniform_(0.0, 1.0)


@IMPLICIT.impl("rand.generator_out")
def rand_generator_out(size: Sequence[int], generator: Generator | None, out: Tensor) -> Tensor:
    """As `rand.out`, from a generator."""
    return out.resize_(size).uniform_(0.0, 1.0, generator=generator)


@IMPLICIT.impl("randn.out")
def randn_out(size: Sequence[int], out: Tensor) -> Tensor:
    """`out`, resized and filled with normal numbers."""
    return out.resize_(size).normal_(0.0, 1.0)


@IMPLICIT.impl("randn.generator_out")
def randn_generator_out(size: Sequence[int], generator: Generator | None, out: Tensor) -> Tensor:
    """As `randn.out`, from a generator."""
    return out.resize_(size).normal_(0.0, 1.0, generator=generator)


@COMPOSED.impl("randint.out")
def randint_out(high: int, size: Sequence[int], out: Tensor) -> Tensor:
    """`out`, resized and filled with integers in [0, high)."""
    return out.resize_(size).random_(0, high)


@COMPOSED.impl("randint.generator_out")
def randint_generator_out(high: int, size: Sequence[int], generator: Generator | None, out: Tensor) -> Tensor:
    """As `randint.out`, from a generator."""
    return out.resize_(size).random_(0, high, generator=generator)


@COMPOSED.impl("randint.low_out")
def randint_low_out(low: int, high: int, size: Sequence[int], out: Tensor) -> Tensor:
    """`out`, resized and filled with integers in [low, high)."""
    return out.resize_(size).random_(low, high)


@COMPOSED.impl("randint.low_generator_out")
def randint_low_generator_out(
    low: int, high: int, size: Sequence[int], generator: Generator | None, out: Tensor
) -> Tensor:
    """As `randint.low_out`, from a generator."""
    return out.resize_(size).random_(low, high, generator=generator)


@COMPOSED.impl("randperm.out")
def randperm_out(n: int, out: Tensor) -> Tensor:
    """`out`, resized and filled with the integers from 0 to n - 1 in random order."""
    return randperm_generator_out(n, None, out)


@COMPOSED.impl("randperm.generator_out")
def randperm_generator_out(n: int, generator: Generator | None, out: Tensor) -> Tensor:
    """As `randperm.out`, from a generator."""
    numbers = randperm(n, generator=generator, dtype=out.dtype, device=out.device)
    return out.resize_(numbers.shape).copy_(numbers)


@COMPOSED.impl("normal.float_float_out")
def normal_float_float_out(
    mean: float, std: float, size: Sequence[int], generator: Generator | None, out: Tensor
) -> Tensor:
    """`out`, resized and filled with normal numbers."""
    return out.resize_(size).normal_(mean, std, generator=generator)


# Of other tensors --------------------------------------------------------------------------------------------------


@COMPOSED.impl("normal.Tensor_float_out")
def normal_tensor_float_out(mean: Tensor, std: float, generator: Generator | None, out: Tensor) -> Tensor:
    """`out`, resized to its own shape broadcast with that of `mean`, and filled with normal numbers."""
    check_deviation(std)
    resize_output(out, broadcast_shapes(mean._shape, out._shape))
    return out.normal_(0.0, std, generator=generator).add_(mean)


@COMPOSED.impl("normal.float_Tensor_out")
def normal_float_tensor_out(mean: float, std: Tensor, generator: Generator | None, out: Tensor) -> Tensor:
    """`out`, resized to the sizes of `std` and filled with normal numbers."""
    check_deviations(std)
    resize_output(out, std._shape)
    return out.normal_(0.0, 1.0, generator=generator).mul_(std).add_(mean)


@COMPOSED.impl("normal.Tensor_Tensor_out")
def normal_tensor_tensor_out(mean: Tensor, std: Tensor, generator: Generator | None, out: Tensor) -> Tensor:
    """`out`, resized to the broadcast shape of `mean` and `std`, and filled with normal numbers."""
    check_deviations(std)
    resize_output(out, broadcast_shapes(mean._shape, std._shape))
    return out.normal_(0.0, 1.0, generator=generator).mul_(std).add_(mean)


@COMPOSED.impl("bernoulli.out")
def bernoulli_out(self: Tensor, generator: Generator | None, out: Tensor) -> Tensor:
    """`out`, resized and filled with ones and zeros; each element of the input is the probability of a one."""
    return out.resize_(self._shape).bernoulli_(self, generator=generator)


@COMPOSED.impl("multinomial.out")
def multinomial_out(
    self: Tensor, num_samples: int, replacement: bool, generator: Generator | None, out: Tensor
) -> Tensor:
    """`out`, which must be an int64 tensor, resized and filled with the sampled indices."""
    if out.dtype.name != "int64":
        raise DtypeError(f"multinomial expects Long tensor out, got: {out.dtype.scalar_name}")
    indices = multinomial(self, num_samples, replacement, generator=generator)
    return out.resize_(indices.shape).copy_(indices)
