"""How are softmax, log_softmax and their gradients computed on the CPU?

Mirrors: aten/src/ATen/native/cpu/SoftMaxKernel.cpp, SoftMax.cpp
Differs: NumPy's loops, over blocks. See Note [Blocks that stay in cache].

# Note [Blocks that stay in cache]
Each of the five passes over the data would read and write main memory. Therefore a block that fits into the processor's
cache goes through all passes before the next block is touched. Where the dimension is short, NumPy's loops along it
would be too short: such a block is transposed, and the loops run along the other dimension.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.allocator import empty_array
from glasstorch.core.dtype import HALF_PRECISION, dtype
from glasstorch.core.errors import DtypeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.fast.reductions import add_reduce
from glasstorch.kernels.cpu.fast.thresholds import STRIP
from glasstorch.kernels.cpu.reductions.sums import finish
from glasstorch.kernels.halves import as_single, cast
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import softmax as shapes

CPU = KernelTable("CPU")

TRANSPOSE_UP_TO = 64  # sizes of the dimension up to which a block is transposed
SHARED_MAXIMUM_WITHIN = 4.0  # rows whose maxima differ by less subtract one maximum: exponentials lose no digits

largest: Callable[..., Array] = np.maximum.reduce

# function(inputs, out, axis): computes one block; `out` may be the first input itself
Function = Callable[[list[Array], Array, int], None]


# On one block ---------------------------------------------------------------------------------------------------


def softmax_block(inputs: list[Array], out: Array, axis: int) -> None:
    """exp(x - max), divided by its sum."""
    (x,) = inputs
    np.divide(out, exponentials(x, out, out, axis), out)


def log_softmax_block(inputs: list[Array], out: Array, axis: int) -> None:
    """x - max, minus the logarithm of the sum of its exponentials."""
    (x,) = inputs
    sums = exponentials(x, out, np.empty_like(out), axis)
    np.log(sums, sums)
    np.subtract(out, sums, out)


def exponentials(x: Array, shifted: Array, result: Array, axis: int) -> Array:
    """Fill `shifted` with x minus its maximum and `result` with the exponentials of that; return their sums.

    Rows with similar maxima share the largest: subtracting one number takes half the time.
    """
    highest = largest(x, axis, keepdims=True)
    rows = axis == 1 == x.ndim - 1
    if rows:
        common = largest(highest, None)
        if common - np.minimum.reduce(highest, None) < SHARED_MAXIMUM_WITHIN:  # False for NaN and infinity
            highest = common
    np.subtract(x, highest, shifted)
    np.exp(shifted, result)
    if rows:
        return np.matmul(result, np.ones((x.shape[1], 1), x.dtype))  # type: ignore[no-any-return]
    return total(result, axis)


def total(array: Array, axis: int) -> Array:
    """The sum along an axis, with keepdim."""
    return add_reduce(array, (axis,), True)  # type: ignore[no-any-return]


def softmax_backward_block(inputs: list[Array], out: Array, axis: int) -> None:
    """(grad - sum(grad * y)) * y"""
    grad, y = inputs
    np.subtract(grad, total(grad * y, axis), out)
    np.multiply(out, y, out)


def log_softmax_backward_block(inputs: list[Array], out: Array, axis: int) -> None:
    """grad - exp(y) * sum(grad)"""
    grad, y = inputs
    share = np.exp(y)
    np.multiply(share, total(grad, axis), share)
    np.subtract(grad, share, out)


def in_float32(function: Function) -> Function:
    """The same function for a block of half precision."""

    def converted(inputs: list[Array], out: Array, axis: int) -> None:
        blocks = [as_single.run(x) for x in inputs]
        function(blocks, blocks[0], axis)
        cast.run(out, blocks[0])

    return converted


# Over all blocks ------------------------------------------------------------------------------------------------


def along(function: Function, inputs: list[Array], dim: int, numpy_dtype: np.dtype[np.floating]) -> Array:
    """Apply a function along a dimension of row-major arrays of one shape; see Note [Blocks that stay in cache]."""
    shape = inputs[0].shape
    out = empty_array(shape, numpy_dtype, inputs[0].size * numpy_dtype.itemsize)
    if not out.size:
        return out
    size = shape[dim] if shape else 1
    inner = math.prod(shape[dim + 1 :])
    if inner == 1:
        _by_rows(function, [x.reshape(-1, size) for x in inputs], out.reshape(-1, size))
    else:
        _by_planes(function, [x.reshape(-1, size, inner) for x in inputs], out.reshape(-1, size, inner))
    return out


def _by_rows(function: Function, inputs: list[Array], out: Array) -> None:
    """Along the last dimension of (rows, size)."""
    rows, size = out.shape
    step = max(STRIP // size, 1)
    for start in range(0, rows, step):
        part = slice(start, start + step)
        if size <= TRANSPOSE_UP_TO:
            columns = [x[part].T.copy() for x in inputs]
            function(columns, columns[0], 0)
            np.copyto(out[part], columns[0].T)
        else:
            function([x[part] for x in inputs], out[part], 1)


def _by_planes(function: Function, inputs: list[Array], out: Array) -> None:
    """Along the middle dimension of (outer, size, inner). Planes are not cut: NumPy prefers them whole."""
    outer, size, inner = out.shape
    step = max(STRIP // (size * inner), 1)
    for start in range(0, outer, step):
        part = slice(start, start + step)
        function([x[part] for x in inputs], out[part], 1)


def applied(function: Function, tensors: list[Tensor], dim: int, dtype: dtype, out: Tensor | None) -> Tensor:
    """Run a function on tensors of one dtype; half precision is computed in float32 by blocks and rounded once."""
    arrays = [np.asarray(t.array(), order="C") for t in tensors]
    if dtype in HALF_PRECISION:
        function = in_float32(function)
    result = along(function, arrays, wrap_dim(dim, arrays[0].ndim), arrays[0].dtype)
    return finish(result, dtype, out)


# Kernels --------------------------------------------------------------------------------------------------------


def register_softmax(name: str, forward: Function, backward: Function) -> None:
    """Register an operator and its gradient."""

    def kernel(keys: int, self: Tensor, dim: int, half_to_float: bool, out: Tensor | None = None) -> Tensor:
        if half_to_float:
            raise DtypeError("softmax with half to float conversion is not supported on CPU: convert the input first")
        result = getattr(shapes, name)(self, dim, half_to_float)
        return quietly(applied, forward, [self], dim, result.dtype, out)

    def backward_kernel(
        keys: int, grad_output: Tensor, output: Tensor, dim: int, input_dtype: dtype, out: Tensor | None = None
    ) -> Tensor:
        result = getattr(shapes, f"{name}_backward")(grad_output, output, dim, input_dtype)
        if result.dtype is not grad_output.dtype:  # half to float conversion once more
            raise DtypeError(
                f"expected scalar type {grad_output.dtype.scalar_name} but found {result.dtype.scalar_name}"
            )
        return quietly(applied, backward, [grad_output, output], dim, result.dtype, out)

    structured(CPU, f"_{name}", kernel)
    structured(CPU, f"_{name}_backward_data", backward_kernel)


register_softmax("softmax", softmax_block, softmax_backward_block)
register_softmax("log_softmax", log_softmax_block, log_softmax_backward_block)
