"""How are matrices decomposed, inverted and solved on the CPU?

Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp, aten/src/ATen/native/BatchLinearAlgebraKernel.cpp
Differs: NumPy and SciPy call LAPACK, for one matrix after another.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import LinAlgError
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes import linalg as shapes
from glasstorch.operators.shapes.result import Result

CPU = KernelTable("CPU")
Outputs = tuple[Tensor, ...]


def outputs(results: tuple[Result, ...], out: Outputs | None) -> Outputs:
    """The tensors to write to: those given, or fresh ones."""
    return tuple(map(allocate_output, results)) if out is None else out


def lapack(name: str, array: Array) -> Callable[..., Any]:
    """A routine for the array's dtype. SciPy is loaded when it is first asked for."""
    from scipy.linalg import get_lapack_funcs

    return get_lapack_funcs((name,), (array,))[0]  # type: ignore[no-any-return]


# Decompositions -------------------------------------------------------------------------------------------------


def cholesky_ex(keys: int, self: Tensor, upper: bool, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """The lower triangle L with `L @ L.mH`, or the upper one."""
    made = outputs(shapes.cholesky_ex(self, upper, check_errors), out)
    shapes.check_lapack(self, "cholesky_cpu")
    array = self.array()
    triangle, info = made[0].array(), made[1].array()
    routine = lapack("potrf", array)
    for index in np.ndindex(*array.shape[:-2]):
        triangle[index], info[index] = routine(array[index], lower=not upper, clean=True)
    if check_errors:
        refuse_not_positive("linalg.cholesky_ex", info)
    return named_result("linalg_cholesky_ex", made)


def refuse_not_positive(name: str, info: Array) -> None:
    """Refuse matrices that are not positive-definite."""
    if info.any():
        batch, order = first_failure(info)
        raise LinAlgError(
            f"{name}: {batch}The factorization could not be completed because the input is not positive-definite (the "
            f"leading minor of order {order} is not positive-definite)."
        )


def first_failure(info: Array) -> tuple[str, int]:
    """Which matrix of the batch failed first, in words, and the number that LAPACK gave."""
    at = int(np.flatnonzero(info)[0])
    return f"(Batch element {at}): " if info.ndim else "", int(info.reshape(-1)[at])


def factorised(array: Array) -> tuple[Array, Array, Array]:
    """The LU decomposition of each matrix, its pivots (from 1), and where a zero stands on the diagonal (from 1)."""
    lu = np.empty(array.shape, array.dtype)
    pivots = np.empty((*array.shape[:-2], min(array.shape[-2:])), np.int32)
    info = np.zeros(array.shape[:-2], np.int32)
    if not array.size:
        return lu, pivots, info
    routine = lapack("getrf", array)
    for index in np.ndindex(*array.shape[:-2]):
        lu[index], found, info[index] = routine(array[index])
        pivots[index] = np.add(found, 1)
    return lu, pivots, info


def lapack_order(A: Tensor) -> tuple[Array, bool]:
    """A matrix whose rows lie in memory one after another is transposed for LAPACK, which reads columns."""
    turned = A.is_row_major() and not A.dtype.is_complex
    return (A.array().swapaxes(-1, -2) if turned else A.array()), turned


def inv_ex(keys: int, A: Tensor, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """The inverse of each matrix."""
    made = outputs(shapes.inv_ex(A, check_errors), out)
    shapes.check_lapack(A, "linalg_inv_cpu")
    array, info = A.array(), made[1].array()
    try:
        made[0].array()[...], info[...] = np.linalg.inv(array), 0
    except np.linalg.LinAlgError:  # one of them has none: which, and what of the others
        info[...] = factorised(array)[2]
        inverses = made[0].array()
        for index in np.ndindex(*array.shape[:-2]):
            inverses[index] = np.linalg.inv(array[index]) if not info[index] else np.nan
    if check_errors and info.any():
        batch, order = first_failure(info)
        raise LinAlgError(
            f"linalg.inv_ex: {batch}The diagonal element {order} is zero, the inversion could not be completed because "
            f"the input matrix is singular."
        )
    return named_result("linalg_inv_ex", made)


def det(keys: int, A: Tensor, out: Outputs | None = None) -> Outputs:
    """The product of the diagonal of the LU decomposition, with the sign of the exchanges."""
    made = outputs(shapes.det(A), out)
    shapes.check_lapack(A, "lu_factor")
    lu, pivots, _ = factorised(lapack_order(A)[0])
    diagonal = np.diagonal(lu, axis1=-2, axis2=-1)
    write(made, (quietly(np.prod, diagonal, -1) * exchanges(pivots), lu, pivots))
    return made


def slogdet(keys: int, A: Tensor, out: Outputs | None = None) -> Outputs:
    """Sign and logarithm of the determinant."""
    made = outputs(shapes.slogdet(A), out)
    shapes.check_lapack(A, "lu_factor")
    lu, pivots, _ = factorised(lapack_order(A)[0])
    sign, logarithm = quietly(np.linalg.slogdet, A.array())
    write(made, (sign, logarithm, lu, pivots))
    return made


def exchanges(pivots: Array) -> Array:
    """1 for an even number of exchanges of rows, -1 for an odd one."""
    moved = pivots != np.arange(1, pivots.shape[-1] + 1)
    signs: Array = 1 - 2 * (moved.sum(-1) % 2)
    return signs


def write(made: Outputs, values: tuple[Any, ...]) -> None:
    """Copy results where they belong."""
    for tensor, value in zip(made, values, strict=True):
        tensor.array()[...] = value


def eigh(keys: int, A: Tensor, UPLO: str, compute_v: bool, out: Outputs | None = None) -> Outputs:
    """Eigenvalues and eigenvectors of symmetric or Hermitian matrices; only one triangle is read."""
    made = outputs(shapes.eigh(A, UPLO, compute_v), out)
    if compute_v:
        write(made, tuple(quietly(np.linalg.eigh, A.array(), UPLO.upper())))
    else:
        made[0].array()[...] = quietly(np.linalg.eigvalsh, A.array(), UPLO.upper())
    return made


def eig(keys: int, self: Tensor, out: Outputs | None = None) -> Outputs:
    """Eigenvalues and eigenvectors of any square matrices, complex even where all are real."""
    made = outputs(shapes.eig(self), out)
    write(made, tuple(quietly(np.linalg.eig, self.array())))
    return named_result("linalg_eig", made)


def qr(keys: int, A: Tensor, mode: str, out: Outputs | None = None) -> Outputs:
    """An orthogonal matrix times a triangle."""
    made = outputs(shapes.qr(A, mode), out)
    shapes.check_lapack(A, "geqrf_cpu")
    if mode == "r":
        made[1].array()[...] = np.linalg.qr(A.array(), "r")
    else:
        write(made, tuple(quietly(np.linalg.qr, A.array(), mode)))
    return named_result("linalg_qr", made)


def svd(
    keys: int, A: Tensor, full_matrices: bool, compute_uv: bool, driver: str | None, out: Outputs | None = None
) -> Outputs:
    """The singular value decomposition."""
    made = outputs(shapes.svd(A, full_matrices, compute_uv, driver), out)
    shapes.check_lapack(A, "linalg_svd_cpu")
    if compute_uv:
        write(made, tuple(np.linalg.svd(A.array(), full_matrices)))
    else:
        made[1].array()[...] = np.linalg.svd(A.array(), compute_uv=False)
    return made


# Linear systems -------------------------------------------------------------------------------------------------


def solve_ex(keys: int, A: Tensor, B: Tensor, left: bool, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """`A @ X = B`, or `X @ A = B`; the LU decomposition of A is for the gradient, and says where A is singular."""
    results = shapes.solve_ex(A, B, left, check_errors)
    shapes.check_lapack(A, "lu_factor")
    made = outputs(results, out)
    lu, pivots, info = factorised(lapack_order(A)[0])
    write(made[1:], (lu, pivots, info))
    if check_errors and info.any():
        raise LinAlgError("torch.linalg.solve: The solver failed because the input matrix is singular.")
    matrices, right, solution = A.array(), B.array(), made[0].array()
    if shapes.is_vector_case(A, B):
        right, solution = right[..., None], solution[..., None]
    if not left:
        matrices, right, solution = (array.swapaxes(-1, -2) for array in (matrices, right, solution))
    if not info.any():
        solution[...] = np.linalg.solve(matrices, right)
        return made
    batch = solution.shape[:-2]
    matrices, right = (np.broadcast_to(array, (*batch, *array.shape[-2:])) for array in (matrices, right))
    failed = np.broadcast_to(info, batch)
    for index in np.ndindex(*batch):
        solution[index] = np.nan if failed[index] else np.linalg.solve(matrices[index], right[index])
    return made


structured(CPU, "linalg_cholesky_ex", cholesky_ex)
structured(CPU, "linalg_inv_ex", inv_ex)
structured(CPU, "_linalg_det", det)
structured(CPU, "_linalg_slogdet", slogdet)
structured(CPU, "_linalg_eigh", eigh)
structured(CPU, "linalg_eig", eig)
structured(CPU, "linalg_qr", qr)
structured(CPU, "_linalg_svd", svd)
structured(CPU, "_linalg_solve_ex", solve_ex)
