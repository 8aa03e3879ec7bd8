"""How are matrices factored on the CPU, and what is made of the factors?

Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp, BatchLinearAlgebraKernel.cpp (apply_lu_factor, unpack_pivots,
    apply_ldl_factor, apply_geqrf, apply_orgqr, apply_cholesky_inverse)
Differs: SciPy calls LAPACK, for one matrix after another.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import ArgumentError, LinAlgError
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.core.warn_once import warn_once
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.linalg import Outputs, factorised, first_failure, lapack, outputs, write
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import linalg_factors as shapes
from glasstorch.operators.shapes.linalg import check_lapack

CPU = KernelTable("CPU")


def with_space(routine: Callable[..., Any], *arguments: Any) -> tuple[Any, ...]:
    """Call a LAPACK routine with as much working space as it asks for."""
    asked = routine(*arguments, lwork=-1)[-2]
    return routine(*arguments, lwork=int(asked.flat[0].real))  # type: ignore[no-any-return]


# LU -------------------------------------------------------------------------------------------------------------


def lu_factor_ex(keys: int, A: Tensor, pivot: bool, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """Both triangles of each matrix in one."""
    made = outputs(shapes.lu_factor_ex(A, pivot, check_errors), out)
    check_factorable(A, pivot)
    lu, pivots, info = factorised(A.array())
    if check_errors:
        refuse_zero("torch.linalg.lu_factor_ex", info)
    write(made, (lu, pivots, info))
    return named_result("linalg_lu_factor_ex", made)


def check_factorable(A: Tensor, pivot: bool) -> None:
    """Refuse what LAPACK does not factor."""
    check_lapack(A, "lu_cpu")
    if not pivot:
        raise ArgumentError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def refuse_zero(name: str, info: Array) -> None:
    """Refuse triangles that cannot be divided by."""
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
    both, pivots, _ = factorised(A.array())
    write(made, (permutation_matrix(pivots, A._shape[-2], both.dtype), *triangles(both)))
    return named_result("linalg_lu", made)


def lu_unpack(
    keys: int, LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool, unpack_pivots: bool, out: Outputs | None = None
) -> Outputs:
    """Permutation and triangles, out of what LAPACK left."""
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
    """Refuse exchanges with rows that are not there."""
    if pivots.size and (pivots.min() < 1 or pivots.max() > rows):
        raise ArgumentError(
            "pivots passed to lu_unpack must be between 1 and LU.size(-2) inclusive."
            "Did you properly pass the result of lu_factor?"
        )


def permutation_matrix(pivots: Array, rows: int, dtype: Any) -> Array:
    """The exchanges as matrices, all of a batch at a time."""
    flat = pivots.reshape(prod(pivots.shape[:-1]), pivots.shape[-1]).astype(np.int64) - 1
    every = np.arange(len(flat))
    order = np.tile(np.arange(rows), (len(flat), 1))
    for row in range(flat.shape[-1]):
        other = flat[:, row]
        order[every, row], order[every, other] = order[every, other], order[every, row].copy()
    matrix: Array = np.zeros((len(flat), rows, rows), dtype)
    matrix[every[:, None], order, np.arange(rows)] = 1
    return matrix.reshape(*pivots.shape[:-1], rows, rows)


def triangles(both: Array) -> tuple[Array, Array]:
    """The lower triangle with ones on its diagonal, and the upper one."""
    inner = min(both.shape[-2:])
    lower, upper = np.tril(both[..., :inner], -1), np.triu(both[..., :inner, :])
    lower[..., np.arange(inner), np.arange(inner)] = 1
    return lower, upper


# LDL ------------------------------------------------------------------------------------------------------------


def ldl_factor_ex(keys: int, self: Tensor, hermitian: bool, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """A triangle and blocks on the diagonal; only the lower triangle is read."""
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


def cholesky(keys: int, self: Tensor, upper: bool, out: Tensor | None = None) -> Tensor:
    """The triangle; a matrix that is not positive-definite is refused."""
    warn_once("torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future release.")
    result = shapes.cholesky(self, upper)
    check_lapack(self, "cholesky_cpu")
    array = self.array()
    triangle, info = np.empty(array.shape, array.dtype), np.zeros(array.shape[:-2], np.int32)
    if array.size:
        routine = lapack("potrf", array)
        for index in np.ndindex(*array.shape[:-2]):
            triangle[index], info[index] = routine(array[index], lower=not upper, clean=True)
    if info.any():
        batch, order = first_failure(info)
        raise LinAlgError(
            f"cholesky: {batch}The factorization could not be completed because the input is not positive-definite "
            f"(the leading minor of order {order} is not positive-definite)."
        )
    made = allocate_output(result) if out is None else out
    made.array()[...] = triangle
    return made


def cholesky_inverse(keys: int, self: Tensor, upper: bool, out: Tensor | None = None) -> Tensor:
    """The inverse of `L @ L.mH`, from the triangle L alone."""
    result = shapes.cholesky_inverse(self, upper)
    check_lapack(self, "cholesky_inverse_out_cpu")
    array = self.array()
    half, info = np.empty(array.shape, array.dtype), np.zeros(array.shape[:-2], np.int32)
    if array.size:
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


# Householder reflections ----------------------------------------------------------------------------------------


def geqrf(keys: int, self: Tensor, out: Outputs | None = None) -> Outputs:
    """The QR decomposition as LAPACK leaves it."""
    made = outputs(shapes.geqrf(self), out)
    check_lapack(self, "geqrf_cpu")
    array = self.array()
    factored, tau = np.empty(array.shape, array.dtype), np.empty(made[1]._shape, array.dtype)
    if array.size:
        routine = lapack("geqrf", array)
        for index in np.ndindex(*array.shape[:-2]):
            factored[index], tau[index], _, _ = with_space(routine, array[index])
    write(made, (factored, tau))
    return named_result("geqrf", made)


def householder_product(keys: int, input: Tensor, tau: Tensor, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of the reflections."""
    result = shapes.householder_product(input, tau)
    check_lapack(input, "orgqr_cpu")
    array, factors = input.array(), tau.array()
    product = np.empty(array.shape, array.dtype)
    if not factors.size:
        product[...] = np.eye(*array.shape[-2:])
    else:
        routine = lapack("ungqr" if input.dtype.is_complex else "orgqr", array)
        for index in np.ndindex(*array.shape[:-2]):
            product[index] = with_space(routine, array[index], factors[index])[0]
    made = allocate_output(result) if out is None else out
    made.array()[...] = product
    return made


structured(CPU, "linalg_lu_factor_ex", lu_factor_ex)
structured(CPU, "linalg_lu", lu)
structured(CPU, "lu_unpack", lu_unpack)
structured(CPU, "linalg_ldl_factor_ex", ldl_factor_ex)
structured(CPU, "cholesky", cholesky)
structured(CPU, "cholesky_inverse", cholesky_inverse)
structured(CPU, "geqrf", geqrf)
structured(CPU, "linalg_householder_product", householder_product)
