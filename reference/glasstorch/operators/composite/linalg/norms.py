"""Which norms, condition numbers and determinants are composed of other operators?

Mirrors: aten/src/ATen/native/LinearAlgebra.cpp (linalg_norm, linalg_cond, logdet, pinverse, frobenius_norm,
    nuclear_norm)
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan
from typing import TYPE_CHECKING, Any

from glasstorch.core.dtype import Number, dtype
from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.core.warn_once import warn_once
from glasstorch.operators.composite.linalg.decompositions import matrix_norm, matrix_norm_named, pinv_rcond, svdvals
from glasstorch.operators.direct import on_tensor
from glasstorch.operators.generated import functions
from glasstorch.operators.shapes.linalg.decompositions import check_floating, check_square

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

norm_of_vector = on_tensor("linalg_vector_norm")
inv_ex = on_tensor("linalg_inv_ex")


def norm(self: Tensor, ord: Number | None, dim: Sequence[int] | None, keepdim: bool, dtype: dtype | None) -> Tensor:
    """A vector norm over one dimension, a matrix norm over two; without an order, the norm of all elements."""
    check_dims(self, ord, dim)
    of_matrix = len(dim) == 2 if dim is not None else self.dim() == 2
    if ord is not None and of_matrix:
        return matrix_norm(self, ord, [-2, -1] if dim is None else dim, keepdim, dtype)
    return norm_of_vector(self, 2 if ord is None else ord, dim, keepdim, dtype)


def norm_named(self: Tensor, ord: str, dim: Sequence[int] | None, keepdim: bool, dtype: dtype | None) -> Tensor:
    """The matrix norm named 'fro' or 'nuc'."""
    check_dims(self, ord, dim)
    return matrix_norm_named(self, ord, [-2, -1] if dim is None else dim, keepdim, dtype)


def frobenius_norm(self: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    """The root of the sum of squares over at most two dimensions; without dimensions, over all elements."""
    warn_once(
        "at::frobenius_norm is deprecated and it is just left for JIT compatibility. It will be removed in a future "
        "PyTorch release. Please use `linalg.vector_norm(A, 2., dim, keepdim)` instead"
    )
    if len(dim) > 2:
        raise ShapeError(f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead.")
    return norm_of_vector(self, 2.0, dim, keepdim, None)


def nuclear_norm(self: Tensor, keepdim: bool) -> Tensor:
    """The sum of the singular values of matrices in the last two dimensions."""
    return nuclear_norm_over(self, [-2, -1], keepdim)


def nuclear_norm_over(self: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    """The sum of the singular values of matrices in two dimensions."""
    warn_once(
        "at::nuclear_norm is deprecated and it is just left for JIT compatibility. It will be removed in a future "
        "PyTorch release. Please use `linalg.matrix_norm(A, 'nuc', dim, keepdim)` instead"
    )
    return matrix_norm_named(self, "nuc", dim, keepdim, None)


def check_dims(self: Tensor, ord: Number | str | None, dim: Sequence[int] | None) -> None:
    """Refuse dimensions that make neither a vector norm nor a matrix norm."""
    if dim is not None and len(dim) not in (1, 2):
        raise ArgumentError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dim)}")
    if dim is None and ord is not None and self.dim() not in (1, 2):
        raise ShapeError(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {self.dim()}D."
        )


def cond(self: Tensor, p: Number | None) -> Tensor:
    """The condition number: a norm of the matrix times that of its inverse."""
    order = 2 if p is None else p
    check_condition(self)
    if abs(order) not in (1, 2, inf):
        raise ArgumentError(f"linalg.cond got an invalid norm type: {p}")
    if not self.numel():
        return nothing_to_amplify(self)
    if abs(order) == 2:
        values = svdvals(self, None)  # in descending order
        largest, smallest = values.narrow(-1, 0, 1), values.narrow(-1, -1, 1)
        return (largest / smallest if order == 2 else smallest / largest).squeeze(-1)  # type: ignore[no-any-return]
    return by_inverse(self, order, matrix_norm)


def cond_named(self: Tensor, p: str) -> Tensor:
    """The condition number in the norm named 'fro' or 'nuc'."""
    check_condition(self)
    if p not in ("fro", "nuc"):
        raise ArgumentError(f"linalg.cond got an invalid norm type: {p}")
    check_square(self, f"linalg.cond(ord={p})")
    if not self.numel():
        return nothing_to_amplify(self)
    if p == "nuc":
        values = svdvals(self, None)
        return values.sum(-1) * values.reciprocal().sum(-1)  # type: ignore[no-any-return]
    return by_inverse(self, p, matrix_norm_named)


def check_condition(self: Tensor) -> None:
    """Refuse tensors of fewer than two dimensions."""
    if self.dim() < 2:
        raise ShapeError("linalg.cond: The input tensor must have at least 2 dimensions.")


def nothing_to_amplify(self: Tensor) -> Tensor:
    """Zeros: the condition numbers of empty matrices."""
    return functions.zeros(self._shape[:-2], dtype=self.dtype.to_real(), device=self.device)


def by_inverse(self: Tensor, order: Any, of_matrix: Any) -> Tensor:
    """The norm of the matrix times that of its inverse; infinite for a singular matrix."""
    check_square(self, f"linalg.cond(ord={order})")
    check_floating(self, "linalg.cond")
    inverse, info = inv_ex(self, False)
    inverse = inverse.masked_fill((info > 0).unsqueeze(-1).unsqueeze(-1), inf)
    product = of_matrix(self, order, [-2, -1], False, None) * of_matrix(inverse, order, [-2, -1], False, None)
    return functions.nan_to_num(product, inf, inf, -inf)


def logdet(self: Tensor) -> Tensor:
    """The logarithm of the determinant; NaN if that is negative."""
    check_square(self, "logdet")
    check_floating(self, "logdet")
    sign, logarithm = functions.linalg_slogdet(self)
    if self.dtype.is_complex:
        return sign.log() + logarithm  # type: ignore[no-any-return]
    return functions.where(sign == -1, nan, logarithm)


def pinverse(self: Tensor, rcond: float) -> Tensor:
    """`linalg.pinv` with a relative tolerance."""
    return pinv_rcond(self, rcond, False)
