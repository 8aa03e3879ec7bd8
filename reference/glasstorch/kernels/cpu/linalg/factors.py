"""How are matrices factorized on the CPU, and their factors unpacked and multiplied?

Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp, BatchLinearAlgebraKernel.cpp (apply_lu_factor, unpack_pivots,
    apply_ldl_factor, apply_geqrf, apply_orgqr, apply_cholesky_inverse)
Differs: SciPy calls LAPACK for one matrix after another; NumPy decomposes many small matrices together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentError, LinAlgError
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.core.warn_once import warn_once
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.linalg.inverses import (
    Outputs,
    are_many,
    factorised,
    first_failure,
    lapack,
    many_small,
    order_of_rows,
    outputs,
    substituted,
    write,
)
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.linalg import factors as shapes
from glasstorch.operators.shapes.linalg.decompositions import check_lapack
from glasstorch.operators.shapes.linalg.decompositions import cholesky_ex as shapes_of_cholesky
from glasstorch.operators.shapes.linalg.decompositions import qr as shapes_of_qr

CPU = KernelTable("CPU")


def space_for(routine: Callable[..., Any], *arguments: Any) -> int:
    """The workspace size that a LAPACK routine asks for; it is the same for all matrices of one size."""
    return int(routine(*arguments, lwork=-1)[-2].flat[0].real)


def one_of(batch: Array, dims: int = 2) -> Array:
    """The first matrix (or vector, with `dims` 1) of a non-empty batch."""
    first: Array = batch[(0,) * (batch.ndim - dims)]
    return first


# LU -------------------------------------------------------------------------------------------------------------


def lu_factor_ex(keys: int, A: Tensor, pivot: bool, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """Both triangular factors of each matrix, packed into one matrix."""
    made = outputs(shapes.lu_factor_ex(A, pivot, check_errors), out)
    check_factorable(A, pivot)
    lu, pivots, info = quietly(factorised, A.array())
    if check_errors:
        refuse_zero_pivot("torch.linalg.lu_factor_ex", info)
    write(made, (lu, pivots, info))
    return named_result("linalg_lu_factor_ex", made)


def check_factorable(A: Tensor, pivot: bool) -> None:
    """Refuse what LAPACK does not factorize."""
    check_lapack(A, "lu_cpu")
    if not pivot:
        raise ArgumentError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def refuse_zero_pivot(name: str, info: Array) -> None:
    """Refuse factors with a zero pivot, which cannot be solved with."""
    if info.any():
        batch, at = first_failure(info)
        raise ArgumentError(
            f"{name}: {batch}U[{at},{at}] is zero and using it on lu_solve would result in a division by zero. If you "
            f"still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
            f"linalg.lu_factor_ex(A, pivot)"
        )


def lu(keys: int, A: Tensor, pivot: bool, out: Outputs | None = None) -> Outputs:
    """`A = P @ L @ U`."""
    made = outputs(shapes.lu(A, pivot), out)
    check_factorable(A, pivot)
    both, pivots, _ = quietly(factorised, A.array())
    write(made, (permutation_matrix(pivots, A._shape[-2], both.dtype), *triangles(both)))
    return named_result("linalg_lu", made)


def lu_unpack(
    keys: int, LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool, unpack_pivots: bool, out: Outputs | None = None
) -> Outputs:
    """The permutation and the triangular factors, unpacked from LAPACK's result."""
    made = outputs(shapes.lu_unpack(LU_data, LU_pivots, unpack_data, unpack_pivots), out)
    both = LU_data.array()
    if unpack_pivots:
        pivots = LU_pivots.array()
        check_pivots(pivots, both.shape[-2])
        made[0].array()[...] = permutation_matrix(pivots, both.shape[-2], both.dtype)
    if unpack_data:
        write(made[1:], triangles(both))
    return named_result("lu_unpack", made)


def check_pivots(pivots: Array, rows: int) -> None:
    """Refuse pivots that are not row numbers."""
    if pivots.size and (pivots.min() < 1 or pivots.max() > rows):
        raise ArgumentError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
            "Did you properly pass the result of lu_factor?"
        )


def permutation_matrix(pivots: Array, rows: int, dtype: Any) -> Array:
    """The row exchanges as permutation matrices, for the whole batch at once."""
    order = order_of_rows(pivots, rows)
    matrix: Array = np.zeros((*order.shape, rows), dtype)
    np.put_along_axis(matrix, order[..., None, :], 1, -2)
    return matrix


def triangles(both: Array) -> tuple[Array, Array]:
    """The unit lower triangle and the upper triangle."""
    inner = min(both.shape[-2:])
    lower, upper = np.tril(both[..., :inner], -1), np.triu(both[..., :inner, :])
    lower[..., np.arange(inner), np.arange(inner)] = 1
    return lower, upper


# LDL ------------------------------------------------------------------------------------------------------------


