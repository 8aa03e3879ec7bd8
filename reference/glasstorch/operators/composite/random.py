"""How are new tensors of random numbers made of `empty` and an operator that draws in place?

Mirrors: aten/src/ATen/native/TensorFactories.cpp (rand, randn, randint)
Differs: nothing in substance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.operators.composite.creation import empty

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# `options` are dtype, layout, device and pin_memory, in this order.


def rand(size: Sequence[int], *options: Any) -> Tensor:
    """Numbers drawn uniformly from [0, 1)."""
    return empty(size, *options, None).uniform_(0.0, 1.0)  # type: ignore[no-any-return]


def randn(size: Sequence[int], *options: Any) -> Tensor:
    """Normal numbers with mean 0 and deviation 1."""
    return empty(size, *options, None).normal_(0.0, 1.0)  # type: ignore[no-any-return]


def randint(high: int, size: Sequence[int], *options: Any) -> Tensor:
    """Integers drawn uniformly from [0, high)."""
    return empty(size, *options, None).random_(0, high)  # type: ignore[no-any-return]


def randint_low(low: int, high: int, size: Sequence[int], *options: Any) -> Tensor:
    """Integers drawn uniformly from [low, high)."""
    return empty(size, *options, None).random_(low, high)  # type: ignore[no-any-return]
