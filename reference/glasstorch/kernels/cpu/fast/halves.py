"""How is half precision computed fast, although NumPy converts it slowly?

Mirrors: c10/util/Half.h (fp16_ieee_to_fp32_value, fp16_ieee_from_fp32_value)
Differs: PyTorch's loops use the processor's instructions to convert float16.

# Note [Float16 in blocks]
NumPy converts float16 element by element, with branches that a processor mispredicts where zeros and signs are mixed,
and raises a floating point flag for each overflow and underflow: downcasting a million numbers takes 1.7 to 65 ms. Here
float16 is upcast by a table of all its values, and float32 is downcast by a table for its first 21 bits, in blocks that
stay in cache: 1 ms for any values. The 21 bits are the sign, the exponent and 12 bits of the mantissa, two more than
float16 has; the last one is a sticky bit, set if any lower bit is. Rounding half to even needs no more.

# Note [All values of half precision]
Half precision has only 65,536 values. A loop with one varying input, and numbers for the others, is run on all of them,
and each element of a large tensor is looked up in the result: 0.7 ns for any function. The results are those of the
loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels import halves
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.halves import HALF, SINGLE
from glasstorch.kernels.quiet import quietly

VALUES: Final = 1 << 16

DIGITS_BEHIND = 11  # the bits of a float32 below those that the table of `narrowed` distinguishes
BEHIND = np.uint32((1 << DIGITS_BEHIND) - 1)


@cache
def every_value(dtype: np.dtype[Any]) -> Array:
    """All values of a two-byte dtype, in the order of their bits."""
    values = np.arange(VALUES, dtype=np.uint16).view(dtype)
    values.flags.writeable = False
    return values


@cache
def widened() -> Array:
    """All float16 values as float32, in the order of their bits."""
    return every_value(HALF).astype(SINGLE)


def widen(target: Array, source: Array) -> None:
    """Write float16 into float32, both contiguous; see Note [Float16 in blocks]."""
    widened().take(source.view(np.uint16), out=target, mode="clip")


@cache
def narrowed() -> Array:
    """The bits of the float16 for each value of the first 21 bits of a float32; see Note [Float16 in blocks]."""
    bits = np.arange(1 << (31 - DIGITS_BEHIND), dtype=np.uint32) << np.uint32(DIGITS_BEHIND)
    single = bits.view(SINGLE)
    half = np.zeros(single.shape, HALF)
    above = single >= 65520  # these become infinity, and those up to 2 ** -25 become 0
    held = (single > 2.0**-25) & ~above | np.isnan(single)
    half[held] = single[held]
    half[above] = np.inf
    return np.concatenate([half, -half]).view(np.uint16)


def narrow(target: Array, source: Array) -> None:
    """Write float32 into float16, both contiguous; see Note [Float16 in blocks]."""
    bits = source.view(np.uint32)
    first = np.bitwise_and(bits, BEHIND)
    first += BEHIND
    first |= bits
    first >>= np.uint32(DIGITS_BEHIND)
    narrowed().take(first, out=target.view(np.uint16), mode="clip")


@fast(
    halves.cast,
    when="float16 to float32 or back, 8,192 elements or more",
    benchmark="fast: mul of float16, 1e6",
    exact="bits",
)
def cast(target: Array, source: Array) -> None:
    """See Note [Float16 in blocks]."""
    both = target.dtype, source.dtype
    convert = widen if both == (SINGLE, HALF) else narrow if both == (HALF, SINGLE) else None
    if (
        convert is None
        or source.size < thresholds.HALF_BLOCKS_FROM
        or not are_rows(target, [source], source.dtype)
        or np.may_share_memory(target, source)
    ):
        halves.cast.plain(target, source)
        return
    to, of = target.reshape(-1), source.reshape(-1)
    for start in range(0, len(of), thresholds.BLOCK):
        convert(to[start : start + thresholds.BLOCK], of[start : start + thresholds.BLOCK])


@fast(halves.as_dtype, when="float32 to float16", benchmark="fast: mul of float16, 1e6", exact="bits")
def as_dtype(array: Any, dtype: np.dtype[Any]) -> Array:
    """See Note [Float16 in blocks]. The plain function is written out: its call costs as much as what it does."""
    if dtype is not HALF or np.ndim(array) == 0 or array.dtype != SINGLE:
        return np.asarray(array, dtype, order="C")
    result = np.empty(array.shape, HALF)
    cast(result, array)
    return result


@fast(halves.as_single, when="always", benchmark="fast: mul of float16, 1e6", exact="bits")
def as_single(array: Array) -> Array:
    """See Note [Float16 in blocks]."""
    result = np.empty_like(array, SINGLE)
    if array.flags.f_contiguous:
        cast(result.T, array.T)
    else:
        cast(result, array)
    return result


def are_rows(out: Array, inputs: Sequence[Array], dtype: np.dtype[Any]) -> bool:
    """Whether `out` and the non-scalar inputs have one shape and `dtype`, are row-major, and share no memory.

    An input may be `out`.
    """
    return out.flags.c_contiguous and all(
        one.dtype == dtype
        and one.shape == out.shape
        and one.flags.c_contiguous
        and (one.ctypes.data == out.ctypes.data or not np.may_share_memory(one, out))
        for one in inputs
        if one.ndim
    )


def run_on_float16(loop: Callable[..., Any], out: Array, inputs: Sequence[Array]) -> None:
    """Call `loop(out, *inputs)`, or a ufunc, on float32 blocks of contiguous float16; see Note [Float16 in blocks]."""
    flat = [one.reshape(-1) if one.ndim else one.astype(SINGLE)[None] for one in inputs]
    blocks = [np.empty(thresholds.BLOCK, SINGLE) if one.ndim else None for one in inputs]
    to, result = out.reshape(-1), np.empty(thresholds.BLOCK, SINGLE)
    for start in range(0, len(to), thresholds.BLOCK):
        part = to[start : start + thresholds.BLOCK]
        pieces = []
        for block, one in zip(blocks, flat, strict=True):
            if block is not None:
                widen(block[: len(part)], one[start : start + thresholds.BLOCK])
            pieces.append(one if block is None else block[: len(part)])
        written = result[: len(part)]
        if isinstance(loop, np.ufunc):
            loop(*pieces, out=written)
        else:
            loop(written, *pieces)
        narrow(part, written)


def run_by_table(run: Callable[..., None], out: Array, inputs: Sequence[Array], dtype: np.dtype[Any]) -> None:
    """Call `run(table, inputs)` with all values in place of the varying input, and look up its elements.

    See Note [All values of half precision].
    """
    source = next(one for one in inputs if one.ndim)
    table = np.empty(VALUES, dtype)
    run(table, [every_value(dtype) if one is source else one for one in inputs])
    results, indices, found = (array.reshape(-1).view(np.uint16) for array in (table, source, out))
    for start in range(0, len(indices), thresholds.BLOCK):
        block = slice(start, start + thresholds.BLOCK)
        results.take(indices[block], out=found[block], mode="clip")


@fast(
    halves.run_on_halves,
    when="8,192 row-major elements or more",
    benchmark="fast: mul of float16, 1e6",
    exact="bits",
)
def run_on_halves(run: Callable[..., None], loop: Callable[..., Any], out: Array, inputs: Sequence[Array]) -> None:
    """Run a loop over half precision in one of the two ways of this file, or by `run(out, inputs)` if neither pays."""
    if out.size < thresholds.HALF_BLOCKS_FROM or not are_rows(out, inputs, out.dtype):
        halves.run_on_halves.plain(run, loop, out, inputs)
    elif out.size >= thresholds.HALF_TABLE_FROM and sum(one.ndim > 0 for one in inputs) == 1:
        run_by_table(lambda out, inputs: run_on_halves(run, loop, out, inputs), out, inputs, out.dtype)
    elif out.dtype == HALF:
        quietly(run_on_float16, loop, out, inputs)
    else:
        run(out, inputs)
