"""How are matrices factorized on the CPU, and their factors unpacked and multiplied?

Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp, BatchLinearAlgebraKernel.cpp (apply_lu_factor, unpack_pivots,
    apply_ldl_factor, apply_geqrf, apply_orgqr, apply_cholesky_inverse)
Differs: SciPy calls LAPACK for one matrix after another.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentError, LinAlgError
from glasstorch.core.tensor_impl import Array
from glasstorch.core.warn_once import warn_once
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.linalg.batches import (
    INFO,
    Outputs,
    adjoint_of,
    each,
    identities,
    kind,
    lapack,
    refuse,
    with_space,
    written,
)
from glasstorch.kernels.cpu.linalg.inverses import NOT_INVERTED, factorised
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.linalg import factors as shapes
from glasstorch.operators.shapes.linalg.decompositions import check_lapack
from glasstorch.operators.shapes.linalg.decompositions import cholesky_ex as shapes_of_cholesky
from glasstorch.operators.shapes.linalg.decompositions import qr as shapes_of_qr

CPU = KernelTable("CPU")

# LU -------------------------------------------------------------------------------------------------------------


def lu_factor_ex(keys: int, A: Tensor, pivot: bool, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """Both triangular factors of each matrix, packed into one matrix."""
    results = shapes.lu_factor_ex(A, pivot, check_errors)
    check_factorable(A, pivot)
    found = factorised.run(A.array())
    if check_errors:
        reason = (
            "U[{at},{at}] is zero and using it on lu_solve would result in a division by zero. If you still want to "
            "perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
        )
        refuse(ArgumentError, "torch.linalg.lu_factor_ex", found[2], reason)
    return written(results, found, out, "linalg_lu_factor_ex")


def check_factorable(A: Tensor, pivot: bool) -> None:
    """Refuse what LAPACK does not factorize."""
    check_lapack(A, "lu_cpu")
    if not pivot:
        raise ArgumentError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def lu(keys: int, A: Tensor, pivot: bool, out: Outputs | None = None) -> Outputs:
    """`A = P @ L @ U`."""
    results = shapes.lu(A, pivot)
    check_factorable(A, pivot)
    both, pivots, _ = factorised.run(A.array())
    return written(results, (permutation_matrix(pivots, A._shape[-2], both.dtype), *triangles(both)), out, "linalg_lu")


def lu_unpack(
    keys: int, LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool, unpack_pivots: bool, out: Outputs | None = None
) -> Outputs:
    """The permutation and the triangular factors, unpacked from LAPACK's result."""
    results = shapes.lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots)
    both, pivots, permutation = LU_data.array(), LU_pivots.array(), None
    if unpack_pivots:
        check_pivots(pivots, both.shape[-2])
        permutation = permutation_matrix(pivots, both.shape[-2], both.dtype)
    return written(results, (permutation, *(triangles(both) if unpack_data else ((), ()))), out, "lu_unpack")


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


