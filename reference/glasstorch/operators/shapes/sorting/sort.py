"""What shapes and strides does sort return?

Mirrors: TORCH_META_FUNC(sort_stable) in aten/src/ATen/native/Sorting.cpp
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import int64
from glasstorch.core.errors import DtypeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.operators.shapes.indexing.advanced import like
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def sort(self: Tensor, stable: bool | None, dim: int, descending: bool) -> tuple[Result, Result]:
    """Values, and their original indices as int64; both have the strides of the input."""
    wrap_dim(dim, len(self._shape))
    if self.dtype.is_complex:
        raise DtypeError(" Sort does not support complex dtypes on CPU")
    values = like(self)
    return values._replace(check_out=same_dtype), values._replace(dtype=int64, check_out=same_dtype)
