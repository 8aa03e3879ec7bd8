"""Which helpers do the formulas of copies and conversions call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (_to_copy_backward, CopyBackwards)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.device import device

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def moved(grad: Tensor, device: device) -> Tensor:
    """The gradient on the device that the elements were copied from. (PyTorch: _to_copy_backward, CopyBackwards)"""
    return grad if grad.device is device else grad.to(device)
