"""Which loops combine several tensors and a number element by element on the CPU?

Mirrors: aten/src/ATen/native/cpu/PointwiseOpsKernel.cpp, aten/src/ATen/native/cpu/LerpKernel.cpp,
    aten/src/ATen/native/cpu/TensorCompareKernel.cpp (clamp)
Differs: PyTorch's vectorized loops use fused multiply-add; here each step rounds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number, bool_, dtype
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.pointwise.binary import ARITHMETIC
from glasstorch.kernels.cpu.pointwise.loops import (
    BINARY,
    DIRECT_FLOATS,
    DIRECT_NOT_BOOL,
    FLOATING_OR_COMPLEX,
    NOT_BOOL,
    NUMBERED,
    WITH_COMPLEX,
    Row,
    register,
    register_row,
)
from glasstorch.kernels.iterator import Loop, allocate_output, op_math, pointwise
from glasstorch.kernels.structured import shape_function
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.pointwise import rules
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
    """Linear interpolation, computed from the start for weights below 1/2, else from the end."""
    way = np.subtract(end, start)
    if abs(weight) < 0.5:
        np.add(start, np.multiply(way, weight, out=way), out=out)
    else:
        np.subtract(end, np.multiply(way, 1 - weight, out=way), out=out)


@slot
def interpolate_each(out: Array, start: Array, end: Array, weight: Array) -> None:
    """As `interpolate`, with a weight for each element."""
    near_end = np.absolute(weight) >= 0.5
    way = (end - start) * (weight - near_end)  # from the end it is weight - 1, which is below 0
    np.add(np.where(near_end, end, start), way, out=out)


# The table ------------------------------------------------------------------------------------------------------

TERNARY: dict[str, tuple[Callable[..., Result], Row]] = {
    "addcmul": (shapes.ternary, Row(add_product, DIRECT_FLOATS, WITH_COMPLEX - {bool_}, "addcmul_cpu_out")),
    "addcdiv": (shapes.ternary_divide, Row(add_quotient, DIRECT_FLOATS, FLOATING_OR_COMPLEX, "addcdiv_cpu_out")),
    "lerp.Scalar": (shapes.lerp_scalar, Row(interpolate, DIRECT_FLOATS, FLOATING_OR_COMPLEX, "lerp_kernel_scalar")),
}

for name, (shape, row) in TERNARY.items():
    register_row(NUMBERED, name, row, shape)

LERP = Row(interpolate_each.plain, DIRECT_FLOATS, FLOATING_OR_COMPLEX, "lerp_kernel_tensor")


def lerp_tensor(keys: int, self: Tensor, end: Tensor, weight: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `lerp.Tensor`."""
    output = allocate_output(rules.lerp(self, end, weight)) if out is None else out
    common = result_type(self, end, weight)
    LERP.check(common)
    return pointwise(interpolate_each.run, common, (self, end, weight), output)


register("lerp.Tensor", lerp_tensor)

# Clamp: bounds that may be missing; NaN anywhere gives NaN ------------------------------------------------------


def between_tensors(out: Array, x: Array, lower: Array, upper: Array) -> None:
    """`min(max(x, lower), upper)`."""
    np.minimum(np.maximum(x, lower), upper, out=out)


def between_numbers(lower: Number | None, upper: Number | None, common: dtype) -> Loop:
    """The loop of `min(max(x, lower), upper)`; a bound that the dtype cannot hold is refused."""
    compute = op_math(common).numpy
    low = None if lower is None else np.array(number_as(lower, common), compute)
    high = None if upper is None else np.array(number_as(upper, common), compute)

    def loop(out: Array, x: Array) -> None:
        if low is not None and high is not None:
            np.clip(x, low, high, out=out)
        elif low is not None:
            np.maximum(x, low, out=out)
        elif high is not None:
            np.minimum(x, high, out=out)

    return loop


CLAMP_NUMBERS = Row(between_numbers, DIRECT_NOT_BOOL, NOT_BOOL, "clamp_scalar_cpu")
CLAMP_TENSORS = Row(between_tensors, DIRECT_NOT_BOOL, NOT_BOOL, "clamp_cpu")


def clamp(keys: int, self: Tensor, lower: Number | None, upper: Number | None, out: Tensor | None = None) -> Tensor:
    """The kernel of `clamp` between numbers."""
    bounds = [bound for bound in (lower, upper) if bound is not None]
    output = allocate_output(shapes.clamp(self, lower, upper)) if out is None else out
    common = result_type(self, *bounds)
    CLAMP_NUMBERS.check(common)
    return pointwise(between_numbers(lower, upper, common), common, (self,), output)


def clamp_tensors(
    keys: int, self: Tensor, lower: Tensor | None, upper: Tensor | None, out: Tensor | None = None
) -> Tensor:
    """The kernel of `clamp` between tensors; with one bound it is `maximum` or `minimum`."""
    output = allocate_output(shapes.clamp_tensor(self, lower, upper)) if out is None else out
    inputs = [self, *(bound for bound in (lower, upper) if bound is not None)]
    common = result_type(*inputs)
    if len(inputs) == 3:
        CLAMP_TENSORS.check(common)
        return pointwise(between_tensors, common, inputs, output)
    row = ARITHMETIC["minimum" if lower is None else "maximum"]
    row.check(common)
    return pointwise(row.loop, common, inputs, output)


register("clamp", clamp)
register("clamp.Tensor", clamp_tensors)


# One bound: a number, or a tensor, where clamp_max is `minimum` --------------------------------------------------


def register_bound(name: str, extremum: str) -> None:
    """Register `clamp_max` or `clamp_min`, with its overload for tensors."""
    row = Row(between_numbers, frozenset(), NOT_BOOL, f"{name}_scalar_cpu")
    shape = shape_function(name)

    def kernel(keys: int, self: Tensor, bound: Number, out: Tensor | None = None) -> Tensor:
        lower, upper = (None, bound) if extremum == "minimum" else (bound, None)
        output = allocate_output(shape(self, bound)) if out is None else out
        common = result_type(self, bound)
        row.check(common)
        return pointwise(between_numbers(lower, upper, common), common, (self,), output)

    register(name, kernel)
    register_row(BINARY, f"{name}.Tensor", ARITHMETIC[extremum], shapes.binary)


register_bound("clamp_max", "minimum")
register_bound("clamp_min", "maximum")
