"""How are norm and dist composed of vector norms?

Mirrors: aten/src/ATen/native/ReduceOps.cpp (norm, dist)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from glasstorch.core.dtype import BOOL, INTEGRAL, Number, dtype
from glasstorch.core.errors import DtypeError
from glasstorch.operators.direct import on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

vector_norm = on_tensor("linalg_vector_norm")


def norm_all(self: Tensor, p: Number) -> Tensor:
    """The norm of all elements; the default order is 2."""
    return _norm(self, p, [], False, None)


def norm_all_as(self: Tensor, p: Number | None, dtype: dtype) -> Tensor:
    """The norm of all elements, which are converted first."""
    return _norm(self, p, [], False, dtype)


def norm(self: Tensor, p: Number | None, dim: Sequence[int], keepdim: bool) -> Tensor:
    """The norm over dimensions."""
    return _norm(self, p, dim, keepdim, None)


def norm_as(self: Tensor, p: Number | None, dim: Sequence[int], keepdim: bool, dtype: dtype) -> Tensor:
    """The norm over dimensions; the elements are converted first."""
    return _norm(self, p, dim, keepdim, dtype)


def _norm(self: Tensor, p: Number | None, dim: Sequence[int], keepdim: bool, dtype: dtype | None) -> Tensor:
    given = dtype or self.dtype
    if given.category in (BOOL, INTEGRAL):
        raise DtypeError(
            f"norm(): input dtype should be either floating point or complex. Got {given.scalar_name} instead."
        )
    return vector_norm(self, 2 if p is None else p, dim, keepdim, dtype)


def dist(self: Tensor, other: Tensor, p: Number) -> Tensor:
    """The norm of the difference."""
    return norm_all(self - other, p)
