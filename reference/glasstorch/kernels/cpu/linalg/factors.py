"""How are matrices factorized on the CPU, and their factors unpacked and multiplied?

Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp, BatchLinearAlgebraKernel.cpp (apply_lu_factor, unpack_pivots,
    apply_ldl_factor, apply_geqrf, apply_orgqr, apply_cholesky_inverse)
Differs: SciPy calls LAPACK for one matrix after another; the QR decomposition is NumPy's.
"""

from __future__ import annotations

from math import prod
from typing import Any, Literal

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentError, LinAlgError
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.linalg.batches import INFO, adjoint_of, each, kernel, kind, lapack, refuse, spaced
from glasstorch.kernels.cpu.linalg.inverses import NOT_INVERTED, factorised
from glasstorch.kernels.quiet import quietly

Mode = Literal["reduced", "complete", "r"]

# LU -------------------------------------------------------------------------------------------------------------


@kernel("linalg_lu_factor_ex", "lu_cpu")
def lu_factor_ex(A: Tensor, pivot: bool, check_errors: bool) -> tuple[Array, ...]:
    """Both triangular factors of each matrix, packed into one matrix."""
    check_pivoted(pivot)
    found = factorised.run(A.array())
    if check_errors:
        reason = (
            "U[{at},{at}] is zero and using it on lu_solve would result in a division by zero. If you still want to "
            "perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        )
        refuse(ArgumentError, "torch.linalg.lu_factor_ex", found[2], reason)
    return found


def check_pivoted(pivot: bool) -> None:
    """Refuse what LAPACK does not do."""
    if not pivot:
        raise ArgumentError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


@kernel("linalg_lu", "lu_cpu")
def lu(A: Tensor, pivot: bool) -> tuple[Array, ...]:
    """`A = P @ L @ U`."""
    check_pivoted(pivot)
    both, pivots, _ = factorised.run(A.array())
    return permutation_matrix(pivots, A._shape[-2], both.dtype), *triangles(both)


@kernel("lu_unpack")
def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool, unpack_pivots: bool) -> tuple[Array | None, ...]:
    """The permutation and the triangular factors, unpacked from LAPACK's result."""
    both, pivots, permutation = LU_data.array(), LU_pivots.array(), None
    if unpack_pivots:
        check_pivots(pivots, both.shape[-2])
        permutation = permutation_matrix(pivots, both.shape[-2], both.dtype)
    return permutation, *(triangles(both) if unpack_data else (None, None))


def check_pivots(pivots: Array, rows: int) -> None:
    """Refuse pivots that are not row numbers."""
    if pivots.size and (pivots.min() < 1 or pivots.max() > rows):
        raise ArgumentError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
            "Did you properly pass the result of lu_factor?"
        )


def permutation_matrix(pivots: Array, rows: int, dtype: Any) -> Array:
    """The row exchanges as permutation matrices."""
    return np.eye(rows, dtype=dtype)[order_of_rows(pivots, rows)].swapaxes(-1, -2)


def order_of_rows(pivots: Array, rows: int) -> Array:
    """The row permutation (from 0) that the exchanges amount to."""
    flat = pivots.reshape(prod(pivots.shape[:-1]), pivots.shape[-1]).astype(np.int64) - 1
    every = np.arange(len(flat))
    order: Array = np.tile(np.arange(rows), (len(flat), 1))
    for row in range(flat.shape[-1]):
        other = flat[:, row]
        order[every, row], order[every, other] = order[every, other], order[every, row].copy()
    return order.reshape(*pivots.shape[:-1], rows)


def triangles(both: Array) -> tuple[Array, Array]:
    """The unit lower triangle and the upper triangle."""
    inner = min(both.shape[-2:])
    lower, upper = np.tril(both[..., :inner], -1), np.triu(both[..., :inner, :])
    lower[..., np.arange(inner), np.arange(inner)] = 1
    return lower, upper


# LDL ------------------------------------------------------------------------------------------------------------


@kernel("linalg_ldl_factor_ex", "ldl_factor_kernel_cpu")
def ldl_factor_ex(self: Tensor, hermitian: bool, check_errors: bool) -> tuple[Array, ...]:
    """A triangular factor with diagonal blocks; only the lower triangle is read."""
    array = self.array()
    routine = lapack("hetrf" if hermitian and self.dtype.is_complex else "sytrf", array.dtype)
    kinds = (kind(array), (array.shape[-1:], np.int32), INFO)
    factors, pivots, info = each.run(routine, kinds, array, lower=1)
    if check_errors:
        reason = (
            "The diagonal block at {at} is exactly singular, so that ldl_solve would divide by zero; ldl_factor_ex "
            "without check_errors gives the factors of such a matrix too."
        )
        refuse(ArgumentError, "torch.linalg.ldl_factor_ex", info, reason)
    return np.tril(factors), pivots, info


