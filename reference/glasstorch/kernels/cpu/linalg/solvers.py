"""How are triangular, factorized and least-squares systems solved on the CPU?

Mirrors: aten/src/ATen/native/BatchLinearAlgebraKernel.cpp (apply_triangular_solve, apply_lu_solve, apply_ldl_solve,
    apply_ormqr, apply_lstsq), BatchLinearAlgebra.cpp (_cholesky_solve_helper_cpu, linalg_lstsq_out_info)
Differs: SciPy calls BLAS and LAPACK for one matrix after another; many small systems are solved row by row together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import DtypeError, LinAlgError
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.core.warn_once import warn_once
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.linalg.factors import check_pivots, one_of, reflected
from glasstorch.kernels.cpu.linalg.inverses import (
    Outputs,
    are_many,
    first_failure,
    lapack,
    many_small,
    outputs,
    solved_together,
    substituted,
    write,
)
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.linalg import solvers as shapes
from glasstorch.operators.shapes.linalg.decompositions import check_lapack

CPU = KernelTable("CPU")


def together(batch: tuple[int, ...], *arrays: Array) -> Iterator[tuple[Any, ...]]:
    """For each index of the batch, that index and each array's matrix there; smaller batches are broadcast."""
    wide = [np.broadcast_to(array, (*batch, *array.shape[-2:])) for array in arrays]
    for index in np.ndindex(*batch):
        yield index, *(array[index] for array in wide)


def as_fits(matrix: Array) -> tuple[Array, bool]:
    """A matrix in the column-major order that BLAS reads without a copy, and whether it is transposed."""
    turned = matrix.flags.c_contiguous and not matrix.flags.f_contiguous
    return (matrix.T if turned else matrix), turned


# Triangular matrices
# ------------------------------------------------------------------------------------------------------


def solved_by_triangle(
    A: Array, B: Array, batch: tuple[int, ...], upper: bool, left: bool, transpose: bool, unit: bool
) -> Array:
    """Solve `A @ X = B`, or `X @ A = B`, reading one triangle of A; zeros on the diagonal give a non-finite X."""
    solution = np.empty((*batch, *B.shape[-2:]), A.dtype)
    if not solution.size:
        return solution
    if are_many(batch, A.shape[-1]):
        if not left:
            A, B, upper = A.swapaxes(-1, -2), B.swapaxes(-1, -2), not upper
        if transpose:
            A, upper = A.swapaxes(-1, -2), not upper
        found: Array = quietly(substituted, A, B, batch, upper, unit)
        return found if left else found.swapaxes(-1, -2)
    from scipy.linalg import get_blas_funcs

    routine = get_blas_funcs("trsm", (A,))
    for index, matrix, right in together(batch, A, B):
        fits, turned = as_fits(matrix)
        solution[index] = routine(
            1, fits, right, side=not left, lower=upper == turned, trans_a=turned != transpose, diag=unit
        )
    return solution


def solve_triangular(
    keys: int, self: Tensor, B: Tensor, upper: bool, left: bool, unitriangular: bool, out: Tensor | None = None
) -> Tensor:
    """`A @ X = B`, or `X @ A = B`."""
    result = shapes.solve_triangular(self, B, upper, left, unitriangular)
    check_lapack(self, "triangular_solve_cpu")
    if B.dtype is not self.dtype:
        raise DtypeError(
            f"linalg.solve_triangular: Expected A and B to have the same dtype, but found A of type "
            f"{self.dtype.scalar_name} and B of type {B.dtype.scalar_name} instead"
        )
    made = allocate_output(result) if out is None else out
    made.array()[...] = solved_by_triangle(
        self.array(), B.array(), result.shape[:-2], upper, left, False, unitriangular
    )
    return made


def triangular_solve(
    keys: int, self: Tensor, A: Tensor, upper: bool, transpose: bool, unitriangular: bool, out: Outputs | None = None
) -> Outputs:
    """`A @ X = B`, and a copy of A."""
    warn_once(
        "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangular and will be removed in a "
        "future PyTorch release."
    )
    results = shapes.triangular_solve(self, A, upper, transpose, unitriangular)
    check_lapack(self, "triangular_solve_cpu")
    made = outputs(results, out)
    matrices = A.array()
    solution = solved_by_triangle(matrices, self.array(), results[0].shape[:-2], upper, True, transpose, unitriangular)
    write(made, (solution, matrices.copy()))
    return named_result("triangular_solve", made)


def cholesky_solve_helper(keys: int, self: Tensor, A: Tensor, upper: bool, out: Tensor | None = None) -> Tensor:
    """`L @ L.mH @ X = B`."""
    result = shapes.cholesky_solve_helper(self, A, upper)
    check_lapack(self, "cholesky_solve_cpu")
    right = self.array()
    solution = np.empty(right.shape, right.dtype)
    if right.size and are_many(right.shape[:-2], right.shape[-2]):
        batch, factor = right.shape[:-2], A.array()
        lower = factor.conj().swapaxes(-1, -2) if upper else factor
        half = quietly(substituted, lower, right, batch, False, False)
        solution[...] = quietly(substituted, lower.conj().swapaxes(-1, -2), half, batch, True, False)
    elif right.size:
        routine = lapack("potrs", right)
        for index, triangle, b in together(right.shape[:-2], A.array(), right):
            solution[index] = routine(triangle, b, lower=not upper)[0]
    made = allocate_output(result) if out is None else out
    made.array()[...] = solution
    return made


