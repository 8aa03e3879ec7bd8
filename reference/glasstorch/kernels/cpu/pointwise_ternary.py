"""Which loops combine several tensors and a number element by element on the CPU?

Mirrors: aten/src/ATen/native/cpu/PointwiseOpsKernel.cpp, aten/src/ATen/native/cpu/LerpKernel.cpp,
    aten/src/ATen/native/cpu/TensorCompareKernel.cpp (clamp)
Differs: PyTorch's vectors fuse a multiplication with the addition that follows; here each rounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number
from glasstorch.core.tensor_impl import Array
from glasstorch.kernels.cpu.pointwise import (
    DIRECT_FLOATS,
    DIRECT_NOT_BOOL,
    FLOATING,
    NOT_BOOL,
    Kernel,
    Quick,
    Row,
    is_plain,
    register,
    run_fresh,
    run_inplace,
    shares_storage,
    with_number,
)
from glasstorch.kernels.iterator import Loop, allocate_output, op_math, pointwise
from glasstorch.operators.shapes import pointwise as shapes
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.result import Result
from glasstorch.operators.shapes.scalars import number_as

# Loops, called as loop(out, inputs..., number) ------------------------------------------------------------------


def add_product(out: Array, x: Array, a: Array, b: Array, value: Array) -> None:
    """`x + value * a * b`."""
    np.add(x, np.multiply(np.multiply(a, value), b), out=out)


def add_quotient(out: Array, x: Array, a: Array, b: Array, value: Array) -> None:
    """`x + value * a / b`."""
    np.add(x, np.true_divide(np.multiply(a, value), b), out=out)


def interpolate(out: Array, start: Array, end: Array, weight: Array) -> None:
    """The point at a fraction of the way, measured from the nearer end."""
    way = np.subtract(end, start)
    if weight < 0.5:
        np.add(start, np.multiply(way, weight), out=out)
    else:
        np.subtract(end, np.multiply(way, 1 - weight), out=out)


def clamp_loop(lower: bool, upper: bool) -> Loop:
    """The loop that holds `x` between those of two bounds that are there; NaN in any of them gives NaN."""
    if lower and upper:
        return lambda out, x, low, high: np.minimum(np.maximum(x, low), high, out=out)
    ufunc = np.maximum if lower else np.minimum
    return lambda out, x, bound: ufunc(x, bound, out=out)


# Tensors and a number at the end --------------------------------------------------------------------------------


def with_number_kernel(shape: Callable[..., Result], row: Row) -> tuple[Kernel, Quick]:
    """The kernel of an operator of tensors and a number, and its short path in place."""
    direct = row.direct

    def kernel(keys: int, *arguments: Any, out: Tensor | None = None) -> Tensor:
        *tensors, value = arguments
        if out is None and is_plain(direct, *tensors):
            dtype = tensors[0].dtype
            loop = with_number(row.loop, number_as(value, dtype), dtype)
            return run_fresh(loop, dtype, *[tensor.array() for tensor in tensors])
        output = allocate_output(shape(*arguments)) if out is None else out
        common = row.common(*tensors)
        row.check(common)
        loop = with_number(row.loop, number_as(value, common), op_math(common))
        return pointwise(loop, common, tensors, output)

    def quick(*arguments: Any) -> bool:
        *tensors, value = arguments
        if not is_plain(direct, *tensors) or shares_storage(*tensors):
            return False
        dtype = tensors[0].dtype
        run_inplace(with_number(row.loop, number_as(value, dtype), dtype), *[tensor.array() for tensor in tensors])
        return True

    return kernel, quick


register("addcmul", *with_number_kernel(shapes.ternary, Row(add_product, DIRECT_FLOATS, NOT_BOOL, "addcmul_cpu_out")))
register("addcdiv", *with_number_kernel(shapes.ternary_divide, Row(add_quotient, DIRECT_FLOATS)))
register(
    "lerp.Scalar",
    *with_number_kernel(shapes.lerp_scalar, Row(interpolate, DIRECT_FLOATS, FLOATING, "lerp_kernel_scalar")),
)

# Bounds that may be missing -------------------------------------------------------------------------------------

CLAMP = Row(clamp_loop, DIRECT_NOT_BOOL, NOT_BOOL, "clamp_scalar_cpu")
CLAMP_TENSOR = Row(clamp_loop, DIRECT_NOT_BOOL, NOT_BOOL, "clamp_cpu")


def clamp(keys: int, self: Tensor, min: Number | None, max: Number | None, out: Tensor | None = None) -> Tensor:
    """The kernel of `clamp` between numbers."""
    output = allocate_output(shapes.clamp(self, min, max)) if out is None else out
    bounds = [bound for bound in (min, max) if bound is not None]
    common = result_type(self, *bounds)
    CLAMP.check(common)
    loop = clamp_loop(min is not None, max is not None)
    for bound in reversed(bounds):
        loop = with_number(loop, number_as(bound, common), op_math(common))
    return pointwise(loop, common, (self,), output)


def clamp_tensor(keys: int, self: Tensor, min: Tensor | None, max: Tensor | None, out: Tensor | None = None) -> Tensor:
    """The kernel of `clamp` between tensors."""
    output = allocate_output(shapes.clamp_tensor(self, min, max)) if out is None else out
    operands = [self, *(bound for bound in (min, max) if bound is not None)]
    common = result_type(*operands)
    if len(operands) == 3:  # with one bound it is `maximum` or `minimum`, which know bool
        CLAMP_TENSOR.check(common)
    return pointwise(clamp_loop(min is not None, max is not None), common, operands, output)


register("clamp", clamp)
register("clamp.Tensor", clamp_tensor)
