"""Which autograd kernels are written by hand?

Mirrors: torch/csrc/autograd/VariableTypeManual.cpp
Differs: `resize_` only; what else is written by hand there follows from a formula here.
"""

from __future__ import annotations

from typing import Any

from glasstorch.autograd.node import requires_grad
from glasstorch.core.errors import AutogradError
from glasstorch.core.keys import BELOW_AUTOGRAD
from glasstorch.dispatch.library import KernelTable
from glasstorch.operators.generated.registry import table

AUTOGRAD = KernelTable("Autograd")

_resize_ = table("resize_")


@AUTOGRAD.impl("resize_")
def resize_(keys: int, self: Any, size: Any, memory_format: Any) -> Any:
    """Refuse to resize what a gradient of the old sizes is wanted for."""
    if requires_grad(self):
        raise AutogradError("cannot resize variables that require grad")
    below = keys & BELOW_AUTOGRAD
    return _resize_[below](below, self, size, memory_format)
