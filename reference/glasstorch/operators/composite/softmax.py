"""How are softmax and log_softmax composed of their kernels?

Mirrors: aten/src/ATen/native/SoftMax.cpp (softmax, log_softmax)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import dtype, float16, float32
from glasstorch.operators.generated import functions as f

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def softmax(self: Tensor, dim: int, dtype: dtype | None) -> Tensor:
    """exp(x) / sum(exp(x)) over a dimension; with `dtype` the input is converted first."""
    if _halves_to_float(self, dtype):
        return f._softmax(self, dim, True)
    return f._softmax(self if dtype is None else self.to(dtype), dim, False)


def log_softmax(self: Tensor, dim: int, dtype: dtype | None) -> Tensor:
    """The logarithm of softmax; with `dtype` the input is converted first."""
    if _halves_to_float(self, dtype):
        return f._log_softmax(self, dim, True)
    return f._log_softmax(self if dtype is None else self.to(dtype), dim, False)


def _halves_to_float(self: Tensor, dtype: dtype | None) -> bool:
    """Whether the kernel converts while it computes: only CUDA's does."""
    return dtype is float32 and self.dtype is float16 and self.is_cuda
