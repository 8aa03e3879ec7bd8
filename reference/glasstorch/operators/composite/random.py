"""How are new tensors of random numbers made of `empty` and an in-place operator that draws them?

Mirrors: aten/src/ATen/native/TensorFactories.cpp (rand, randn, randint)
Differs: overloads that take a generator or name dimensions are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.operators.composite.creation import empty_of_size

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def rand(size: Sequence[int], *options: Any) -> Tensor:
    """Numbers drawn uniformly from [0, 1)."""
    return empty_of_size(size, *options, None).uniform_(0.0, 1.0)


def randn(size: Sequence[int], *options: Any) -> Tensor:
    """Normal numbers with mean 0 and deviation 1."""
    return empty_of_size(size, *options, None).normal_(0.0, 1.0)


def randint(high: int, size: Sequence[int], *options: Any) -> Tensor:
    """Integers drawn uniformly from [0, high)."""
    return empty_of_size(size, *options, None).random_(0, high)


def randint_low(low: int, high: int, size: Sequence[int], *options: Any) -> Tensor:
    """Integers drawn uniformly from [low, high)."""
    return empty_of_size(size, *options, None).random_(low, high)
