"""How do distances between many rows become one matrix product?

Mirrors: aten/src/ATen/native/Distance.cpp (cdist, cdist_impl, _euclidean_dist, pdist, pairwise_distance,
    cosine_similarity)
Differs: the distances of pairs are picked from those of all rows with all, twice the work of PyTorch's kernel.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from glasstorch.core.dtype import float32, float64
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.operators.direct import on_tensor, on_tensors
from glasstorch.operators.generated import functions
from glasstorch.operators.shapes.distances import check_cdist, check_floating
from glasstorch.operators.shapes.promotion import result_type

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

row_by_row = on_tensors("_cdist_forward")
by_product = on_tensors("_euclidean_dist")
pull_row_by_row = on_tensors("_cdist_backward")
pairs_forward = on_tensor("_pdist_forward")
FEW = 25  # rows, up to which the matrix product is not worth its rounding errors
ALWAYS_BY_PRODUCT = 1  # the modes; mode 0 uses the product for many rows, mode 2 never


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


def pdist(self: Tensor, p: float) -> Tensor:
    """The distances between all pairs of rows."""
    if len(self._shape) != 2:
        raise ShapeError(f"pdist only supports 2D tensors, got: {len(self._shape)}D")
    if not self.dtype.is_floating_point:
        raise DtypeError(f"pdist only supports floating-point dtypes, got: {self.dtype.scalar_name}")
    if not p >= 0:
        raise ArgumentError("pdist only supports non-negative p values")
    return pairs_forward(self.contiguous(), p)


def pdist_forward(self: Tensor, p: float) -> Tensor:
    """The upper triangle, row by row, of the distances between all rows."""
    rows = self._shape[0]
    if rows <= 1:
        return functions.empty((0,), dtype=self.dtype, device=self.device)
    if self.dtype not in (float32, float64):
        raise not_implemented_for("pdist", self.dtype)
    return row_by_row(self, self, p, None)[_pairs(rows, self)]


def pdist_backward(grad: Tensor, self: Tensor, p: float, pdist: Tensor) -> Tensor:
    """The gradient of the rows; each distance counts on both sides of the diagonal."""
    rows = self._shape[0]
    if rows <= 1 or not self._shape[1]:
        return functions.zeros_like(self)
    both = []
    for tensor in (grad, pdist):
        square = tensor.new_zeros((rows, rows))
        square[_pairs(rows, self)] = tensor
        both.append(square + square.T)
    return pull_row_by_row(both[0], self, self, p, both[1])


def _pairs(rows: int, like: Tensor) -> tuple[Tensor, ...]:
    """The indices of the upper triangle, without the diagonal."""
    return functions.triu_indices(rows, rows, 1, device=like.device).unbind()


def pairwise_distance(x1: Tensor, x2: Tensor, p: float, eps: float, keepdim: bool) -> Tensor:
    """The p-norm of `x1 - x2 + eps` along the last dimension; `eps` keeps the gradient finite where both are equal."""
    last = max(len(x1._shape), len(x2._shape)) - 1
    return functions.norm(x1 - x2 + eps, p, last, keepdim)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int, eps: float) -> Tensor:
    """The dot product of vectors that were divided by their lengths first, so that it is at most 1.

    No vector counts as shorter than `eps`; the gradient is that of its true length.
    """
    common = result_type(x1, x2)
    if not common.is_floating_point:
        raise DtypeError(f"expected common dtype to be floating point, yet common dtype is {common.scalar_name}")
    x1, x2 = functions.broadcast_tensors([x if x.dtype.is_floating_point else x.to(common) for x in (x1, x2)])
    return (_of_length_1(x1, dim, eps) * _of_length_1(x2, dim, eps)).sum(dim)


def _of_length_1(x: Tensor, dim: int, eps: float) -> Tensor:
    length = functions.linalg_vector_norm(x, 2, dim, True).clone()
    length.detach().clamp_min_(eps)
    return x / length