# Factorized matrices ----------------------------------------------------------------------------------------------


def lu_solve(
    keys: int, LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool, out: Tensor | None = None
) -> Tensor:
    """`A @ X = B`, with A or its adjoint, or `X @ A = B`, which is solved as `A.mH @ X.mH = B.mH`."""
    result = shapes.lu_solve(LU, pivots, B, left, adjoint)
    check_lapack(LU, "linalg.lu_solve_cpu")
    exchanges = pivots.array()
    check_pivots(exchanges, LU._shape[-1])
    solution = np.empty(result.shape, LU.dtype.numpy)
    turned = adjoint == left
    if solution.size and are_many(result.shape[:-2], LU._shape[-1]):
        right = B.array() if left else B.array().conj().swapaxes(-1, -2)
        factors = LU.array().conj() if turned else LU.array()
        found = quietly(solved_together, factors, exchanges, right, result.shape[:-2], turned)
        solution[...] = found if left else found.conj().swapaxes(-1, -2)
    elif solution.size:
        routine = lapack("getrs", solution)
        trans = 2 if turned else 0
        for index, factors, rows, right in together(result.shape[:-2], LU.array(), exchanges[..., None, :], B.array()):
            found = routine(factors, rows[0] - 1, right if left else right.conj().T, trans=trans)[0]
            solution[index] = found if left else found.conj().T
    made = allocate_output(result) if out is None else out
    made.array()[...] = solution
    return made


def ldl_solve(keys: int, LD: Tensor, pivots: Tensor, B: Tensor, hermitian: bool, out: Tensor | None = None) -> Tensor:
    """`A @ X = B`, from the factors of A."""
    result = shapes.ldl_solve(LD, pivots, B, hermitian)
    check_lapack(LD, "ldl_solve_kernel_cpu")
    exchanges = pivots.array().astype(np.int32)
    check_pivots(np.abs(exchanges), LD._shape[-1])
    solution = np.empty(result.shape, LD.dtype.numpy)
    if solution.size:
        routine = lapack("hetrs" if hermitian and LD.dtype.is_complex else "sytrs", solution)
        for index, factors, rows, right in together(result.shape[:-2], LD.array(), exchanges[..., None, :], B.array()):
            solution[index] = routine(factors, rows[0], right, lower=1)[0]
    made = allocate_output(result) if out is None else out
    made.array()[...] = solution
    return made


def ormqr(
    keys: int, self: Tensor, input2: Tensor, input3: Tensor, left: bool, transpose: bool, out: Tensor | None = None
) -> Tensor:
    """The product of all reflections, or its adjoint, times a matrix from either side."""
    result = shapes.ormqr(self, input2, input3, left, transpose)
    check_lapack(self, "ormqr_cpu")
    factors, other = input2.array(), input3.array()
    product = np.array(other)
    if product.size and factors.size and many_small(product):
        turned = other if left else other.conj().swapaxes(-1, -2)
        product = quietly(reflected, self.array(), factors, turned, transpose == left)
        product = product if left else product.conj().swapaxes(-1, -2)
    elif product.size and factors.size:
        complex_ = self.dtype.is_complex
        routine = lapack("unmqr" if complex_ else "ormqr", product)
        side, trans = "L" if left else "R", ("C" if complex_ else "T") if transpose else "N"
        vectors = self.array()[..., : factors.shape[-1]]
        asked = routine(side, trans, one_of(vectors), one_of(factors, 1), one_of(other), -1)[1]
        space = int(asked.flat[0].real)
        for index in np.ndindex(*product.shape[:-2]):
            product[index] = routine(side, trans, vectors[index], factors[index], other[index], space)[0]
    made = allocate_output(result) if out is None else out
    made.array()[...] = product
    return made


# Least squares --------------------------------------------------------------------------------------------------

Found = tuple[Array, Any, Any, int]  # solution and residual, rank, singular values, LAPACK's info
Solver = Callable[[Array, Array], Found]


def by_gels(A: Array, B: Array, rcond: float) -> Solver:
    """A QR decomposition: the matrix must have full rank."""
    routine, (space,) = lapack("gels", A), spaces_for("gels", A, B)

    def solver(A: Array, B: Array) -> Found:
        _, found, info = routine(A, B, lwork=space)
        return found, 0, 0, info

    return solver


