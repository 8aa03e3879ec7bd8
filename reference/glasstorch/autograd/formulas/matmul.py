"""Which helpers do the formulas of matrix products call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (mm_mat1_grad, mm_mat2_grad)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.autograd.formulas.shared import Geometry, conjugate, scaled
from glasstorch.core.dtype import Number

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def mm_left_grad(grad: Tensor, right: Tensor, left_geometry: Geometry, alpha: Number) -> Tensor:
    """The gradient of the left factor, column-major if that is. (PyTorch: mm_mat1_grad)"""
    if is_column_major(left_geometry):
        return scaled(conjugate(right).mm(grad.t()).t(), conjugate(alpha))
    return scaled(grad.mm(conjugate(right).t()), conjugate(alpha))


def mm_right_grad(grad: Tensor, left: Tensor, right_geometry: Geometry, alpha: Number) -> Tensor:
    """The gradient of the right factor, column-major if that is. (PyTorch: mm_mat2_grad)

    A linear layer multiplies by a transposed weight: the weight's gradient is then row-major like the weight, and is
    kept without a copy.
    """
    if is_column_major(right_geometry):
        return scaled(grad.t().mm(conjugate(left)).t(), conjugate(alpha))
    return scaled(conjugate(left).t().mm(grad), conjugate(alpha))


def is_column_major(geometry: Geometry) -> bool:
    """Whether a matrix is column-major and contiguous."""
    shape, strides, _ = geometry
    return strides[0] == 1 and strides[1] == shape[0]
