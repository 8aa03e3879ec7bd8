"""How are elements selected by a mask on the CPU?

Mirrors: aten/src/ATen/native/cpu/TensorCompareKernel.cpp (where), aten/src/ATen/native/cpu/IndexKernel.cpp
    (masked_fill), aten/src/ATen/native/cpu/Activation.cpp (threshold)
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number, bool_
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.pointwise.loops import (
    DIRECT,
    DIRECT_NOT_BOOL,
    NOT_BOOL,
    NUMBERED,
    WITH_COMPLEX,
    Row,
    register,
    register_row,
)
from glasstorch.kernels.iterator import allocate_output, in_blocks, operand
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import written_where_expanded
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.scalars import number_as


@slot
def choose(out: Array, mask: Array, x: Array, y: Array) -> None:
    """`x` where the mask is true, else `y`."""
    out[...] = np.where(mask, x, y)


def pass_above(out: Array, grad: Array, x: Array, threshold: Array) -> None:
    """`grad` where `x` is above the threshold or NaN, else 0."""
    choose.run(out, np.less_equal(x, threshold), np.zeros((), out.dtype), grad)


def where(keys: int, condition: Tensor, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `where.self`."""
    output = allocate_output(shapes.where(condition, self, other)) if out is None else out
    common = result_type(self, other)
    inputs = [condition.array(), operand(self, common), operand(other, common)]
    quietly(in_blocks.run, choose.run, output.array(), inputs, (common.numpy, bool_.numpy, common.numpy, common.numpy))
    return output


MASKED_FILL = Row(choose.run, DIRECT, WITH_COMPLEX, "masked_fill")


def masked_fill(keys: int, self: Tensor, mask: Tensor, value: Number, out: Tensor | None = None) -> Tensor:
    """The kernel of `masked_fill.Scalar`."""
    output = allocate_output(shapes.masked_fill(self, mask, value)) if out is None else out
    MASKED_FILL.check(self.dtype)
    own = self.dtype.numpy
    inputs = [mask.array(), np.array(number_as(value, self.dtype), own), self.array()]
    in_blocks.run(choose.run, output.array(), inputs, (own, bool_.numpy, own, own))
    return output


register("where.self", where)
register("masked_fill.Scalar", masked_fill, written_where_expanded("masked_fill.Scalar", masked_fill))
register_row(NUMBERED, "threshold_backward", Row(pass_above, DIRECT_NOT_BOOL, NOT_BOOL, "threshold_cpu"))
