"""Which sorting operators are composed of the stable sort?

Mirrors: aten/src/ATen/native/Sorting.cpp (sort, argsort, argsort_stable, msort)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.operators.direct import on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

sort_stable = on_tensor("sort.stable")
sort_default = on_tensor("sort")


def sort(self: Tensor, dim: int, descending: bool) -> Any:
    """The stable sort: there is no other."""
    return sort_stable(self, False, dim, descending)


def argsort(self: Tensor, dim: int, descending: bool) -> Any:
    """The second result of `sort`."""
    return sort_default(self, dim, descending)[1]


def argsort_stable(self: Tensor, stable: bool, dim: int, descending: bool) -> Any:
    """The second result of `sort`."""
    return sort_stable(self, stable, dim, descending)[1]


def msort(self: Tensor) -> Any:
    """The first result of `sort` along the first dimension."""
    return sort_default(self, 0, False)[0]
