"""How are elements selected by a mask on a CUDA device?

Mirrors: aten/src/ATen/native/cuda/TensorCompare.cu (where), aten/src/ATen/native/cuda/IndexKernel.cu (masked_fill),
    aten/src/ATen/native/cuda/ActivationThresholdKernel.cu

As in PyTorch, a threshold is rounded to half precision on CUDA, but not on the CPU.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.dtype import Number
from glasstorch.kernels.cuda.pointwise.expressions import register, run
from glasstorch.kernels.cuda.pointwise.shared import ROWS
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.shapes.pointwise import broadcast as shapes
from glasstorch.operators.shapes.promotion import result_type
from glasstorch.operators.shapes.scalars import number_as

WHERE, MASKED_FILL, PASS_ABOVE = ROWS["where.self"], ROWS["masked_fill.Scalar"], ROWS["threshold_backward"]


def where(keys: int, condition: Tensor, self: Tensor, other: Tensor, out: Tensor | None = None) -> Tensor:
    """The kernel of `where.self`."""
    result = shapes.where(condition, self, other) if out is None else None
    return run(WHERE, result, (condition, self, other), out, (), result_type(self, other))


def masked_fill(keys: int, self: Tensor, mask: Tensor, value: Number, out: Tensor | None = None) -> Tensor:
    """The kernel of `masked_fill.Scalar`."""
    result = shapes.masked_fill(self, mask, value) if out is None else None
    return run(MASKED_FILL, result, (self, mask), out, (number_as(value, self.dtype),), self.dtype)


def threshold_backward(
    keys: int, grad_output: Tensor, self: Tensor, threshold: Number, out: Tensor | None = None
) -> Tensor:
    """The kernel of `threshold_backward`."""
    result = shapes.threshold_backward(grad_output, self, threshold) if out is None else None
    common = result_type(grad_output, self)
    PASS_ABOVE.check(common)
    number = quietly(np.array, number_as(threshold, common), common.numpy).item()  # rounded as an element is
    return run(PASS_ABOVE, result, (grad_output, self), out, (number,), common)


register("where.self", where)
register("masked_fill.Scalar", masked_fill)
register("threshold_backward", threshold_backward)
