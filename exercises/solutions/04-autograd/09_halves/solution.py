"""Keeps a gradient without other references, if its strides are right or need not be; copies all others."""

from __future__ import annotations

from glasstorch._tensor import Tensor, without_history
from glasstorch.autograd.engine_modes import enforces_layout
from glasstorch.autograd.modes import grad_mode
from glasstorch.core.geometry import contiguous_strides, is_non_overlapping_and_dense
from glasstorch.core.keys import SPARSE
from glasstorch.core.layout import contiguous_format

FILE = "autograd/accumulate_grad.py"
LINE = 97


def mended(variable: Tensor, grad: Tensor, shared: bool) -> Tensor:
    """A gradient to keep: the tensor itself if nobody else has it and it has the leaf's layout, else a copy."""
    if grad.key_set & SPARSE:
        return grad.clone() if shared or grad_mode.get() else without_history(grad)
    strides = variable.strides()
    is_dense = variable._strides is None or is_non_overlapping_and_dense(variable._shape, strides)
    if not is_dense or variable.key_set & SPARSE:
        is_dense, strides = False, contiguous_strides(variable._shape)
    if grad_mode.get():
        if not is_dense:
            return grad.clone(memory_format=contiguous_format)
        return grad.new_empty_strided(variable._shape, strides).copy_(grad)
    laid_out_alike = grad.strides() == strides
    if (laid_out_alike or not enforces_layout.get()) and not shared:
        kept = without_history(grad)
        if variable._strides is None:
            kept._strides = None
        return kept
    if laid_out_alike:
        return grad.clone()
    return grad.new_empty_strided(variable._shape, strides).copy_(grad)
