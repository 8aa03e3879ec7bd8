"""How do distances between the rows of matrices become a product of matrices where there are many?

Mirrors: aten/src/ATen/native/Distance.cpp (cdist, cdist_impl, _euclidean_dist)
Differs: nothing in substance.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from glasstorch.core.geometry import broadcast_shapes
from glasstorch.operators.direct import on_tensors
from glasstorch.operators.generated import functions
from glasstorch.operators.shapes.distances import check_cdist, check_floating

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

row_by_row = on_tensors("_cdist_forward")
by_product = on_tensors("_euclidean_dist")
FEW = 25  # rows, for which the product of matrices is not worth its rounding errors
ALWAYS_BY_PRODUCT = 1  # the modes; 0 is for the product where there are many rows, and 2 never


def cdist(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Tensor:
    """The distances; Euclidean ones of many rows come from `(x - y)**2 = x**2 - 2xy + y**2`."""
    check_floating(x1, x2)
    mode = compute_mode or 0
    many = len(x1._shape) >= 2 <= len(x2._shape) and max(x1._shape[-2], x2._shape[-2]) > FEW
    multiplied = p == 2 and (mode == ALWAYS_BY_PRODUCT or (mode == 0 and many))
    if not multiplied or 0 in x1._shape or 0 in x2._shape:
        return row_by_row(x1, x2, p, compute_mode)
    check_cdist(x1, x2, p)
    batch = broadcast_shapes(x1._shape[:-2], x2._shape[:-2])
    count = prod(batch)
    if count != 1:
        x1, x2 = (x.expand((*batch, *x._shape[-2:])).reshape((count, *x._shape[-2:])) for x in (x1, x2))
    return by_product(x1, x2).view((*batch, x1._shape[-2], x2._shape[-2]))


def euclidean_dist(x1: Tensor, x2: Tensor) -> Tensor:
    """The distances, from one product: rows `-2x, x**2, 1` with columns `y, 1, y**2`."""
    squares, other_squares = (x.pow(2).sum(-1, keepdim=True) for x in (x1, x2))
    left = functions.cat([x1 * -2, squares, functions.ones_like(squares)], -1)
    right = functions.cat([x2, functions.ones_like(other_squares), other_squares], -1)
    return functions.matmul(left, right.mT).clamp_(min=0).sqrt_()
