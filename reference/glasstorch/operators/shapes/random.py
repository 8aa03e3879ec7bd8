"""What shape does multinomial return, and which weights does it accept?

Mirrors: multinomial_out in aten/src/ATen/native/Distributions.cpp (the checks)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import int64
from glasstorch.core.errors import DtypeError, ShapeError
from glasstorch.core.random.generator import Generator
from glasstorch.operators.shapes.result import Result

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

MOST_CATEGORIES = 1 << 24  # the largest integer that float32 counts to exactly, a limit that PyTorch keeps


def multinomial(self: Tensor, num_samples: int, replacement: bool, generator: Generator | None) -> Result:
    """int64 indices, `num_samples` per row; without replacement, a row must have that many weights."""
    shape = self._shape
    if not 0 < len(shape) <= 2:
        raise ShapeError(f"prob_dist must be 1 or 2 dim, got {len(shape)}")
    if not self.dtype.is_floating_point:
        raise DtypeError(f"multinomial only supports floating-point dtypes for input, got: {self.dtype.scalar_name}")
    if num_samples <= 0:
        raise ShapeError(f"cannot sample n_sample <= 0 samples, got {num_samples}")
    if not replacement and num_samples > shape[-1]:
        raise ShapeError(
            f"cannot sample n_sample > prob_dist.size(-1) samples without replacement, got {num_samples} of {shape[-1]}"
        )
    if shape[-1] > MOST_CATEGORIES:
        raise ShapeError(f"number of categories cannot exceed 2^24, got {shape[-1]}")
    return Result((*shape[:-1], num_samples), int64)
