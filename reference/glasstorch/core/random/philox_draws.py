"""How do the random bits of a CUDA device become a tensor of uniform, normal and other random numbers?

Mirrors: aten/src/ATen/native/cuda/DistributionTemplates.h, aten/src/ATen/core/TransformationHelper.h,
    aten/src/ATen/native/cuda/Randperm.cu and Randperm.cuh; cuRAND's curand_uniform.h and curand_normal.h
Differs: NumPy computes on the CPU. Uniform numbers and integers equal those of a GPU bit for bit. Numbers computed with
    logarithms, sines and exponentials may differ in the last bits (by about 1e-6), because a GPU's functions do.

Each function fills in the order of a contiguous array. `words` and `double_words` hand out one word for each element as
PyTorch's kernels do: a thread draws four words (or two of 64 bits) with each call, and the elements of one turn of all
threads get the first of them, those of the next turn the second. Most tensors have fewer elements than threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from glasstorch.core.random.bounds import (
    NUMBERS,
    RandomNumberError,
    check_uniform_bounds,
    integer_range,
    largest_integer,
    require,
    require_continuous,
    require_floating,
)
from glasstorch.core.random.draws import WIDE_RANGE, Array, NumpyDtype, Shape, cast, computed_dtype
from glasstorch.core.random.fused import fused_multiply_add
from glasstorch.core.random.philox import WORD, PhiloxStream, Words, philox

BLOCK_SIZE = 256  # threads of a block of the distribution kernels
WORDS_OF_CALL = 4
TWO_TO_MINUS_32, TWO_TO_MINUS_53 = 2.0**-32, 2.0**-53


class Draws(NamedTuple):
    """A device's stream, and how many threads the grid of a distribution kernel has there at most."""

    stream: PhiloxStream
    most_threads: int

    # ---- bits ----------------------------------------------------------------------------------------------

    def calls(self, count: int, numbers_of_call: int) -> Words:
        """The words of a kernel that fills `count` elements, `numbers_of_call` of them with each call of a thread.

        The result has dimensions word, call and thread.
        """
        threads = min(-(-count // BLOCK_SIZE) * BLOCK_SIZE, self.most_threads)
        calls = -(-count // (threads * numbers_of_call))
        seed, offset = self.stream.take(calls * WORDS_OF_CALL)
        counters = np.arange(calls, dtype=np.uint64)[:, None] + np.uint64(offset // WORDS_OF_CALL)
        return philox(seed, counters, np.arange(threads, dtype=np.uint64)[None])

    def words(self, count: int) -> Words:
        """A 32-bit word for each of `count` elements."""
        return in_order(self.calls(count, 4), count)

    def double_words(self, count: int) -> Words:
        """A 64-bit word for each of `count` elements: two words of 32 bits, the first one high."""
        drawn = self.calls(count, 2)
        return in_order(drawn[0::2] << WORD | drawn[1::2], count)

    # ---- numbers -------------------------------------------------------------------------------------------

    def unit(self, count: int, dtype: NumpyDtype) -> Array:
        """Numbers in (0, 1]: a float64 takes 53 bits, a float32 32 bits, of which it keeps 24."""
        if dtype != np.float64:
            return unit_of_words(self.words(count))
        drawn = self.calls(count, 2)
        return in_order(unit_of_two(drawn[0::2], drawn[1::2]), count)

    def standard_normal(self, count: int, dtype: NumpyDtype) -> Array:
        """Normal numbers by the Box-Muller transform: two from each pair of uniform ones."""
        if dtype == np.float64:
            x, y, z, w = self.calls(count, 2)
            radius, turns = np.sqrt(-2 * np.log(unit_of_two(x, y))), 2 * unit_of_two(z, w)
            return in_order(np.stack((radius * np.sin(np.pi * turns), radius * np.cos(np.pi * turns))), count)
        drawn = self.calls(count, 4)
        radius = np.sqrt(np.float32(-2) * np.log(unit_of_words(drawn[0::2])))
        angle = np.float32(2 * np.pi) * unit_of_words(drawn[1::2])
        # Sine and cosine of the first pair, then of the second.
        pairs = np.stack((radius * np.sin(angle), radius * np.cos(angle)), axis=1)
        return in_order(pairs.reshape(drawn.shape), count)

    # ---- distributions -------------------------------------------------------------------------------------

    def uniform(self, shape: Shape, dtype: DTypeLike, low: float = 0.0, high: float = 1.0) -> Array:
        """Numbers in `[low, high)`."""
        result = np.empty(shape, dtype)
        check_uniform_bounds(result.dtype, low, high)
        if result.size:
            target, computed = result.dtype.type, computed_dtype(result.dtype)
            first, last = target(low), target(high)
            values = self.unit(result.size, computed)
            values = fused_multiply_add(values, float(computed.type(last - first)), float(first))
            values = cast(values, result.dtype)
            values[values == last] = first  # the bounds of (low, high] are reversed
            result.reshape(-1)[...] = values
        return result

    def normal(self, shape: Shape, dtype: DTypeLike, mean: float = 0.0, std: float = 1.0) -> Array:
        """Normal numbers."""
        if not std >= 0:
            raise RandomNumberError(f"normal expects std >= 0.0, but found std {std:g}")
        return self._filled(shape, dtype, "normal_kernel_cuda", self._normal(mean, std))

    def log_normal(self, shape: Shape, dtype: DTypeLike, mean: float = 1.0, std: float = 2.0) -> Array:
        """Numbers whose logarithms are normal."""
        if not std > 0:
            raise RandomNumberError(f"log_normal_ expects std > 0.0, but found std={std:g}")
        normal = self._normal(mean, std)
        return self._filled(shape, dtype, "log_normal_cuda", lambda count, computed: np.exp(normal(count, computed)))

    def exponential(self, shape: Shape, dtype: DTypeLike, rate: float = 1.0) -> Array:
        """Exponentially distributed numbers; none is 0, since a uniform number near 1 is replaced by a smaller one."""
        if not rate > 0:
            raise RandomNumberError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")

        def waiting(count: int, computed: NumpyDtype) -> Array:
            step = np.finfo(computed).eps / 2
            uniform = self.unit(count, computed)
            logarithm = np.where(uniform >= 1 - step, -step, np.log(uniform))
            times: Array = computed.type(-1.0) / computed.type(rate) * logarithm
            return times

        return self._filled(shape, dtype, "exponential_cuda", waiting, "Exponential")

    def cauchy(self, shape: Shape, dtype: DTypeLike, median: float = 0.0, sigma: float = 1.0) -> Array:
        """Numbers from the Cauchy distribution."""
        if not sigma > 0:
            raise RandomNumberError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma:g}")
        require_continuous(np.dtype(dtype), "Cauchy")

        def across(count: int, computed: NumpyDtype) -> Array:
            uniform = self.unit(count, computed)
            if computed != np.float64:  # where the tangent would be infinite
                step = np.finfo(computed).eps
                uniform = np.clip(uniform, step, computed.type(1) - step)
            tangent = np.tan(computed.type(np.pi) * (uniform - computed.type(0.5)))
            return fused_multiply_add(tangent, float(computed.type(sigma)), float(computed.type(median)))

        return self._filled(shape, dtype, "cauchy_cuda", across)

    def geometric(self, shape: Shape, dtype: DTypeLike, probability: float) -> Array:
        """Geometrically distributed numbers: the trials until an event of this probability occurs."""
        if not 0 < probability < 1:
            raise RandomNumberError(f"geometric_ expects p to be in (0, 1), but got p={probability:g}")
        result = np.empty(shape, dtype)
        if result.size:
            require(result.dtype, "geometric_cuda", NUMBERS)
            computed = _discrete(result.dtype)
            failed = np.log1p(-computed.type(probability))
            counted = np.ceil(np.log(self.unit(result.size, computed)) / failed)
            result.reshape(-1)[...] = _saturated(counted, result.dtype)
        return result

    def bernoulli(self, shape: Shape, dtype: DTypeLike, probability: float) -> Array:
        """Ones with the given probability, else zeros."""
        if not 0 <= probability <= 1:
            raise RandomNumberError(f"bernoulli_ expects p to be in [0, 1], but got p={probability:g}")
        result = np.empty(shape, dtype)
        if result.size:
            require(result.dtype, "bernoulli_scalar_cuda_", ("bool", *NUMBERS))
            computed = _discrete(result.dtype)
            result.reshape(-1)[...] = self.unit(result.size, computed) < computed.type(probability)
        return result

    def bernoulli_each(self, dtype: DTypeLike, probabilities: Array) -> Array:
        """Ones and zeros; each probability is that of a one at its index. A thread fills four adjacent elements."""
        result = np.empty(probabilities.shape, dtype)
        if result.size:
            seed, offset = self.stream.take(10)
            if probabilities.dtype.kind in "biuc":
                raise RandomNumberError(
                    f"expected probabilities tensor to have floating type, got {probabilities.dtype.name}"
                )
            require(result.dtype, "bernoulli_tensor_cuda_self_", ("bool", *NUMBERS))
            wanted = probabilities.astype(_discrete(result.dtype))
            if not ((wanted >= 0) & (wanted <= 1)).all():
                raise RandomNumberError("bernoulli_ expects all of p to be in [0, 1]")
            threads = np.arange(-(-result.size // 4), dtype=np.uint64)
            drawn = philox(seed, np.uint64(offset // WORDS_OF_CALL) + np.zeros_like(threads), threads)
            uniform = unit_of_words(drawn).T.reshape(-1)[: result.size]
            result.reshape(-1)[...] = uniform <= wanted.reshape(-1)
        return result

    def integers(self, shape: Shape, dtype: DTypeLike, low: int, high: int | None = None) -> Array:
        """Integers in `[low, high)`; without `high`, up to `largest_integer` of the dtype."""
        result = np.empty(shape, dtype)
        first, last = integer_range(result.dtype, low, high, result.size)
        span = last - first + 1
        if result.size:
            drawn = self.words(result.size) if span < WIDE_RANGE else self.double_words(result.size)
            if span < 1 << 64:
                drawn = drawn % np.uint64(span) + np.uint64(first % (1 << 64))  # wraps as two's complement does
            result.reshape(-1)[...] = cast(drawn.view(np.int64), result.dtype)
        return result

    def all_integers(self, shape: Shape, dtype: DTypeLike) -> Array:
        """Integers from 0 to `largest_integer` of the dtype, as `Tensor.random_()` draws them."""
        result = np.empty(shape, dtype)
        if result.size:
            require(result.dtype, "random_kernel_cuda", ("bool", *NUMBERS))
            span = largest_integer(result.dtype) + 1
            drawn = self.double_words(result.size) if span > 1 << 32 else self.words(result.size)
            result.reshape(-1)[...] = cast((drawn % np.uint64(span)).view(np.int64), result.dtype)
        return result

    def permutation(self, n: int, dtype: DTypeLike = np.int64) -> Array:
        """The integers 0 to n - 1, sorted by random keys; those with equal keys are shuffled among themselves."""
        target = np.dtype(dtype)
        if n < 0:
            raise RandomNumberError(f"n must be non-negative, got {n}")
        require(target, "randperm_out_cuda", NUMBERS)
        if n > largest_integer(target) + 1:
            raise RandomNumberError(
                f"n cannot be greater than {largest_integer(target) + 1} for {target.name}, got {n}"
            )
        if n == 0:
            return np.empty(0, target)
        bits = key_bits(n)
        wide = bits > 32
        limits = np.iinfo(np.int64 if wide else np.int32)
        keys = self.integers(n, limits.dtype, int(limits.min), int(limits.max))
        # Only the lowest bits are sorted by; all of them together are a signed number, whose sign counts first.
        if bits == limits.bits:
            keys = keys ^ limits.min
        unsigned: NDArray[Any] = keys.view(np.uint64 if wide else np.uint32)
        keys = unsigned & ((1 << bits) - 1)
        order = np.argsort(keys, kind="stable")
        self._shuffle_islands(order, keys[order])
        return cast(order, target)

    def _shuffle_islands(self, order: NDArray[np.int64], keys: NDArray[Any]) -> None:
        """Shuffle runs of equal keys ("islands"), each by the thread whose index is the run's first position."""
        seed, offset = self.stream.take(len(order))
        same = np.flatnonzero(keys[1:] == keys[:-1])
        firsts = same[np.isin(same - 1, same, invert=True)]
        for first in firsts.tolist():
            size = int(np.searchsorted(keys[first:], keys[first], side="right"))
            counters = np.arange(-(-size // WORDS_OF_CALL), dtype=np.uint64) + np.uint64(offset // WORDS_OF_CALL)
            words = philox(seed, counters, np.full_like(counters, first)).T.reshape(-1).tolist()
            island = order[first : first + size]
            for i, word in zip(range(size - 1, 0, -1), words, strict=False):
                island[[i, word % (i + 1)]] = island[[word % (i + 1), i]]

    # ---- what the distributions share ------------------------------------------------------------------------

    def _normal(self, mean: float, std: float) -> Callable[[int, NumpyDtype], Array]:
        def normal(count: int, computed: NumpyDtype) -> Array:
            standard = self.standard_normal(count, computed)
            return fused_multiply_add(standard, float(computed.type(std)), float(computed.type(mean)))

        return normal

    def _filled(
        self,
        shape: Shape,
        dtype: DTypeLike,
        kernel: str,
        make: Callable[[int, NumpyDtype], Array],
        continuous: str | None = None,
    ) -> Array:
        result = np.empty(shape, dtype)
        if result.size:
            if continuous is not None:
                require_continuous(result.dtype, continuous)
            require_floating(result.dtype, kernel)
            with np.errstate(over="ignore"):
                result.reshape(-1)[...] = cast(make(result.size, computed_dtype(result.dtype)), result.dtype)
        return result


def in_order(drawn: Array, count: int) -> Array:
    """Numbers with dimensions lane, call and thread in the order of the elements that they fill."""
    return drawn.swapaxes(0, 1).reshape(-1)[:count]


def unit_of_words(words: Words) -> Array:
    """float32 numbers in (0, 1]."""
    return words.astype(np.float32) * np.float32(TWO_TO_MINUS_32) + np.float32(TWO_TO_MINUS_32 / 2)


def unit_of_two(low: Words, high: Words) -> Array:
    """float64 numbers in (0, 1] with 53 bits: 11 bits of the first word are mixed with those of the second."""
    return (low ^ high << np.uint64(53 - 32)).astype(np.float64) * TWO_TO_MINUS_53 + TWO_TO_MINUS_53 / 2


def key_bits(n: int) -> int:
    """How many bits the keys of a permutation have: with so many, all differ in nine of ten cases."""
    return min(64, math.ceil(math.log2(n - (6 * n * n + 1) / (12 * math.log(0.9)))))


def _discrete(dtype: NumpyDtype) -> NumpyDtype:
    """The dtype in which integers of this dtype are computed: float32 for all but float64."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def _saturated(counted: Array, dtype: NumpyDtype) -> Array:
    """Counts in a dtype; one out of an integer's range becomes the largest, as on a GPU."""
    if dtype.kind not in "iu":
        return cast(counted, dtype)
    bits = 64 if dtype == np.int64 else 32
    whole: Array = np.where(counted < 2.0 ** (bits - 1), counted, 0).astype(np.int64) + np.where(
        counted < 2.0 ** (bits - 1), 0, (1 << (bits - 1)) - 1
    )
    return whole
