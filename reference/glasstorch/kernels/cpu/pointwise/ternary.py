"""How are tensors interpolated and clamped on the CPU, with weights and bounds of several kinds?

Mirrors: aten/src/ATen/native/cpu/LerpKernel.cpp, aten/src/ATen/native/cpu/TensorCompareKernel.cpp (clamp)
Differs: PyTorch's vectorized loops use fused multiply-add; here each step rounds.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number, dtype
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.pointwise.loops import (
    BINARY,
    Row,
    register,
    register_row,
    with_numbers,
)
from glasstorch.kernels.iterator import Loop, allocate_output, pointwise
from glasstorch.kernels.pointwise.formulas import FORMULAS
from glasstorch.kernels.pointwise.numpy_loops import numpy_loop
from glasstorch.kernels.structured import shape_function
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.pointwise import rules
from glasstorch.operators.shapes.promotion import result_type

# Interpolation with a weight for each element ---------------------------------------------------------------------


@slot
def interpolate_each(out: Array, start: Array, end: Array, weight: Array) -> None:
    """As `interpolate`, with a weight for each element."""
    near_end = np.absolute(weight) >= 0.5
    way = (end - start) * (weight - near_end)  # from the end it is weight - 1, which is below 0
    np.add(np.where(near_end, end, start), way, out=out)


def lerp_tensor(keys: int, self: Tensor, end: Tensor, weight: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `lerp.Tensor`."""
    output = allocate_output(rules.lerp(self, end, weight)) if out is None else out
    common = result_type(self, end, weight)
    FORMULAS["lerp.Scalar"].check(common, "lerp_kernel_tensor")
    return pointwise(interpolate_each.run, common, (self, end, weight), output)


register("lerp.Tensor", lerp_tensor)

# Clamp: bounds that may be missing; NaN anywhere gives NaN ------------------------------------------------------


def between(lower: Number | None, upper: Number | None, common: dtype) -> Loop:
    """The loop of `min(max(x, lower), upper)`; a bound that the dtype cannot hold is refused."""
    bounds = [bound for bound in (lower, upper) if bound is not None]
    name = "clip" if len(bounds) == 2 else "minimum" if lower is None else "maximum"
    return with_numbers(LOOPS[name], bounds, common)


LOOPS = {
    "clip": numpy_loop("clip(a, p, q)"),
    "minimum": numpy_loop("minimum(a, p)"),
    "maximum": numpy_loop("maximum(a, p)"),
}


def clamp(keys: int, self: Tensor, lower: Number | None, upper: Number | None, out: Tensor | None = None) -> Tensor:
    """The kernel of `clamp` between numbers."""
    output = allocate_output(shapes.clamp(self, lower, upper)) if out is None else out
    common = result_type(self, *(bound for bound in (lower, upper) if bound is not None))
    FORMULAS["clamp"].check(common)
    return pointwise(between(lower, upper, common), common, (self,), output)


def clamp_tensors(
    keys: int, self: Tensor, lower: Tensor | None, upper: Tensor | None, out: Tensor | None = None
) -> Tensor:
    """The kernel of `clamp` between tensors; with one bound it is `maximum` or `minimum`."""
    output = allocate_output(shapes.clamp_tensor(self, lower, upper)) if out is None else out
    inputs = [self, *(bound for bound in (lower, upper) if bound is not None)]
    common = result_type(*inputs)
    formula = FORMULAS["clamp.Tensor" if len(inputs) == 3 else "minimum" if lower is None else "maximum"]
    formula.check(common)
    return pointwise(numpy_loop(formula.expression), common, inputs, output)


register("clamp", clamp)
register("clamp.Tensor", clamp_tensors)

# One bound: a number, or a tensor, where clamp_max is `minimum` --------------------------------------------------


def register_bound(name: str, extremum: str) -> None:
    """Register `clamp_max` or `clamp_min`, with its overload for tensors."""
    shape = shape_function(name)

    def kernel(keys: int, self: Tensor, bound: Number, out: Tensor | None = None) -> Tensor:
        output = allocate_output(shape(self, bound)) if out is None else out
        common = result_type(self, bound)
        FORMULAS["clamp"].check(common, f"{name}_scalar_cpu")
        return pointwise(with_numbers(LOOPS[extremum], (bound,), common), common, (self,), output)

    register(name, kernel)
    register_row(BINARY, f"{name}.Tensor", Row.of(FORMULAS[extremum]), shapes.binary)


register_bound("clamp_max", "minimum")
register_bound("clamp_min", "maximum")
