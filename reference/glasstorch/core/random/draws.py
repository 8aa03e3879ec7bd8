"""How do random bits become a tensor of uniform, normal or integer numbers?

Mirrors: aten/src/ATen/core/DistributionsHelper.h, aten/src/ATen/native/cpu/DistributionTemplates.h,
    aten/src/ATen/native/TensorFactories.cpp (randperm_cpu)
Differs: draws whole arrays. They match PyTorch's bit for bit, as drawn on a processor with AVX2 and fused
    multiply-add.

Every method fills in the order of a contiguous array and holds the stream's lock, so two threads never
share a word.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from glasstorch.core.random import cephes
from glasstorch.core.random.bounds import (
    NUMBERS,
    RandomNumberError,
    check_uniform_bounds,
    integer_range,
    largest_integer,
    require,
    require_floating,
    significant_bits,
)
from glasstorch.core.random.engine import EngineState
from glasstorch.core.random.fused import fused_multiply_add
from glasstorch.core.random.mersenne_stream import MersenneStream
from glasstorch.core.random.shuffle import swapped_in_turn

Shape = int | tuple[int, ...]
Array = NDArray[Any]
NumpyDtype = np.dtype[Any]

BLOCK = 1 << 15  # numbers per block, so that their words stay in the cache
WIDE_RANGE = 1 << 28  # from this range on, an integer takes 64 bits, so that `word % range` stays nearly uniform
WIDE_PERMUTATION = 0xFFFFFFFF // 20  # from this length on, a permutation does too, for the same reason


class Stream(MersenneStream):
    """The CPU's stream of random bits, and the numbers drawn from it."""

    __slots__ = ()

    # ---- uniform numbers -----------------------------------------------------------------------------------

    def uniform(self, shape: Shape, dtype: DTypeLike, low: float = 0.0, high: float = 1.0) -> Array:
        """Numbers in `[low, high)`: a float64 takes 53 bits of 64, every other dtype 24 bits of 32."""
        target = np.dtype(dtype)
        computed = computed_dtype(target)
        check_uniform_bounds(target, low, high)
        # `low` and `high` become values of the dtype first; their difference is rounded to it too.
        result = np.empty(shape, target)
        first, last = computed.type(low), computed.type(high)
        scale = last - first
        with self._lock:
            for block in _blocks(result):
                values = self._unit(block.size, computed)
                if first != 0:
                    values = fused_multiply_add(values, scale, first)
                elif scale != 1:
                    values *= scale
                block[...] = values
                if scale != 1 or first != 0 or target != computed:  # rounding may have reached `high`
                    block[block == target.type(last)] = target.type(first)
        return result

    def fill_transformed(self, result: Array, transform: Callable[[NDArray[np.float64]], Array]) -> None:
        """Fill a contiguous array with `transform` applied to float64 numbers in [0, 1)."""
        with self._lock:
            for block in _blocks(result):
                block[...] = cast(transform(self._unit(block.size, np.dtype(np.float64))), result.dtype)

    def _unit(self, count: int, dtype: NumpyDtype) -> Array:
        """Numbers in [0, 1) with as many bits as the dtype, float32 or float64, has significant ones."""
        bits = significant_bits(dtype)
        engine = self._get_engine()
        words = engine.double_words(count) if dtype == np.float64 else engine.words(count)
        words &= np.uint64((1 << bits) - 1)
        values: Array = words.astype(dtype)
        values *= dtype.type(2.0**-bits)
        return values

    def bernoulli(self, shape: Shape, dtype: DTypeLike, probability: float | Array) -> Array:
        """Ones with the given probability, else zeros. An array of probabilities broadcasts to the shape."""
        probabilities = np.asarray(probability)
        inside = (probabilities >= 0) & (probabilities <= 1)
        result = np.empty(shape, dtype)
        each = isinstance(probability, np.ndarray)
        if not each and not inside:
            raise RandomNumberError(f"bernoulli_ expects p to be in [0, 1], but got p={probability:g}")
        if not result.size:
            return result
        require(result.dtype, f"bernoulli_{'tensor_cpu_self' if each else 'scalar_cpu'}_", ("bool", *NUMBERS))
        if each:
            require_floating(probabilities.dtype, "bernoulli_tensor_cpu_p_")
        if not inside.all():
            wrong = probabilities[~inside].flat[0]
            raise RandomNumberError(f"bernoulli_ expects all of p to be in [0, 1], but got {wrong}")
        computed = np.dtype(np.float64 if probabilities.dtype == np.float64 else np.float32)
        wanted = np.broadcast_to(probabilities.astype(computed, copy=False), result.shape).reshape(-1)
        with self._lock:
            start = 0
            for block in _blocks(result):
                block[...] = self._unit(block.size, computed) < wanted[start : start + block.size]
                start += block.size
        return result

    # ---- one at a time: `single_draws.py` ------------------------------------------------------------------
    # Whoever calls these holds the lock.

    def locked(self) -> AbstractContextManager[object]:
        """The stream's lock, for a `with` statement."""
        return self._lock

    def engine_state(self) -> EngineState:
        """Where the stream of bits stands."""
        return self._get_engine().state

    def unit_doubles(self, count: int) -> list[float]:
        """Numbers in [0, 1), of 53 bits."""
        return self._unit(count, np.dtype(np.float64)).tolist()  # type: ignore[no-any-return]

    def return_to(self, state: EngineState, used: int) -> None:
        """Go to `used` numbers of 53 bits after a state."""
        engine = self._get_engine()
        engine.state = state
        engine.double_words(used)

    def take_spare_normal(self) -> float | None:
        """The normal number that waits for this call, if one does."""
        spare, self._spare_normal = self._spare_normal, None
        return spare

    def keep_spare_normal(self, value: float) -> None:
        """Keep a normal number for the next call."""
        self._spare_normal = value

    # ---- integers ------------------------------------------------------------------------------------------

    def integers(self, shape: Shape, dtype: DTypeLike, low: int, high: int | None = None) -> Array:
        """Integers in `[low, high)`; without `high`, up to `largest_integer` of the dtype."""
        result = np.empty(shape, dtype)
        target = result.dtype
        first, last = integer_range(target, low, high, result.size)
        span = last - first + 1
        with self._lock:
            engine = self._get_engine()
            for block in _blocks(result):
                words = engine.words(block.size) if span < WIDE_RANGE else engine.double_words(block.size)
                if span < 1 << 64:
                    words %= np.uint64(span)
                    words += np.uint64(first % (1 << 64))  # wraps as two's complement does
                block[...] = cast(words.view(np.int64), target)
        return result

    def all_integers(self, shape: Shape, dtype: DTypeLike) -> Array:
        """Integers from 0 to `largest_integer` of the dtype, as `Tensor.random_()` draws them.

        They differ from those of `integers(shape, dtype, 0)`, which draws more bits for them.
        """
        result = np.empty(shape, dtype)
        target = result.dtype
        if not result.size:
            return result
        require(target, "random_kernel_cpu", ("bool", *NUMBERS))
        span = largest_integer(target) + 1
        with self._lock:
            engine = self._get_engine()
            for block in _blocks(result):
                words = engine.double_words(block.size) if span > 1 << 32 else engine.words(block.size)
                words %= np.uint64(span)
                block[...] = cast(words.view(np.int64), target)
        return result

    def permutation(self, n: int, dtype: DTypeLike = np.int64) -> Array:
        """The integers 0 to n - 1 in random order."""
        target = np.dtype(dtype)
        if n < 0:
            raise RandomNumberError(f"n must be non-negative, got {n}")
        require(target, "randperm", NUMBERS)
        limit = largest_integer(target) + 1
        if n > limit and target.name != "bfloat16":  # PyTorch lets bfloat16 round
            raise RandomNumberError(f"n cannot be greater than {limit} for {target.name}, got {n}")
        with self._lock:
            if n >= WIDE_PERMUTATION:
                return cast(self._wide_permutation(n), target)
            targets = np.arange(n, dtype=np.uint64)
            words = self._get_engine().words(max(n - 1, 0))
            words %= n - targets[:-1]
            targets[:-1] += words
        return cast(swapped_in_turn(targets.view(np.int64)), target)

    def _wide_permutation(self, n: int) -> NDArray[np.int64]:
        """The algorithm for hundreds of millions: element i goes to a random position among the first i + 1."""
        order = np.empty(n, np.int64)
        view = order.data
        for start in range(0, n, BLOCK):
            stop = min(start + BLOCK, n)
            words = self._get_engine().double_words(stop - start)
            words %= np.arange(start + 1, stop + 1, dtype=np.uint64)
            for i, j in enumerate(words.tolist(), start):
                view[i] = i
                view[i] = view[j]
                view[j] = i
        return order

    # ---- normal numbers ------------------------------------------------------------------------------------

    def normal(
        self, shape: Shape, dtype: DTypeLike, mean: float = 0.0, std: float = 1.0, *, contiguous: bool = True
    ) -> Array:
        """Normal numbers, by the Box-Muller transform of pairs of uniform ones.

        Sixteen and more for a contiguous tensor are made in blocks of sixteen; fewer, or for another tensor,
        one after the other, with different numbers from the same seed.
        """
        target = np.dtype(dtype)
        if not std >= 0:
            raise RandomNumberError(f"normal expects std >= 0.0, but found std {std:g}")
        result = np.empty(shape, target)
        if not result.size:
            return result
        require_floating(target, "normal_kernel_cpu")
        with self._lock:
            if contiguous and result.size >= 16:
                self._fill_by_sixteens(result.reshape(-1), mean, std)
            else:
                normal = self._one_by_one(result.size)
                normal = normal + 0.0 if (mean, std) == (0, 1) else fused_multiply_add(normal, std, mean)
                result.reshape(-1)[...] = cast(normal, target)
        return result

    def _fill_by_sixteens(self, result: Array, mean: float, std: float) -> None:
        computed = computed_dtype(result.dtype)
        whole = result.size // 16 * 16
        tail = result.size - whole
        for start in range(0, whole, BLOCK):
            stop = min(start + BLOCK, whole)
            uniform = self._unit(stop - start, computed)
            again = tail and stop == whole
            if again:
                # The last sixteen are drawn again. All but half-precision types draw numbers for the tail before that.
                if result.dtype == computed:
                    self._unit(tail, computed)
                uniform = np.concatenate((uniform, self._unit(16, computed)))
            normal = _box_muller(uniform, mean, std)
            result[start:stop] = normal[: stop - start]
            if again:
                result[-16:] = normal[-16:]

    def _one_by_one(self, count: int) -> NDArray[np.float64]:
        """Standard normal numbers; the unused one of the last pair is kept for the next call."""
        values = []
        if count and self._spare_normal is not None:
            values.append(self._spare_normal)
            self._spare_normal = None
        # Python's `math`, see `of_each`; here a loop is faster, because most calls ask for few numbers.
        uniform = iter(self._unit((count - len(values) + 1) // 2 * 2, np.dtype(np.float64)).tolist())
        for first, second in zip(uniform, uniform, strict=True):
            values += normal_pair(first, second)
        if len(values) > count:
            self._spare_normal = values.pop()
        return np.array(values)


def normal_pair(first: float, second: float) -> tuple[float, float]:
    """Two standard normal numbers from two uniform ones."""
    radius = math.sqrt(-2.0 * math.log1p(-second))
    angle = 2.0 * math.pi * first
    return radius * math.cos(angle), radius * math.sin(angle)


def of_each(function: Callable[[float], float], values: Array) -> NDArray[np.float64]:
    """A function of Python's `math`, applied to every element.

    It is the C library's function, which PyTorch calls here too. NumPy's differ from it in the last bit.
    """
    results = np.fromiter(map(function, values.reshape(-1).tolist()), np.float64, values.size)
    return results.reshape(values.shape)


def _box_muller(uniform: Array, mean: float, std: float) -> Array:
    """Normal numbers from uniform ones: of sixteen, eight give the radius and eight the angle."""
    dtype = uniform.dtype
    sixteens = uniform.reshape(-1, 2, 8)
    radius: Array
    sine: Array
    cosine: Array
    if dtype == np.float32:
        radius = np.sqrt(np.float32(-2) * cephes.log(np.float32(1) - sixteens[:, 0]))
        sine, cosine = cephes.sine_and_cosine(np.float32(2 * np.pi) * sixteens[:, 1])
    else:
        radius = np.sqrt(-2 * of_each(math.log, 1 - sixteens[:, 0]))
        angle = 2 * np.pi * sixteens[:, 1]
        sine, cosine = of_each(math.sin, angle), of_each(math.cos, angle)
    normal: Array = np.stack((radius * cosine, radius * sine), axis=1).reshape(-1)
    if mean == 0:
        normal *= dtype.type(std)
        normal += dtype.type(0)  # the sum makes 0.0 of -0.0
        return normal
    return fused_multiply_add(normal, dtype.type(std), dtype.type(mean))


def _blocks(array: Array) -> Iterator[Array]:
    """Views of a contiguous array, in order, that are small enough to stay in the cache with their words."""
    flat = array.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        yield flat[start : start + BLOCK]


def computed_dtype(dtype: NumpyDtype) -> NumpyDtype:
    """The dtype in which numbers of this floating dtype are computed: float32 for half precision, else itself."""
    return np.dtype(np.float32) if dtype.itemsize == 2 else dtype


def cast(values: Array, dtype: NumpyDtype) -> Array:
    """The values in another dtype; half precision is converted through float32, as in PyTorch."""
    with np.errstate(over="ignore"):  # values that are too large become infinite
        if dtype.itemsize == 2 and dtype.kind not in "iu":
            values = values.astype(np.float32)
        return values.astype(dtype, copy=False)
