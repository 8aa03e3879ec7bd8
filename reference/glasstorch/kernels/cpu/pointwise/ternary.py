"""How are elements selected by a mask, interpolated and clamped on the CPU?

Mirrors: aten/src/ATen/native/cpu/TensorCompareKernel.cpp (where, clamp), aten/src/ATen/native/cpu/IndexKernel.cpp
    (masked_fill), aten/src/ATen/native/cpu/LerpKernel.cpp
Differs: PyTorch's vectorized loops use fused multiply-add; here each step rounds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number, bool_
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.pointwise.loops import BINARY, Kernel, Row, register, register_row, with_numbers
from glasstorch.kernels.cpu.pointwise.steps import choose
from glasstorch.kernels.iterator import allocate_output, in_blocks, operand, pointwise
from glasstorch.kernels.pointwise.formulas import FORMULAS
from glasstorch.kernels.pointwise.numpy_loops import numpy_loop
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import shape_function, written_where_expanded
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.pointwise import rules
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.scalars import number_as

# Selection: a mask is not converted to the dtype of what it selects, so both kernels run their loop themselves ------


def where(keys: int, condition: Tensor, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `where.self`."""
    output = allocate_output(shapes.where(condition, self, other)) if out is None else out
    common = result_type(self, other)
    inputs = [condition.array(), operand(self, common), operand(other, common)]
    quietly(in_blocks.run, choose.run, output.array(), inputs, (common.numpy, bool_.numpy, common.numpy, common.numpy))
    return output


def masked_fill(keys: int, self: Tensor, mask: Tensor, value: Number, out: Tensor | None = None) -> Tensor:
    """The kernel of `masked_fill.Scalar`."""
    output = allocate_output(shapes.masked_fill(self, mask, value)) if out is None else out
    FORMULAS["masked_fill.Scalar"].check(self.dtype)
    own = self.dtype.numpy
    inputs = [mask.array(), np.array(number_as(value, self.dtype), own), self.array()]
    in_blocks.run(choose.run, output.array(), inputs, (own, bool_.numpy, own, own))
    return output


register("where.self", where)
register("masked_fill.Scalar", masked_fill, written_where_expanded("masked_fill.Scalar", masked_fill))

# Interpolation with a weight for each element ---------------------------------------------------------------------


@slot
def interpolate_each(out: Array, start: Array, end: Array, weight: Array) -> None:
    """Linear interpolation, from the nearer end, with a weight for each element."""
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


# operator -> the lower and the upper bound, from its arguments
BOUNDS: dict[str, Callable[..., tuple[Number | None, Number | None]]] = {
    "clamp": lambda lower, upper: (lower, upper),
    "clamp_min": lambda lower: (lower, None),
    "clamp_max": lambda upper: (None, upper),
}


def clamp_kernel(name: str) -> Kernel:
    """The kernel of an operator that clamps between numbers; a bound that the dtype cannot hold is refused."""
    shape, bounds = shape_function(name), BOUNDS[name]

    def kernel(keys: int, self: Tensor, *given: Number | None, out: Tensor | None = None) -> Tensor:
        output = allocate_output(shape(self, *given)) if out is None else out
        lower, upper = bounds(*given)
        limits = [bound for bound in (lower, upper) if bound is not None]
        common = result_type(self, *limits)
        FORMULAS["clamp"].check(common, f"{name}_scalar_cpu")
        line = FORMULAS["clamp"].numpy if len(limits) == 2 else "minimum(a, p)" if lower is None else "maximum(a, p)"
        return pointwise(with_numbers(numpy_loop(line), limits, common), common, (self,), output)

    return kernel


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


for name in BOUNDS:
    register(name, clamp_kernel(name))

register("clamp.Tensor", clamp_tensors)
register_row(BINARY, "clamp_min.Tensor", Row.of(FORMULAS["maximum"]))
register_row(BINARY, "clamp_max.Tensor", Row.of(FORMULAS["minimum"]))
