"""How does one loop run over tensors of different sizes, dtypes and layouts?

Mirrors: aten/src/ATen/TensorIterator.h (TensorIteratorBase::build), aten/src/ATen/native/cpu/Loops.h,
    aten/src/ATen/OpMathType.h
Differs: NumPy traverses the memory: a ufunc broadcasts, casts in small buffers and follows strides by itself. What
    remains is to allocate the result, to choose the compute dtype, and to cast the operands of loops of several steps.

# Note [The steps of a pointwise operator]
PyTorch's TensorIterator builds in this order, and so do we:
1. compute_shape, compute_types, compute_strides: the shape function (operators/shapes/pointwise/)
   answers a Result;
2. allocate_or_resize_outputs: `allocate_output`, unless the tensor to write to is given;
3. casting to the common dtype: `pointwise`, which computes half precision in float32 and rounds once (large arrays by
   the methods of `halves`);
4. the loop: a ufunc, or a function of several ufuncs, which `in_blocks` calls once, and its fast form once for each
   block of elements. It is called as `loop(out, *inputs)`, and must not read an input after it has written to `out`,
   which may be one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor, empty, empty_strided, wrap
from glasstorch.core.allocator import empty_array
from glasstorch.core.dtype import FLOATING, HALF_PRECISION, dtype, float32
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.halves import run_on_halves
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.shapes.result import Result

Loop = Callable[..., Any]  # loop(out, *inputs), or a NumPy ufunc


def allocate_output(result: Result) -> Tensor:
    """An uninitialised tensor for a shape function's result.

    Mirrors: TensorIteratorBase::allocate_or_resize_outputs
    """
    shape, dtype, strides = result.shape, result.dtype, result.strides
    if strides is None:
        return wrap(empty_array(shape, dtype.numpy, prod(shape) * dtype.itemsize), dtype)
    return empty_strided(shape, strides, dtype)


def op_math(common: dtype) -> dtype:
    """The compute dtype: float32 for half precision, so that rounding happens once.

    Mirrors: at::opmath_type
    """
    return float32 if common in HALF_PRECISION else common


def operand(tensor: Tensor, common: dtype, exact: bool = False) -> Array:
    """A tensor's array for a loop, which casts while it reads; only operands that must be rounded are cast here.

    A Python number is rounded to the common dtype, and so is any tensor if that is half precision. `exact` keeps a
    number or a 0-dim tensor in the compute precision, as PyTorch's multiplication and division do.
    """
    number = tensor._number
    if number is not None and common.category >= FLOATING:
        return quietly(np.array, number, (op_math(common) if exact else common).numpy)
    array = tensor.array()
    if common in HALF_PRECISION and tensor.dtype is not common:
        exact = exact and not tensor._shape
        return quietly(array.astype, (op_math(common) if exact else common).numpy)
    return array


def pointwise(
    loop: Loop,
    common: dtype,
    inputs: Sequence[Tensor],
    output: Tensor,
    produces: dtype | None = None,
    exact_number: bool = False,
) -> Tensor:
    """Run a loop over inputs cast to their common dtype, into `output`, and return that.

    `produces` is the dtype that the loop writes, where it differs from the one it reads (comparisons give bool); it is
    cast to the dtype of `output`. For `exact_number` see `operand`: it concerns the second input.

    See Note [The steps of a pointwise operator].
    """
    compute, written = common, output
    if common in HALF_PRECISION:
        compute = float32
        if output.dtype is not common and produces is None:
            written = empty(output._shape, common)  # the result is rounded before it is cast to another dtype
    arrays = [operand(tensor, common, exact_number and i == 1) for i, tensor in enumerate(inputs)]
    dtypes = (produces or compute).numpy, compute.numpy
    if common in HALF_PRECISION and produces is None:
        run_on_halves.run(lambda out, inputs: run(loop, out, inputs, *dtypes), loop, written.array(), arrays)
    else:
        run(loop, written.array(), arrays, *dtypes)
    if written is not output:
        quietly(np.copyto, output.array(), written.array(), casting="unsafe")
    return output


def run(loop: Loop, out: Array, inputs: Sequence[Array], writes: np.dtype[Any], reads: np.dtype[Any]) -> None:
    """Run a loop over arrays cast to `reads`; what it writes is `writes`, cast to the dtype of `out`."""
    if isinstance(loop, np.ufunc):
        signature = (*[reads] * len(inputs), writes)
        quietly(loop, *inputs, out=out, signature=signature, casting="unsafe")
    else:
        quietly(in_blocks.run, loop, out, inputs, (writes, *[reads] * len(inputs)))


@slot
def in_blocks(loop: Loop, out: Array, inputs: Sequence[Array], dtypes: Sequence[np.dtype[Any]]) -> None:
    """Call `loop(out, *inputs)` on arrays cast to `dtypes` (that of `out` first); the fast form does so in pieces."""
    # A ufunc on only 0-dim arrays returns a scalar, which later steps cannot write to: a dimension is added.
    reads = [a if a.ndim else a[None] for a in inputs]
    reads = [a if a.dtype is d else a.astype(d) for a, d in zip(reads, dtypes[1:], strict=True)]
    whole = out if out.ndim else out[None]
    if whole.dtype is dtypes[0]:
        loop(whole, *reads)
    else:
        written = np.empty(whole.shape, dtypes[0])
        loop(written, *reads)
        whole[...] = written