def ldl_factor_ex(keys: int, self: Tensor, hermitian: bool, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """A triangular factor with diagonal blocks; only the lower triangle is read."""
    made = outputs(shapes.ldl_factor_ex(self, hermitian, check_errors), out)
    check_lapack(self, "ldl_factor_kernel_cpu")
    array = self.array()
    factors, pivots = np.empty(array.shape, array.dtype), np.empty(array.shape[:-1], np.int32)
    info = np.zeros(array.shape[:-2], np.int32)
    if array.size:
        routine = lapack("hetrf" if hermitian and self.dtype.is_complex else "sytrf", array)
        for index in np.ndindex(*array.shape[:-2]):
            factors[index], pivots[index], info[index] = routine(array[index], lower=1)
    if check_errors and info.any():
        batch, at = first_failure(info)
        raise ArgumentError(
            f"torch.linalg.ldl_factor_ex: {batch}The diagonal block at {at} is exactly singular, so that ldl_solve "
            f"would divide by zero; ldl_factor_ex without check_errors gives the factors of such a matrix too."
        )
    write(made, (np.tril(factors), pivots, info))
    return named_result("linalg_ldl_factor_ex", made)


# Cholesky -------------------------------------------------------------------------------------------------------


def cholesky_ex(keys: int, self: Tensor, upper: bool, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """The lower factor L of `L @ L.mH`, or the upper factor."""
    made = outputs(shapes_of_cholesky(self, upper, check_errors), out)
    check_lapack(self, "cholesky_cpu")
    triangle, info = cholesky_factor(self.array(), upper)
    if check_errors:
        refuse_not_positive("linalg.cholesky_ex", info)
    write(made, (triangle, info))
    return named_result("linalg_cholesky_ex", made)


def cholesky_factor(array: Array, upper: bool) -> tuple[Array, Array]:
    """The triangular factor of each matrix, and 0 or the order of the first minor that is not positive.

    NaN is not positive. NumPy and OpenBLAS continue past it, so that it appears on the factor's diagonal.
    """
    info = np.zeros(array.shape[:-2], np.int32)
    if many_small(array) or not array.size:
        try:
            triangle = quietly(np.linalg.cholesky, array, upper=upper)
        except np.linalg.LinAlgError:
            pass  # one matrix has no factor: LAPACK says which, and factorizes the others
        else:
            return triangle, first_nan(triangle, info)
    triangle = np.empty(array.shape, array.dtype)
    routine = lapack("potrf", array)
    for index in np.ndindex(*array.shape[:-2]):
        triangle[index], info[index] = routine(array[index], lower=not upper, clean=True)
    return triangle, first_nan(triangle, info)


def first_nan(triangle: Array, info: Array) -> Array:
    """The position of the first NaN on each diagonal (from 1), unless the decomposition stopped before it."""
    missing = np.isnan(np.diagonal(triangle, axis1=-2, axis2=-1))
    if not missing.any():
        return info
    return np.where(missing.any(-1) & (info == 0), missing.argmax(-1) + 1, info).astype(np.int32)


def refuse_not_positive(name: str, info: Array) -> None:
    """Refuse matrices that are not positive-definite."""
    if info.any():
        batch, order = first_failure(info)
        raise LinAlgError(
            f"{name}: {batch}The factorization could not be completed because the input is not positive-definite (the "
            f"leading minor of order {order} is not positive-definite)."
        )


def cholesky(keys: int, self: Tensor, upper: bool, out: Tensor | None = None) -> Tensor:
    """The triangular factor; a matrix that is not positive-definite is refused."""
    warn_once("torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future release.")
    result = shapes.cholesky(self, upper)
    check_lapack(self, "cholesky_cpu")
    triangle, info = cholesky_factor(self.array(), upper)
    refuse_not_positive("cholesky", info)
    made = allocate_output(result) if out is None else out
    made.array()[...] = triangle
    return made


def cholesky_inverse(keys: int, self: Tensor, upper: bool, out: Tensor | None = None) -> Tensor:
    """The inverse of `L @ L.mH`, computed from L alone."""
    result = shapes.cholesky_inverse(self, upper)
    check_lapack(self, "cholesky_inverse_out_cpu")
    array = self.array()
    half, info = np.empty(array.shape, array.dtype), np.zeros(array.shape[:-2], np.int32)
    if are_many(array.shape[:-2], array.shape[-1]):
        zero = np.diagonal(array, axis1=-2, axis2=-1) == 0
        info[...] = np.where(zero.any(-1), zero.argmax(-1) + 1, 0)
        half = quietly(inverse_of_product, array, upper)
    elif array.size:
        routine = lapack("potri", array)
        for index in np.ndindex(*array.shape[:-2]):
            half[index], info[index] = routine(array[index], lower=not upper)
    if info.any():
        batch, at = first_failure(info)
        raise LinAlgError(
            f"cholesky_inverse: {batch}The diagonal element {at} is zero, the inversion could not be completed because "
            f"the input matrix is singular."
        )
    made = allocate_output(result) if out is None else out
    strict = np.triu(half, 1) if upper else np.tril(half, -1)
    kept = np.triu(half) if upper else np.tril(half)
    np.add(kept, strict.conj().swapaxes(-1, -2), out=kept)
    made.array()[...] = kept
    return made


def inverse_of_product(triangle: Array, upper: bool) -> Array:
    """The inverses of `L @ L.mH`, or of `U.mH @ U`: products of the inverted factors.

    As in LAPACK, the diagonals are taken to be real.
    """
    size = triangle.shape[-1]
    inverted = substituted(triangle, np.eye(size, dtype=triangle.dtype), triangle.shape[:-2], upper, False)
    diagonal = np.einsum("...ii->...i", inverted)  # a view
    diagonal[...] = diagonal.real
    adjoint = inverted.conj().swapaxes(-1, -2)
    product: Array = inverted @ adjoint if upper else adjoint @ inverted
    return product


# Householder reflections ----------------------------------------------------------------------------------------


def geqrf(keys: int, self: Tensor, out: Outputs | None = None) -> Outputs:
    """The QR decomposition in LAPACK's packed form."""
    made = outputs(shapes.geqrf(self), out)
    check_lapack(self, "geqrf_cpu")
    array = self.array()
    factored: Array = np.empty(array.shape, array.dtype)
    tau: Array = np.empty(made[1]._shape, array.dtype)
    if many_small(array):
        turned, tau = quietly(np.linalg.qr, array, "raw")
        factored = turned.swapaxes(-1, -2)
    elif array.size:
        routine = lapack("geqrf", array)
        space = space_for(routine, one_of(array))
        for index in np.ndindex(*array.shape[:-2]):
            factored[index], tau[index], _, _ = routine(array[index], lwork=space)
    write(made, (factored, tau))
    return named_result("geqrf", made)


def qr(keys: int, A: Tensor, mode: str, out: Outputs | None = None) -> Outputs:
    """The QR decomposition: an orthogonal and an upper triangular factor."""
    made = outputs(shapes_of_qr(A, mode), out)
    check_lapack(A, "geqrf_cpu")
    array = A.array()
    if many_small(array) or not array.size:
        if mode == "r":
            write(made[1:], (quietly(np.linalg.qr, array, "r"),))
        else:
            write(made, tuple(quietly(np.linalg.qr, array, "complete" if mode == "complete" else "reduced")))
        return named_result("linalg_qr", made)
    orthogonal, triangle = made[0].array(), made[1].array()
    rows, inner = array.shape[-2], triangle.shape[-2]
    factor, multiply = lapack("geqrf", array), lapack("ungqr" if A.dtype.is_complex else "orgqr", array)
    space = space_for(factor, one_of(array))
    for index in np.ndindex(*array.shape[:-2]):
        both, tau, _, _ = factor(array[index], lwork=space)
        triangle[index] = np.triu(both[:inner])
        if mode == "r":
            continue
        vectors = both[:, :inner]
        if inner > both.shape[1]:
            vectors = np.zeros((rows, inner), array.dtype)
            vectors[:, : both.shape[1]] = both
        orthogonal[index] = multiply(vectors, tau, lwork=space_for(multiply, vectors, tau))[0]
    return named_result("linalg_qr", made)


def householder_product(keys: int, input: Tensor, tau: Tensor, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of the reflections."""
    result = shapes.householder_product(input, tau)
    check_lapack(input, "orgqr_cpu")
    array, factors = input.array(), tau.array()
    product = np.empty(array.shape, array.dtype)
    if not factors.size:
        product[...] = np.eye(*array.shape[-2:])
    elif many_small(array):
        identity = np.broadcast_to(np.eye(*array.shape[-2:], dtype=array.dtype), array.shape)
        product = quietly(reflected, array, factors, identity, False)
    else:
        routine = lapack("ungqr" if input.dtype.is_complex else "orgqr", array)
        space = space_for(routine, one_of(array), one_of(factors, 1))
        for index in np.ndindex(*array.shape[:-2]):
            product[index] = routine(array[index], factors[index], lwork=space)[0]
    made = allocate_output(result) if out is None else out
    made.array()[...] = product
    return made


def reflected(vectors: Array, factors: Array, other: Array, adjoint: bool) -> Array:
    """The product of the reflections, or its adjoint, times each matrix of a batch, one reflection at a time."""
    below, scales, result = (
        np.moveaxis(part.reshape(-1, *part.shape[other.ndim - 2 :]), 0, -1).copy() for part in (vectors, factors, other)
    )  # the batch is last, which gives NumPy long loops
    if adjoint:
        scales = scales.conj()
    for k in range(len(scales)) if adjoint else reversed(range(len(scales))):
        vector = below[k + 1 :, k, None]  # its leading 1 is not stored
        along = (result[k] + (vector.conj() * result[k + 1 :]).sum(0)) * scales[k]
        result[k] -= along
        result[k + 1 :] -= vector * along
    return np.moveaxis(result, -1, 0).reshape(other.shape)


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
