"""How are indices sampled with given weights?

Mirrors: multinomial_out in aten/src/ATen/native/Distributions.cpp, aten/src/ATen/native/cpu/MultinomialKernel.cpp
Differs: equal scores are returned in index order; in PyTorch's `topk` their order depends on its partial sort. This
    concerns weights of 0, when more indices are requested than have a positive weight, and half precision.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.dtype import FLOAT8, check_implemented, int64
from glasstorch.core.geometry import Shape, memory_order, strides_like
from glasstorch.core.random import distributions
from glasstorch.core.random.bounds import RandomNumberError
from glasstorch.core.random.generator import Generator
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.random.distributions import CPU, stream_of
from glasstorch.kernels.iterator import op_math
from glasstorch.operators.shapes.random import multinomial as check


class Source(NamedTuple):
    """Where random numbers come from, each drawn for a shape and a dtype: from the CPU's stream, or a device's."""

    uniform: Callable[[Shape, DTypeLike], Array]  # between 0 and 1
    exponential: Callable[[Shape, DTypeLike], Array]


@CPU.impl("multinomial")
def multinomial(keys: int, self: Tensor, num_samples: int, replacement: bool, generator: Generator | None) -> Tensor:
    """Indices of the last dimension, sampled with its weights, in a fresh int64 tensor."""
    stream = stream_of(generator)
    source = Source(stream.uniform, partial(distributions.exponential, stream))
    return wrap(sampled_indices(self, num_samples, replacement, source), int64)


def sampled_indices(self: Tensor, num_samples: int, replacement: bool, source: Source) -> Array:
    """The indices that `multinomial` samples for a tensor in main memory."""
    shape = check(self, num_samples, replacement, None).shape
    if 0 in shape:
        return np.empty(shape, np.int64)
    weights = self.array()
    if not weights.size:
        raise RandomNumberError(f"multinomial: expected weights in each row, got sizes {list(self._shape)}")
    if replacement and num_samples > 1:  # one sample is drawn without replacement in either case
        check_implemented("multinomial", self.dtype, FLOAT8)
        check_in_turn(weights.astype(np.float64), num_samples, source)
        indices = drawn_with_replacement(weights.astype(op_math(self.dtype).numpy), num_samples, source)
    else:
        check_implemented("aminmax_cpu", self.dtype, FLOAT8)
        if not are_weights(weights.astype(np.float64)).all():
            raise RandomNumberError("probability tensor contains either `inf`, `nan` or element < 0")
        check_rows(weights)
        indices = drawn_without_replacement(self, weights, num_samples, source)
    return np.ascontiguousarray(indices, np.int64)


def are_weights(values: Array) -> Array:
    """Whether each weight is finite and non-negative."""
    sound: Array = (values >= 0) & (values < np.inf)
    return sound


def check_in_turn(weights: Array, count: int, source: Source) -> None:
    """Refuse the first row without valid weights, after drawing the numbers of the rows before it.

    The message names the first weight that is negative or not finite.
    """
    rows = weights.reshape(-1, weights.shape[-1])
    sound = are_weights(rows).all(axis=-1) & rows.any(axis=-1)
    if not sound.all():
        at = int(sound.argmin())
        source.uniform((at, count), np.float64)
        wrong = rows[at][~are_weights(rows[at])]
        if wrong.size:
            found = "= infinity or NaN" if wrong[0] > 0 else "< 0"  # as in PyTorch, NaN fails the test >= 0
            raise RandomNumberError(f"invalid multinomial distribution (encountering probability entry {found})")
        check_rows(rows[at])


def check_rows(weights: Array) -> None:
    """Refuse rows without a positive weight."""
    if not weights.astype(np.float64).any(axis=-1).all():
        raise RandomNumberError("invalid multinomial distribution (sum of probabilities <= 0)")


def drawn_with_replacement(weights: Array, count: int, source: Source) -> Array:
    """For each uniform number, the first index at which the cumulative weight reaches it."""
    sums = np.cumsum(weights, axis=-1, dtype=weights.dtype)
    sums /= sums[..., -1:].copy()
    sums[..., -1] = 1
    numbers = source.uniform((*weights.shape[:-1], count), np.float64)
    sums = sums.astype(np.float64)
    if sums.ndim == 1:
        return np.searchsorted(sums, numbers)
    return np.stack([np.searchsorted(row, drawn) for row, drawn in zip(sums, numbers, strict=True)])


def drawn_without_replacement(self: Tensor, weights: Array, count: int, source: Source) -> Array:
    """The indices with the largest quotients of a weight and an exponentially distributed number."""
    strides = strides_like(self._shape, self.strides())
    order = memory_order([strides], self._shape)[::-1]
    divisors = np.empty_like(weights)
    drawn = divisors.transpose(order)
    drawn[...] = source.exponential(drawn.shape, self.dtype.numpy)
    computed = op_math(self.dtype).numpy
    with np.errstate(divide="ignore", over="ignore"):
        scores = (weights.astype(computed) / divisors.astype(computed)).astype(self.dtype.numpy).astype(computed)
    if count == 1:
        best: Array = scores.argmax(axis=-1, keepdims=True)
        return best
    return np.argsort(-scores, axis=-1, kind="stable")[..., :count]