# Cholesky -------------------------------------------------------------------------------------------------------

NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor of order "
    "{at} is not positive-definite)."
)


@kernel("linalg_cholesky_ex", "cholesky_cpu")
def cholesky_ex(self: Tensor, upper: bool, check_errors: bool) -> tuple[Array, Array]:
    """The lower factor L of `L @ L.mH`, or the upper factor."""
    triangle, info = cholesky_factor.run(self.array(), upper)
    if check_errors:
        refuse(LinAlgError, "linalg.cholesky_ex", info, NOT_POSITIVE)
    return triangle, info


@slot
def cholesky_factor(array: Array, upper: bool) -> tuple[Array, Array]:
    """The triangular factor of each matrix, and 0 or the order of the first minor that is not positive."""
    kinds = (kind(array), INFO)
    found, info = each.run(lapack("potrf", array.dtype), kinds, array, lower=not upper, clean=True)
    return found, first_nan(found, info)


def first_nan(triangle: Array, info: Array) -> Array:
    """The position of the first NaN on each diagonal (from 1), unless the decomposition stopped before it.

    NaN is not positive, but OpenBLAS continues past it.
    """
    missing = np.isnan(np.diagonal(triangle, axis1=-2, axis2=-1))
    if not missing.any():
        return info
    return np.where(missing.any(-1) & (info == 0), missing.argmax(-1) + 1, info).astype(np.int32)


@kernel(
    "cholesky",
    "cholesky_cpu",
    "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future release.",
)
def cholesky(self: Tensor, upper: bool) -> Array:
    """The triangular factor; a matrix that is not positive-definite is refused."""
    triangle, info = cholesky_factor.run(self.array(), upper)
    refuse(LinAlgError, "cholesky", info, NOT_POSITIVE)
    return triangle


@kernel("cholesky_inverse", "cholesky_inverse_out_cpu")
def cholesky_inverse(self: Tensor, upper: bool) -> Array:
    """The inverse of `L @ L.mH`, computed from L alone."""
    half, info = half_of_inverse.run(self.array(), upper)
    refuse(LinAlgError, "cholesky_inverse", info, NOT_INVERTED)
    kept, strict = (np.triu(half), np.triu(half, 1)) if upper else (np.tril(half), np.tril(half, -1))
    return np.add(kept, adjoint_of(strict), out=kept)


@slot
def half_of_inverse(triangle: Array, upper: bool) -> tuple[Array, ...]:
    """One triangle of the inverse of `L @ L.mH`, or of `U.mH @ U`, and the position of a zero on the diagonal."""
    return each.run(lapack("potri", triangle.dtype), (kind(triangle), INFO), triangle, lower=not upper)


# Householder reflections ----------------------------------------------------------------------------------------


@kernel("geqrf", "geqrf_cpu")
def geqrf(self: Tensor) -> tuple[Array, ...]:
    """The QR decomposition in LAPACK's packed form."""
    return packed.run(self.array())


@slot
def packed(array: Array) -> tuple[Array, ...]:
    """The triangular factor R of each matrix, below it the vectors of the reflections; and the factors of these."""
    turned, factors = quietly(np.linalg.qr, array, "raw")
    return turned.swapaxes(-1, -2), factors


@kernel("linalg_qr", "geqrf_cpu")
def qr(A: Tensor, mode: Mode) -> tuple[Array | None, Array]:
    """The QR decomposition: an orthogonal and an upper triangular factor."""
    return decomposed.run(A.array(), mode)


@slot
def decomposed(array: Array, mode: Mode) -> tuple[Array | None, Array]:
    """Q, or None with mode "r", and R."""
    if mode == "r":
        return None, np.asarray(quietly(np.linalg.qr, array, "r"))
    orthogonal, triangle = quietly(np.linalg.qr, array, mode)
    return orthogonal, triangle


@kernel("linalg_householder_product", "orgqr_cpu")
def householder_product(input: Tensor, tau: Tensor) -> Array:
    """The first columns of the product of the reflections."""
    return first_columns.run(input.array(), tau.array())


@slot
def first_columns(vectors: Array, factors: Array) -> Array:
    """As many columns of the product of the reflections as there are vectors."""
    if not factors.size:
        return np.broadcast_to(np.eye(*vectors.shape[-2:], dtype=vectors.dtype), vectors.shape)
    scales = factors[..., None, :]
    routine = spaced(lapack("orgqr", vectors.dtype), vectors, scales)
    return each.run(routine, (kind(vectors),), vectors, scales)[0]
