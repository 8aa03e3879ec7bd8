"""What shape and strides does the triangular part of a matrix have?

Mirrors: aten/src/ATen/native/TriangularOps.cpp (TORCH_META_FUNC(tril), TORCH_META_FUNC(triu))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import STORED_ONLY, check_implemented
from glasstorch.core.errors import ShapeError
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def tril(self: Tensor, diagonal: int) -> Result:
    """The input's shape, row-major."""
    return _triangle("tril", self)


def triu(self: Tensor, diagonal: int) -> Result:
    """The input's shape, row-major."""
    return _triangle("triu", self)


def _triangle(name: str, self: Tensor) -> Result:
    if len(self._shape) < 2:
        raise ShapeError(f"{name}: input tensor must have at least 2 dimensions")
    check_implemented(name, self.dtype, STORED_ONLY)
    return Result(self._shape, self.dtype, check_out=same_dtype)
