"""How are softmax, log_softmax and their gradients computed fast?

Mirrors: aten/src/ATen/native/cpu/SoftMaxKernel.cpp
Differs: NumPy's loops, over blocks.

# Note [Blocks that stay in cache]
Each of the five passes over the data would read and write main memory. Therefore a block that fits into the processor's
cache goes through all passes before the next block is touched. Where the dimension is short, NumPy's loops along it
would be too short: to find maxima such a block is transposed, and the loops run along the other dimension.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from glasstorch._tensor import Tensor, wrap
from glasstorch.core.allocator import empty_array
from glasstorch.core.dtype import dtype
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast, install
from glasstorch.kernels.cpu import softmax as plain
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.pointwise.loops import plain_kernel
from glasstorch.kernels.cpu.fast.reductions import add_reduce, ones
from glasstorch.kernels.halves import as_single, cast, is_half
from glasstorch.kernels.pointwise.dtypes import DIRECT_FLOATS
from glasstorch.kernels.quiet import quietly

largest: Callable[..., Array] = np.maximum.reduce

# function(inputs, out, axis): computes one block; `out` may be the first input itself
Function = Callable[[Sequence[Array], Array, int], None]


# On one block ---------------------------------------------------------------------------------------------------


def softmax_block(inputs: Sequence[Array], out: Array, axis: int) -> None:
    """exp(x - max), divided by its sum."""
    (x,) = inputs
    np.divide(out, exponentials(x, out, out, axis), out)


def log_softmax_block(inputs: Sequence[Array], out: Array, axis: int) -> None:
    """x - max, minus the logarithm of the sum of its exponentials."""
    (x,) = inputs
    sums = exponentials(x, out, np.empty_like(out), axis)
    np.log(sums, sums)
    np.subtract(out, sums, out)


def exponentials(x: Array, shifted: Array, result: Array, axis: int) -> Array:
    """Fill `shifted` with x minus its maximum and `result` with the exponentials of that; return their sums.

    Rows with similar maxima share the largest: subtracting one number takes half the time.
    """
    rows = axis == 1 == x.ndim - 1
    highest = largest_in_rows(x) if rows else largest(x, axis, keepdims=True)
    if rows:
        common = largest(highest, None)
        spread = common - np.minimum.reduce(highest, None)
        if spread < thresholds.SOFTMAX_SHARED_MAXIMUM_WITHIN:  # False for NaN and infinity
            highest = common
    np.subtract(x, highest, shifted)
    np.exp(shifted, result)
    if rows:
        return np.matmul(result, np.ones((x.shape[1], 1), x.dtype))  # type: ignore[no-any-return]
    return total(result, axis)


def largest_in_rows(x: Array) -> Array:
    """The maximum (rows, 1) of each row. NumPy finds its place sooner, above all in short rows."""
    places = x.argmax(1)
    places += np.arange(0, x.size, x.shape[1])
    largest_of_each: Array = x.reshape(-1).take(places)
    return largest_of_each[:, None]


def total(array: Array, axis: int) -> Array:
    """The sum along an axis, ready to be broadcast. Of few numbers each, BLAS adds in a fraction of the time."""
    if axis == 0:
        return ones(array.shape[0], array.dtype).dot(array)  # type: ignore[no-any-return]
    if array.ndim == 2:
        return array.dot(ones(array.shape[1], array.dtype))[:, None]  # type: ignore[no-any-return]
    return add_reduce(array, (axis,), True)  # type: ignore[no-any-return]


def softmax_backward_block(inputs: Sequence[Array], out: Array, axis: int) -> None:
    """(grad - sum(grad * y)) * y"""
    grad, y = inputs
    np.subtract(grad, total(grad * y, axis), out)
    np.multiply(out, y, out)


def log_softmax_backward_block(inputs: Sequence[Array], out: Array, axis: int) -> None:
    """grad - exp(y) * sum(grad)"""
    grad, y = inputs
    share = np.exp(y) if out is grad else np.exp(y, out)
    np.multiply(share, total(grad, axis), share)
    np.subtract(grad, share, out)


def in_float32(function: Function) -> Function:
    """The same function for a block of half precision."""

    def converted(inputs: Sequence[Array], out: Array, axis: int) -> None:
        blocks = [as_single.run(x) for x in inputs]
        function(blocks, blocks[0], axis)
        cast.run(out, blocks[0])

    return converted


# Over all blocks ------------------------------------------------------------------------------------------------

BLOCKS: dict[plain.Function, Function] = {
    plain.softmax: softmax_block,
    plain.log_softmax: log_softmax_block,
    plain.softmax_backward: softmax_backward_block,
    plain.log_softmax_backward: log_softmax_backward_block,
}


@fast(plain.along, when="always", benchmark="`log_softmax`, 4096x1000", exact=16.0)
def along_in_blocks(function: plain.Function, arrays: list[Array], axis: int) -> Array:
    """See Note [Blocks that stay in cache]."""
    inputs = [np.asarray(x, order="C") for x in arrays]
    first, block = inputs[0], BLOCKS[function]
    if is_half(first):
        block = in_float32(block)
    out = empty_array(first.shape, first.dtype, first.size * first.itemsize)
    if not out.size:
        return out
    size = first.shape[axis] if first.shape else 1
    inner = math.prod(first.shape[axis + 1 :])
    if inner == 1:
        _by_rows(block, [x.reshape(-1, size) for x in inputs], out.reshape(-1, size))
    else:
        _by_planes(block, [x.reshape(-1, size, inner) for x in inputs], out.reshape(-1, size, inner))
    return out


def _by_rows(function: Function, inputs: list[Array], out: Array) -> None:
    """Along the last dimension of (rows, size)."""
    rows, size = out.shape
    step = max(thresholds.SOFTMAX_ROWS // size, 1)
    if rows <= step:
        _strip(function, inputs, out)
        return
    for start in range(0, rows, step):
        part = slice(start, start + step)
        _strip(function, [x[part] for x in inputs], out[part])


def _strip(function: Function, inputs: Sequence[Array], out: Array) -> None:
    """A block of whole rows. Short ones of which the maxima are sought, in a forward pass, are transposed."""
    if len(inputs) > 1 or out.shape[1] > thresholds.SOFTMAX_TRANSPOSED_UP_TO:
        function(inputs, out, 1)
        return
    columns = inputs[0].T.copy()
    function((columns,), columns, 0)
    np.copyto(out, columns.T)


def _by_planes(function: Function, inputs: list[Array], out: Array) -> None:
    """Along the middle dimension of (outer, size, inner). Planes are not cut: NumPy prefers them whole."""
    outer, size, inner = out.shape
    step = max(thresholds.STRIP // (size * inner), 1)
    for start in range(0, outer, step):
        part = slice(start, start + step)
        function([x[part] for x in inputs], out[part], 1)


# Small tensors: one block, at once ------------------------------------------------------------------------------


def in_one_block(function: Function, *arrays: Array) -> Array:
    """A function along the last dimension."""
    shape = arrays[0].shape
    rows = arrays if len(shape) == 2 else [x.reshape(-1, shape[-1]) for x in arrays]
    out = np.empty(rows[0].shape, rows[0].dtype)
    _strip(function, rows, out)
    return out if len(shape) == 2 else out.reshape(shape)


def is_one_block(array: Array, dim: int) -> bool:
    """Whether the kernels below take an array, which must have elements."""
    last = array.ndim - 1
    return (
        last >= 0
        and dim in (last, -1)
        and 0 < array.size <= thresholds.STRIP
        and array.shape[last] <= thresholds.SOFTMAX_TRANSPOSED_UP_TO
    )


def install_small(name: str, forward: Function, backward: Function) -> None:
    """Put the kernels for small tensors in front of those of an operator and of its gradient."""
    plain_forward, plain_backward = plain_kernel(f"_{name}"), plain_kernel(f"_{name}_backward_data")

    def small(keys: int, self: Tensor, dim: int, half_to_float: bool) -> Tensor:  # hot path: benchmarks/operators.py
        if self.dtype in DIRECT_FLOATS and not half_to_float and is_one_block(array := self.array(), dim):
            return wrap(quietly(in_one_block, forward, array), self.dtype)
        return plain_forward(keys, self, dim, half_to_float)

    def small_backward(
        keys: int, grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype
    ) -> Tensor:  # hot path: benchmarks/training.py
        own = output.dtype
        if (
            own in DIRECT_FLOATS
            and grad_output.dtype is own is input_dtype
            and grad_output._shape == output._shape
            and is_one_block(array := output.array(), dim)
        ):
            return wrap(quietly(in_one_block, backward, grad_output.array(), array), own)
        return plain_backward(keys, grad_output, output, dim, input_dtype)

    when = "float32 or float64, the last dimension, which is short, of a tensor that fits into one block"
    install(f"_{name}", small, when, "`cross_entropy`, 64x10", 16.0)
    install(f"_{name}_backward_data", small_backward, when, "digits classifier, one epoch", 16.0)


install_small("softmax", softmax_block, softmax_backward_block)
install_small("log_softmax", log_softmax_block, log_softmax_backward_block)