def by_gelsy(A: Array, B: Array, rcond: float) -> Solver:
    """A QR decomposition with column pivoting."""
    routine, (space,) = lapack("gelsy", A), spaces_for("gelsy", A, B, rcond)
    exchanges = np.zeros((A.shape[1], 1), np.int32)

    def solver(A: Array, B: Array) -> Found:
        _, found, _, rank, info = routine(A, B, exchanges, rcond, space)
        return found, rank, 0, info

    return solver


def by_gelsd(A: Array, B: Array, rcond: float) -> Solver:
    """A divide-and-conquer singular value decomposition."""
    routine, spaces = lapack("gelsd", A), spaces_for("gelsd", A, B, rcond)

    def solver(A: Array, B: Array) -> Found:
        found, values, rank, info = routine(A, B, *spaces, cond=rcond)
        return found, rank, values, info

    return solver


def by_gelss(A: Array, B: Array, rcond: float) -> Solver:
    """A singular value decomposition."""
    routine, (space,) = lapack("gelss", A), spaces_for("gelss", A, B, rcond)

    def solver(A: Array, B: Array) -> Found:
        _, found, values, rank, _, info = routine(A, B, cond=rcond, lwork=space)
        return found, rank, values, info

    return solver


def spaces_for(name: str, A: Array, B: Array, *more: float) -> list[int]:
    """The size of each workspace that a routine asks for; it is the same for all matrices of one size."""
    *asked, _ = lapack(f"{name}_lwork", A)(*A.shape, B.shape[1], *more)
    return [int(np.real(size)) for size in asked]


DRIVERS: dict[str, Callable[[Array, Array, float], Solver]] = {
    "gels": by_gels,
    "gelsy": by_gelsy,
    "gelsd": by_gelsd,
    "gelss": by_gelss,
}
BY_SINGULAR_VALUES = ("gelsd", "gelss")


def refuse_not_finite(matrices: Array) -> None:
    """Refuse non-finite matrices before a singular value decomposition: OpenBLAS may never return for one."""
    failed: Array = np.logical_or.reduce(~np.isfinite(matrices), (-2, -1))
    if failed.any():
        batch_element, _ = first_failure(failed)
        raise LinAlgError(
            f"torch.linalg.lstsq: {batch_element}The least squares solution could not be computed because the input "
            f"matrix contained non-finite values."
        )


@CPU.impl("linalg_lstsq")
def lstsq(keys: int, self: Tensor, b: Tensor, rcond: float | None, driver: str | None) -> Outputs:
    """The X that minimizes `|A @ X - B|`; of several, the one of minimum norm."""
    results = shapes.lstsq(self, b, rcond, driver)
    if self.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise DtypeError("This function doesn't handle types other than float and double")
    made = tuple(map(allocate_output, results))
    vector = shapes.is_vector_problem(self, b)
    matrices, right = self.array(), b.array()[..., None] if vector else b.array()
    rows, cols = matrices.shape[-2:]
    batch = results[0].shape[:-1] if vector else results[0].shape[:-2]
    solution = np.zeros((*batch, max(rows, cols), right.shape[-1]), matrices.dtype)
    solution[..., :rows, :] = right
    rank, values = np.zeros(batch, np.int64), np.zeros((*batch, min(rows, cols)), made[3].dtype.numpy)
    info = np.zeros(batch, np.int32)
    if matrices.size and right.size:
        if driver in BY_SINGULAR_VALUES:
            refuse_not_finite(matrices)
        tolerance = np.finfo(matrices.dtype).eps * max(rows, cols) if rcond is None else rcond
        solver = DRIVERS[driver or "gelsy"](one_of(matrices), one_of(solution), tolerance)
        for index, matrix, known in together(batch, matrices, solution):
            solution[index], rank[index], values[index], info[index] = solver(matrix, known)
    else:
        solution[..., :cols, :] = 0
    if info.any():
        batch_element, code = first_failure(info)
        raise LinAlgError(
            f"torch.linalg.lstsq: {batch_element}The least squares solution could not be computed because the input "
            f"matrix does not have full rank (error code: {code})."
        )
    found = solution[..., :cols, 0] if vector else solution[..., :cols, :]
    made[0].array()[...] = found
    if made[2]._shape == batch:
        made[2].array()[...] = rank
    if made[3].numel():
        made[3].array()[...] = values
    if made[1]._shape != (0,) and (driver == "gels" or bool(np.all(rank == cols))):
        made[1].array()[...] = (np.abs(solution[..., cols:, :]) ** 2).sum(-2)
    elif made[1]._shape != (0,):
        made = (made[0], allocate_output(results[1]._replace(shape=(0,))), *made[2:])
    return named_result("linalg_lstsq", made)


structured(CPU, "linalg_solve_triangular", solve_triangular)
structured(CPU, "triangular_solve", triangular_solve)
structured(CPU, "_cholesky_solve_helper", cholesky_solve_helper)
structured(CPU, "linalg_lu_solve", lu_solve)
structured(CPU, "linalg_ldl_solve", ldl_solve)
structured(CPU, "ormqr", ormqr)
