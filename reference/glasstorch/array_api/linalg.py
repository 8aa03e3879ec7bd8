"""Which linear algebra functions are there?

Mirrors: nothing in torch; the standard's `linalg` extension
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from glasstorch.array_api._products import matmul as matmul
from glasstorch.array_api._products import matrix_transpose as matrix_transpose
from glasstorch.array_api._products import tensordot as tensordot
from glasstorch.array_api._products import vecdot as vecdot
from glasstorch.array_api._scalars import Array, Axis, axes, pair
from glasstorch.core.dtype import Number, dtype, int64
from glasstorch.core.geometry import broadcast_shapes
from glasstorch.operators.generated import functions as f

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


class EigResult(NamedTuple):
    """Complex eigenvalues in no particular order, eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class EighResult(NamedTuple):
    """Eigenvalues in ascending order, eigenvectors as columns."""

    eigenvalues: Array
    eigenvectors: Array


class QRResult(NamedTuple):
    """An orthogonal and an upper triangular matrix."""

    Q: Array
    R: Array


class SlogdetResult(NamedTuple):
    """The sign of a determinant and the logarithm of its absolute value."""

    sign: Array
    logabsdet: Array


class SVDResult(NamedTuple):
    """Left singular vectors, singular values in descending order, right singular vectors as rows."""

    U: Array
    S: Array
    Vh: Array


def cholesky(x: Array, /, *, upper: bool = False) -> Array:
    """The Cholesky factor: the triangular matrix whose product with its conjugate transpose is the input."""
    return f.linalg_cholesky(x, upper=upper)


def cross(x1: Array, x2: Array, /, *, axis: int = -1) -> Array:
    """The cross product along a dimension of size 3."""
    return f.linalg_cross(*f.broadcast_tensors(list(pair(x1, x2))), dim=axis)


def det(x: Array, /) -> Array:
    """The determinant of each matrix."""
    return f.linalg_det(x)


def diagonal(x: Array, /, *, offset: int = 0) -> Array:
    """A view of the diagonals of the last two dimensions."""
    return f.linalg_diagonal(x, offset=offset)


def eig(x: Array, /) -> EigResult:
    """Eigenvalues and eigenvectors of general square matrices; both are complex."""
    return EigResult(*f.linalg_eig(x))


def eigvals(x: Array, /) -> Array:
    """Eigenvalues of general square matrices; they are complex."""
    return f.linalg_eigvals(x)


def eigh(x: Array, /) -> EighResult:
    """Eigenvalues and eigenvectors of symmetric or Hermitian matrices."""
    return EighResult(*f.linalg_eigh(x))


def eigvalsh(x: Array, /) -> Array:
    """Eigenvalues of symmetric or Hermitian matrices, in ascending order."""
    return f.linalg_eigvalsh(x)


def inv(x: Array, /) -> Array:
    """The inverse of each matrix."""
    return f.linalg_inv(x)


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: float | Literal["fro", "nuc"] | None = "fro") -> Array:
    """A norm of each matrix, by default the Frobenius norm."""
    return f.linalg_matrix_norm(x, "fro" if ord is None else ord, keepdim=keepdims)


def matrix_power(x: Array, n: int, /) -> Array:
    """Each matrix to an integer power; a negative one is a power of the inverse."""
    return f.linalg_matrix_power(x, n)


def matrix_rank(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """The number of singular values above the tolerance, which is relative to the largest."""
    return f.linalg_matrix_rank(x, rtol=rtol)


def outer(x1: Array, x2: Array, /) -> Array:
    """The outer product of two vectors."""
    return f.outer(*pair(x1, x2))


def pinv(x: Array, /, *, rtol: float | Array | None = None) -> Array:
    """The pseudo-inverse; singular values up to the tolerance count as 0."""
    return f.linalg_pinv(x, rtol=rtol)


def qr(x: Array, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """The QR factorisation of each matrix."""
    return QRResult(*f.linalg_qr(x, mode))


def slogdet(x: Array, /) -> SlogdetResult:
    """Sign and logarithm of the determinant."""
    return SlogdetResult(*f.linalg_slogdet(x))


def solve(x1: Array, x2: Array, /) -> Array:
    """The solution of `x1 @ solution = x2`; a 1-dim x2 is the right-hand side of all matrices."""
    left, right = pair(x1, x2)
    if right.ndim == 1:
        return f.linalg_solve(left, right.unsqueeze(-1)).squeeze(-1)
    batch = broadcast_shapes(left.shape[:-2], right.shape[:-2])
    return f.linalg_solve(left.expand([*batch, *left.shape[-2:]]), right.expand([*batch, *right.shape[-2:]]))


def svd(x: Array, /, *, full_matrices: bool = True) -> SVDResult:
    """The singular value decomposition of each matrix."""
    return SVDResult(*f.linalg_svd(x, full_matrices))


def svdvals(x: Array, /) -> Array:
    """Singular values in descending order."""
    return f.linalg_svdvals(x)


def trace(x: Array, /, *, offset: int = 0, dtype: dtype | None = None) -> Array:
    """The sum of each diagonal; integers are added as int64."""
    if dtype is None and not (x.dtype.is_floating_point or x.dtype.is_complex):
        dtype = int64
    return f.sum(diagonal(x, offset=offset), [-1], dtype=dtype)


def vector_norm(x: Array, /, *, axis: Axis = None, keepdims: bool = False, ord: Number = 2) -> Array:
    """The vector norm over dimensions."""
    dims = axes(axis, x.ndim)
    return f.linalg_vector_norm(x, ord, dims, keepdims) if dims else f.abs(x)
