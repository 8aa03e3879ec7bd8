"""How are elements selected by a mask on the CPU?

Mirrors: aten/src/ATen/native/cpu/TensorCompareKernel.cpp (where), aten/src/ATen/native/cpu/IndexKernel.cpp
    (masked_fill)

A mask is not converted to the dtype of what it selects, so both kernels run their loop themselves.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number, bool_
from glasstorch.kernels.cpu.pointwise.loops import register
from glasstorch.kernels.cpu.pointwise.steps import choose
from glasstorch.kernels.iterator import allocate_output, in_blocks, operand
from glasstorch.kernels.pointwise.formulas import FORMULAS
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import written_where_expanded
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.scalars import number_as


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
