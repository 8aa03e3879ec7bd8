"""Keeps a gradient that nobody else holds, if its strides are right or need not be; copies all others."""

from __future__ import annotations

from glasstorch._tensor import Tensor, alias
from glasstorch.autograd.engine_modes import enforces_layout
from glasstorch.autograd.modes import grad_mode
from glasstorch.core.geometry import contiguous_strides, is_non_overlapping_and_dense

FILE = "autograd/accumulate_grad.py"
LINE = 93


def mended(variable: Tensor, grad: Tensor, shared: bool) -> Tensor:
    """A gradient to keep: the tensor itself if nobody else has it and it has the leaf's layout, else a copy."""
    strides = variable.strides()
    if variable._strides is not None and not is_non_overlapping_and_dense(variable._shape, strides):
        strides = contiguous_strides(variable._shape)
    laid_out_alike = grad.strides() == strides
    if grad_mode.get():
        return grad.clone() if laid_out_alike else grad.new_empty_strided(variable._shape, strides).copy_(grad)
    if (laid_out_alike or not enforces_layout.get()) and not shared:
        kept = alias(grad)
        if variable._strides is None:
            kept._strides = None
        return kept
    if laid_out_alike:
        return grad.clone()
    return grad.new_empty_strided(variable._shape, strides).copy_(grad)
