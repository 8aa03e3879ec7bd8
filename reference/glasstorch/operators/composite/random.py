"""How are new tensors of random numbers made of `empty` and an operator that draws in place?

Mirrors: aten/src/ATen/native/TensorFactories.cpp (rand, randn, randint, randperm)
Differs: nothing in substance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import dtype as Dtype
from glasstorch.core.dtype import int64
from glasstorch.core.generator import Generator
from glasstorch.operators.composite.creation import empty
from glasstorch.operators.direct import factory, on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

uniform_ = on_tensor("uniform_")
normal_ = on_tensor("normal_")
random_ = on_tensor("random_.from")
permutation = factory("randperm.generator")

# `options` are dtype, layout, device and pin_memory, in this order. Without a generator the default one is drawn from.


def rand(size: Sequence[int], *options: Any) -> Tensor:
    """Numbers drawn uniformly from [0, 1)."""
    return rand_generator(size, None, *options)


def rand_generator(size: Sequence[int], generator: Generator | None, *options: Any) -> Tensor:
    """Numbers drawn uniformly from [0, 1)."""
    return uniform_(empty(size, *options, None), 0.0, 1.0, generator)  # type: ignore[no-any-return]


def randn(size: Sequence[int], *options: Any) -> Tensor:
    """Normal numbers with mean 0 and deviation 1."""
    return randn_generator(size, None, *options)


def randn_generator(size: Sequence[int], generator: Generator | None, *options: Any) -> Tensor:
    """Normal numbers with mean 0 and deviation 1."""
    return normal_(empty(size, *options, None), 0.0, 1.0, generator)  # type: ignore[no-any-return]


def randint(high: int, size: Sequence[int], *options: Any) -> Tensor:
    """Integers drawn uniformly from [0, high)."""
    return randint_low_generator(0, high, size, None, *options)


def randint_generator(high: int, size: Sequence[int], generator: Generator | None, *options: Any) -> Tensor:
    """Integers drawn uniformly from [0, high)."""
    return randint_low_generator(0, high, size, generator, *options)


def randint_low(low: int, high: int, size: Sequence[int], *options: Any) -> Tensor:
    """Integers drawn uniformly from [low, high)."""
    return randint_low_generator(low, high, size, None, *options)


def randint_low_generator(
    low: int, high: int, size: Sequence[int], generator: Generator | None, dtype: Dtype | None, *options: Any
) -> Tensor:
    """Integers drawn uniformly from [low, high), as int64 unless another dtype is given."""
    target = empty(size, int64 if dtype is None else dtype, *options, None)
    return random_(target, low, high, generator)  # type: ignore[no-any-return]


def randperm(n: int, *options: Any) -> Tensor:
    """The integers from 0 to n - 1 in random order."""
    return permutation(n, None, *options)  # type: ignore[no-any-return]
