"""How are triangular, factorized and least-squares systems solved on the CPU?

Mirrors: aten/src/ATen/native/BatchLinearAlgebraKernel.cpp (apply_triangular_solve, apply_lu_solve, apply_ldl_solve,
    apply_ormqr, apply_lstsq), BatchLinearAlgebra.cpp (_cholesky_solve_helper_cpu, linalg_lstsq_out_info)
Differs: SciPy calls BLAS and LAPACK for one matrix after another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import DtypeError, LinAlgError
from glasstorch.core.tensor_impl import Array
from glasstorch.core.warn_once import warn_once
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.linalg.batches import (
    INFO,
    Outputs,
    Routine,
    adjoint_of,
    each,
    kind,
    lapack,
    refuse,
    spaces_for,
    with_space,
    written,
)
from glasstorch.kernels.cpu.linalg.factors import check_pivots
from glasstorch.kernels.cpu.linalg.inverses import solved
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.linalg import solvers as shapes
from glasstorch.operators.shapes.linalg.decompositions import check_lapack

CPU = KernelTable("CPU")

# Triangular matrices --------------------------------------------------------------------------------------------


@slot
def solved_by_triangle(
    A: Array, B: Array, batch: tuple[int, ...], upper: bool, left: bool, transpose: bool, unit: bool
) -> Array:
    """Solve `A @ X = B`, or `X @ A = B`, reading one triangle of A; zeros on the diagonal give a non-finite X.

    BLAS reads column-major matrices. A row-major one is the other triangle of its transpose.
    """
    routine = lapack("trsm", A)

    def solution(matrix: Array, right: Array) -> tuple[Array]:
        turned = matrix.flags.c_contiguous and not matrix.flags.f_contiguous
        options = {"side": not left, "lower": upper == turned, "trans_a": turned != transpose, "diag": unit}
        return (routine(1, matrix.T if turned else matrix, right, **options),)

    return each(solution, batch, (kind(B),), A, B)[0]


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
    batch = result.shape[:-2]
    return written(
        result, solved_by_triangle.run(self.array(), B.array(), batch, upper, left, False, unitriangular), out
    )


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
    matrices, batch = A.array(), results[0].shape[:-2]
    solution = solved_by_triangle.run(matrices, self.array(), batch, upper, True, transpose, unitriangular)
    return written(results, (solution, matrices.copy()), out, "triangular_solve")


def cholesky_solve_helper(keys: int, self: Tensor, A: Tensor, upper: bool, out: Tensor | None = None) -> Tensor:
    """`L @ L.mH @ X = B`."""
    result = shapes.cholesky_solve_helper(self, A, upper)
    check_lapack(self, "cholesky_solve_cpu")
    batch = result.shape[:-2]
    lower = adjoint_of(A.array()) if upper else A.array()
    half = solved_by_triangle.run(lower, self.array(), batch, False, True, False, False)
    return written(result, solved_by_triangle.run(adjoint_of(lower), half, batch, True, True, False, False), out)


# Factorized matrices --------------------------------------------------------------------------------------------


def lu_solve(
    keys: int, LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool, out: Tensor | None = None
) -> Tensor:
    """`A @ X = B`, with A or its adjoint, or `X @ A = B`, which is solved as `A.mH @ X.mH = B.mH`."""
    result = shapes.lu_solve(LU, pivots, B, left, adjoint)
    check_lapack(LU, "linalg.lu_solve_cpu")
    exchanges = pivots.array()
    check_pivots(exchanges, LU._shape[-1])
    trans = 2 if adjoint == left else 0
    if left:
        return written(result, solved.run(LU.array(), exchanges, B.array(), trans), out)
    return written(result, adjoint_of(solved.run(LU.array(), exchanges, adjoint_of(B.array()), trans)), out)


def ldl_solve(keys: int, LD: Tensor, pivots: Tensor, B: Tensor, hermitian: bool, out: Tensor | None = None) -> Tensor:
    """`A @ X = B`, from the factors of A."""
    result = shapes.ldl_solve(LD, pivots, B, hermitian)
    check_lapack(LD, "ldl_solve_kernel_cpu")
    exchanges, right = pivots.array().astype(np.int32), B.array()
    check_pivots(np.abs(exchanges), LD._shape[-1])
    routine = lapack("hetrs" if hermitian and LD.dtype.is_complex else "sytrs", right)
    solution, _ = each(
        lambda factors, rows, right: routine(factors, rows[0], right, lower=1),
        *(result.shape[:-2], (kind(right), INFO), LD.array(), exchanges[..., None, :], right),
    )
    return written(result, solution, out)


def ormqr(
    keys: int, self: Tensor, input2: Tensor, input3: Tensor, left: bool, transpose: bool, out: Tensor | None = None
) -> Tensor:
    """The product of all reflections, or its adjoint, times a matrix from either side."""
    result = shapes.ormqr(self, input2, input3, left, transpose)
    check_lapack(self, "ormqr_cpu")
    factors, other = input2.array(), input3.array()
    product = multiplied.run(self.array(), factors, other, left, transpose) if factors.size else other.copy()
    return written(result, product, out)


@slot
def multiplied(vectors: Array, factors: Array, other: Array, left: bool, transpose: bool) -> Array:
    """The product of the reflections, or its adjoint, times each matrix of a batch."""
    conjugated = np.iscomplexobj(other)
    routine = with_space(lapack("unmqr" if conjugated else "ormqr", other))
    side, trans = "L" if left else "R", ("C" if conjugated else "T") if transpose else "N"
    (product,) = each(
        lambda vectors, factors, other: routine(side, trans, vectors, factors[0], other)[:1],
        *(other.shape[:-2], (kind(other),), vectors[..., : factors.shape[-1]], factors[..., None, :], other),
    )
    return product


# Least squares --------------------------------------------------------------------------------------------------

# driver -> where LAPACK's routine returns the solution, the rank, and the singular values; the last result is info
DRIVERS: dict[str, tuple[int, int | None, int | None]] = {
    "gels": (1, None, None),  # a QR decomposition: the matrix must have full rank
    "gelsy": (1, 3, None),  # with column pivoting
    "gelsd": (0, 2, 1),  # a singular value decomposition, by divide and conquer
    "gelss": (1, 3, 2),
}


def minimizer(driver: str, rows: int, columns: int, right: Array, rcond: float) -> Routine:
    """A function of a matrix and a right-hand side, or a solution with residual, rank, singular values and info."""
    routine = lapack(driver, right)
    spaces = spaces_for(driver, right, rows, columns, right.shape[-1], *([] if driver == "gels" else [rcond]))
    options: dict[str, tuple[Any, ...]] = {
        "gels": ("N", *spaces),
        "gelsy": (np.zeros((columns, 1), np.int32), rcond, *spaces),
        "gelsd": (*spaces, rcond),
        "gelss": (rcond, *spaces),
    }

    def minimize(matrix: Array, right: Array) -> list[Any]:
        found = routine(matrix, right, *options[driver])
        return [*(0 if at is None else found[at] for at in DRIVERS[driver]), found[-1]]

    return minimize


@CPU.impl("linalg_lstsq")
def lstsq(keys: int, self: Tensor, b: Tensor, rcond: float | None, driver: str | None) -> Outputs:
    """The X that minimizes `|A @ X - B|`; of several, the one of minimum norm."""
    results = shapes.lstsq(self, b, rcond, driver)
    if self.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise DtypeError("This function doesn't handle types other than float and double")
    name, reason = "torch.linalg.lstsq", "The least squares solution could not be computed because the input matrix "
    vector = shapes.is_vector_problem(self, b)
    matrices, right = self.array(), b.array()[..., None] if vector else b.array()
    rows, cols = matrices.shape[-2:]
    batch = results[0].shape[:-1] if vector else results[0].shape[:-2]
    solution = np.zeros((*batch, max(rows, cols), right.shape[-1]), matrices.dtype)
    rank, values = np.zeros(batch, np.int64), np.zeros((*batch, min(rows, cols)), results[3].dtype.numpy)
    if matrices.size and right.size:
        solution[..., :rows, :] = right
        if driver in ("gelsd", "gelss"):  # OpenBLAS may never return
            refuse(LinAlgError, name, ~np.isfinite(matrices).all((-2, -1)), f"{reason}contained non-finite values.")
        tolerance = np.finfo(matrices.dtype).eps * max(rows, cols) if rcond is None else rcond
        minimize = minimizer(driver or "gelsy", rows, cols, solution, tolerance)
        kinds = (kind(solution), ((), rank.dtype), (values.shape[-1:], values.dtype), INFO)
        solution, rank, values, info = each(minimize, batch, kinds, matrices, solution)
        refuse(LinAlgError, name, info, reason + "does not have full rank (error code: {at}).")
    elif not cols:
        solution[...] = right
    residuals = (np.abs(solution[..., cols:, :]) ** 2).sum(-2)
    if results[1].shape != (0,) and driver != "gels" and not np.all(rank == cols):
        results = (results[0], results[1]._replace(shape=(0,)), *results[2:])
    found = solution[..., :cols, 0] if vector else solution[..., :cols, :]
    return written(results, (found, residuals, rank, values), None, "linalg_lstsq")


structured(CPU, "linalg_solve_triangular", solve_triangular)
structured(CPU, "triangular_solve", triangular_solve)
structured(CPU, "_cholesky_solve_helper", cholesky_solve_helper)
structured(CPU, "linalg_lu_solve", lu_solve)
structured(CPU, "linalg_ldl_solve", ldl_solve)
structured(CPU, "ormqr", ormqr)
