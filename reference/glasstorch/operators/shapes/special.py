"""What shape and dtype do the results of special functions have?

Mirrors: TORCH_META_FUNC(polygamma) in aten/src/ATen/native/UnaryOps.cpp, logit in the same file
"""

from __future__ import annotations

from glasstorch.core.errors import ArgumentError
from glasstorch.core.tensor_impl import TensorImpl
from glasstorch.operators.shapes.pointwise.broadcast import binary as pointwise_binary
from glasstorch.operators.shapes.pointwise.broadcast import true_divide, unary_float
from glasstorch.operators.shapes.result import Result

# Special functions of tensors alone follow the rules of other pointwise operators.
unary = unary_float
binary = true_divide
incomplete_gamma = pointwise_binary


def polygamma(n: int, self: TensorImpl) -> Result:
    """The same shape; integers and bool become the default floating dtype. The order is 0 or more."""
    if n < 0:
        raise ArgumentError(f"polygamma(n, x) does not support negative n. Expected 0 or more, got n = {n}")
    return unary_float(self)


def logit(self: TensorImpl, eps: float | None) -> Result:
    """The same shape; integers and bool become the default floating dtype."""
    return unary_float(self)
