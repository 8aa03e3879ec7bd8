"""Which helpers do the formulas of matrix products call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (mm_mat1_grad, mm_mat2_grad)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.autograd.formulas.shared import Geometry, conjugate, scaled
from glasstorch.core.dtype import Number
from glasstorch.operators.direct import on_pair, on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

mm, t = on_pair("mm"), on_tensor("t")


def mm_left_grad(grad: Tensor, right: Tensor, left_geometry: Geometry, alpha: Number) -> Tensor:
    """The gradient of the left factor, column-major if that is. (PyTorch: mm_mat1_grad)"""
    if is_column_major(left_geometry):
        return scaled(t(mm(conjugate(right), t(grad))), conjugate(alpha))
    return scaled(mm(grad, t(conjugate(right))), conjugate(alpha))


def mm_right_grad(grad: Tensor, left: Tensor, right_geometry: Geometry, alpha: Number) -> Tensor:
    """The gradient of the right factor, column-major if that is. (PyTorch: mm_mat2_grad)

    A linear layer multiplies by a transposed weight: the weight's gradient is then row-major like the weight, and is
    kept without a copy.
    """
    if is_column_major(right_geometry):
        return scaled(t(mm(t(grad), conjugate(left))), conjugate(alpha))
    return scaled(mm(t(conjugate(left)), grad), conjugate(alpha))


def is_column_major(geometry: Geometry) -> bool:
    """Whether a matrix is column-major and contiguous."""
    shape, strides, _ = geometry
    return strides[0] == 1 and strides[1] == shape[0]