def ldl_factor_ex(keys: int, self: Tensor, hermitian: bool, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """A triangular factor with diagonal blocks; only the lower triangle is read."""
    results = shapes.ldl_factor_ex(self, hermitian, check_errors)
    check_lapack(self, "ldl_factor_kernel_cpu")
    array = self.array()
    routine = lapack("hetrf" if hermitian and self.dtype.is_complex else "sytrf", array)
    kinds = (kind(array), (array.shape[-1:], np.int32), INFO)
    factors, pivots, info = each(lambda matrix: routine(matrix, lower=1), array.shape[:-2], kinds, array)
    if check_errors:
        reason = (
            "The diagonal block at {at} is exactly singular, so that ldl_solve would divide by zero; ldl_factor_ex "
            "without check_errors gives the factors of such a matrix too."
        )
        refuse(ArgumentError, "torch.linalg.ldl_factor_ex", info, reason)
    return written(results, (np.tril(factors), pivots, info), out, "linalg_ldl_factor_ex")


# Cholesky -------------------------------------------------------------------------------------------------------

NOT_POSITIVE = (
    "The factorization could not be completed because the input is not positive-definite (the leading minor of order "
    "{at} is not positive-definite)."
)


def cholesky_ex(keys: int, self: Tensor, upper: bool, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """The lower factor L of `L @ L.mH`, or the upper factor."""
    results = shapes_of_cholesky(self, upper, check_errors)
    check_lapack(self, "cholesky_cpu")
    triangle, info = cholesky_factor.run(self.array(), upper)
    if check_errors:
        refuse(LinAlgError, "linalg.cholesky_ex", info, NOT_POSITIVE)
    return written(results, (triangle, info), out, "linalg_cholesky_ex")


@slot
def cholesky_factor(array: Array, upper: bool) -> tuple[Array, Array]:
    """The triangular factor of each matrix, and 0 or the order of the first minor that is not positive."""
    routine = lapack("potrf", array)
    triangle, info = each(
        lambda matrix: routine(matrix, lower=not upper, clean=True), array.shape[:-2], (kind(array), INFO), array
    )
    return triangle, first_nan(triangle, info)


def first_nan(triangle: Array, info: Array) -> Array:
    """The position of the first NaN on each diagonal (from 1), unless the decomposition stopped before it.

    NaN is not positive, but OpenBLAS continues past it.
    """
    missing = np.isnan(np.diagonal(triangle, axis1=-2, axis2=-1))
    if not missing.any():
        return info
    return np.where(missing.any(-1) & (info == 0), missing.argmax(-1) + 1, info).astype(np.int32)


def cholesky(keys: int, self: Tensor, upper: bool, out: Tensor | None = None) -> Tensor:
    """The triangular factor; a matrix that is not positive-definite is refused."""
    warn_once("torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future release.")
    result = shapes.cholesky(self, upper)
    check_lapack(self, "cholesky_cpu")
    triangle, info = cholesky_factor.run(self.array(), upper)
    refuse(LinAlgError, "cholesky", info, NOT_POSITIVE)
    return written(result, triangle, out)


def cholesky_inverse(keys: int, self: Tensor, upper: bool, out: Tensor | None = None) -> Tensor:
    """The inverse of `L @ L.mH`, computed from L alone."""
    result = shapes.cholesky_inverse(self, upper)
    check_lapack(self, "cholesky_inverse_out_cpu")
    half, info = half_of_inverse.run(self.array(), upper)
    refuse(LinAlgError, "cholesky_inverse", info, NOT_INVERTED)
    kept, strict = (np.triu(half), np.triu(half, 1)) if upper else (np.tril(half), np.tril(half, -1))
    return written(result, np.add(kept, adjoint_of(strict), out=kept), out)


@slot
def half_of_inverse(triangle: Array, upper: bool) -> tuple[Array, Array]:
    """One triangle of the inverse of `L @ L.mH`, or of `U.mH @ U`, and the position of a zero on the diagonal."""
    routine, batch = lapack("potri", triangle), triangle.shape[:-2]
    half, info = each(lambda matrix: routine(matrix, lower=not upper), batch, (kind(triangle), INFO), triangle)
    return half, info


# Householder reflections ----------------------------------------------------------------------------------------


def geqrf(keys: int, self: Tensor, out: Outputs | None = None) -> Outputs:
    """The QR decomposition in LAPACK's packed form."""
    results = shapes.geqrf(self)
    check_lapack(self, "geqrf_cpu")
    return written(results, packed.run(self.array()), out, "geqrf")


@slot
def packed(array: Array) -> tuple[Array, Array]:
    """The triangular factor R of each matrix, below it the vectors of the reflections; and the factors of these."""
    routine = with_space(lapack("geqrf", array))
    kinds = (kind(array), ((min(array.shape[-2:]),), array.dtype))
    both, factors = each(lambda matrix: routine(matrix)[:2], array.shape[:-2], kinds, array)
    return both, factors


def qr(keys: int, A: Tensor, mode: str, out: Outputs | None = None) -> Outputs:
    """The QR decomposition: an orthogonal and an upper triangular factor."""
    results = shapes_of_qr(A, mode)
    check_lapack(A, "geqrf_cpu")
    return written(results, decomposed.run(A.array(), mode), out, "linalg_qr")


@slot
def decomposed(array: Array, mode: str) -> tuple[Any, Array]:
    """Q, or None with mode "r", and R: the decomposition in packed form, unpacked."""
    both, factors = packed.plain(array)
    *batch, rows, columns = array.shape
    inner = rows if mode == "complete" else min(rows, columns)
    triangle = np.triu(both[..., :inner, :])
    if mode == "r":
        return None, triangle
    vectors = np.zeros((*batch, rows, inner), array.dtype)
    vectors[..., :columns] = both[..., :inner]
    return first_columns.plain(vectors, factors), triangle


def householder_product(keys: int, input: Tensor, tau: Tensor, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of the reflections."""
    result = shapes.householder_product(input, tau)
    check_lapack(input, "orgqr_cpu")
    return written(result, first_columns.run(input.array(), tau.array()), out)


@slot
def first_columns(vectors: Array, factors: Array) -> Array:
    """As many columns of the product of the reflections as there are vectors."""
    batch, (rows, columns) = vectors.shape[:-2], vectors.shape[-2:]
    if not factors.size:
        return identities(batch, rows, columns, vectors.dtype)
    routine = with_space(lapack("ungqr" if np.iscomplexobj(vectors) else "orgqr", vectors))
    (product,) = each(
        lambda vectors, factors: routine(vectors, factors[0])[:1],
        *(batch, (kind(vectors),), vectors, factors[..., None, :]),
    )
    return product


structured(CPU, "linalg_cholesky_ex", cholesky_ex)
structured(CPU, "linalg_qr", qr)
structured(CPU, "linalg_lu_factor_ex", lu_factor_ex)
structured(CPU, "linalg_lu", lu)
structured(CPU, "lu_unpack", lu_unpack)
structured(CPU, "linalg_ldl_factor_ex", ldl_factor_ex)
structured(CPU, "cholesky", cholesky)
structured(CPU, "cholesky_inverse", cholesky_inverse)
structured(CPU, "geqrf", geqrf)
structured(CPU, "linalg_householder_product", householder_product)
