"""How are triangular, factorized and least-squares systems solved on the CPU?

Mirrors: aten/src/ATen/native/BatchLinearAlgebraKernel.cpp (apply_triangular_solve, apply_lu_solve, apply_ldl_solve,
    apply_ormqr, apply_lstsq), BatchLinearAlgebra.cpp (_cholesky_solve_helper_cpu, linalg_lstsq_out_info)
Differs: SciPy calls BLAS and LAPACK for one matrix after another.
"""

from __future__ import annotations

from functools import partial
from operator import itemgetter
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import DtypeError, LinAlgError
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.linalg.batches import (
    INFO,
    Routine,
    adjoint_of,
    each,
    kernel,
    kind,
    lapack,
    refuse,
    spaced,
    workspaces,
    written,
)
from glasstorch.kernels.cpu.linalg.factors import check_pivots
from glasstorch.kernels.cpu.linalg.inverses import solved
from glasstorch.operators.shapes.linalg import solvers as shapes

CPU = KernelTable("CPU")

# Triangular matrices --------------------------------------------------------------------------------------------


@slot
def solved_by_triangle(A: Array, B: Array, upper: bool, left: bool, transpose: bool, unit: bool) -> Array:
    """Solve `A @ X = B`, or `X @ A = B`, reading one triangle of A; zeros on the diagonal give a non-finite X.

    BLAS reads column-major matrices. A row-major one is the other triangle of its transpose.
    """
    routine = lapack("trsm", A.dtype)

    def solve(matrix: Array, right: Array) -> tuple[Array]:
        turned = matrix.flags.c_contiguous and not matrix.flags.f_contiguous
        options = {"side": not left, "lower": upper == turned, "trans_a": turned != transpose, "diag": unit}
        return (routine(1, matrix.T if turned else matrix, right, **options),)

    return each.run(solve, (kind(B),), A, B)[0]


@kernel("linalg_solve_triangular", "triangular_solve_cpu")
def solve_triangular(self: Tensor, B: Tensor, upper: bool, left: bool, unitriangular: bool) -> Array:
    """`A @ X = B`, or `X @ A = B`."""
    if B.dtype is not self.dtype:
        raise DtypeError(
            f"linalg.solve_triangular: Expected A and B to have the same dtype, but found A of type "
            f"{self.dtype.scalar_name} and B of type {B.dtype.scalar_name} instead"
        )
    return solved_by_triangle.run(self.array(), B.array(), upper, left, False, unitriangular)


@kernel(
    "triangular_solve",
    "triangular_solve_cpu",
    "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangular and will be removed in a future "
    "PyTorch release.",
)
def triangular_solve(self: Tensor, A: Tensor, upper: bool, transpose: bool, unitriangular: bool) -> tuple[Array, Array]:
    """`A @ X = B`, and a copy of A."""
    matrices = A.array()
    return solved_by_triangle.run(matrices, self.array(), upper, True, transpose, unitriangular), matrices.copy()


@kernel("_cholesky_solve_helper", "cholesky_solve_cpu")
def cholesky_solve_helper(self: Tensor, A: Tensor, upper: bool) -> Array:
    """`L @ L.mH @ X = B`."""
    return solved_by_cholesky.run(A.array(), self.array(), upper)


@slot
def solved_by_cholesky(factor: Array, right: Array, upper: bool) -> Array:
    """Solve systems from the triangular factors of their matrices."""
    return each.run(lapack("potrs", right.dtype), (kind(right),), factor, right, lower=not upper)[0]


# Factorized matrices --------------------------------------------------------------------------------------------


@kernel("linalg_lu_solve", "linalg.lu_solve_cpu")
def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool) -> Array:
    """`A @ X = B`, with A or its adjoint, or `X @ A = B`, which is solved as `A.mH @ X.mH = B.mH`."""
    factors, exchanges, right = LU.array(), pivots.array(), B.array()
    check_pivots(exchanges, factors.shape[-1])
    trans = 2 if adjoint == left else 0
    if left:
        return solved.run(factors, exchanges, right, trans)
    return adjoint_of(solved.run(factors, exchanges, adjoint_of(right), trans))


@kernel("linalg_ldl_solve", "ldl_solve_kernel_cpu")
def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, hermitian: bool) -> Array:
    """`A @ X = B`, from the factors of A."""
    exchanges, right = pivots.array().astype(np.int32), B.array()
    check_pivots(np.abs(exchanges), LD._shape[-1])
    routine = lapack("hetrs" if hermitian and LD.dtype.is_complex else "sytrs", right.dtype)
    return each.run(routine, (kind(right),), LD.array(), exchanges[..., None, :], right, lower=1)[0]


@kernel("ormqr", "ormqr_cpu")
def ormqr(self: Tensor, input2: Tensor, input3: Tensor, left: bool, transpose: bool) -> Array:
    """The product of all reflections, or its adjoint, times a matrix from either side."""
    factors, other = input2.array(), input3.array()
    if not (factors.size and other.size):
        return other.copy()
    return multiplied.run(self.array()[..., : factors.shape[-1]], factors, other, left, transpose)


@slot
def multiplied(vectors: Array, factors: Array, other: Array, left: bool, transpose: bool) -> Array:
    """The product of the reflections, or its adjoint, times each matrix of a batch."""
    adjoint = "C" if np.iscomplexobj(other) else "T"
    routine = partial(lapack("ormqr", other.dtype), "L" if left else "R", adjoint if transpose else "N")
    arrays = vectors, factors[..., None, :], other
    return each.run(spaced(routine, *arrays), (kind(other),), *arrays)[0]


# Least squares --------------------------------------------------------------------------------------------------

# driver -> where LAPACK's routine returns the solution, info, and if it finds them the rank and the singular values
DRIVERS: dict[str, tuple[int, ...]] = {
    "gels": (1, -1),  # a QR decomposition: the matrix must have full rank
    "gelsy": (1, -1, 3),  # with column pivoting
    "gelsd": (0, -1, 2, 1),  # a singular value decomposition, by divide and conquer
    "gelss": (1, -1, 3, 2),
}


def minimizer(driver: str, rows: int, columns: int, right: Array, rcond: float) -> Routine:
    """A function of a matrix and a right-hand side, to what the table says; the solution ends with the residual."""
    routine, sizes = lapack(driver, right.dtype), (rows, columns, right.shape[-1])
    spaces = workspaces(driver, right.dtype, *sizes, *([] if driver == "gels" else [rcond]))
    options: dict[str, tuple[Any, ...]] = {
        "gels": ("N", *spaces),
        "gelsy": (np.zeros((columns, 1), np.int32), rcond, *spaces),
        "gelsd": (*spaces, rcond),
        "gelss": (rcond, *spaces),
    }
    chosen, select = options[driver], itemgetter(*DRIVERS[driver])
    return lambda matrix, right: select(routine(matrix, right, *chosen))


@CPU.impl("linalg_lstsq")
def lstsq(keys: int, self: Tensor, b: Tensor, rcond: float | None, driver: str | None) -> tuple[Any, ...]:
    """The X that minimizes `|A @ X - B|`; of several, the one of minimum norm."""
    results = shapes.lstsq(self, b, rcond, driver)
    name, reason = "torch.linalg.lstsq", "The least squares solution could not be computed because the input matrix "
    vector = shapes.is_vector_problem(self, b)
    matrices, right = self.array(), b.array()[..., None] if vector else b.array()
    rows, cols = matrices.shape[-2:]
    batch = results[0].shape[:-1] if vector else results[0].shape[:-2]
    solution = np.zeros((*batch, max(rows, cols), right.shape[-1]), matrices.dtype)
    rank: Any = 0
    values: Any = 0
    if matrices.size and right.size:
        solution[..., :rows, :] = right
        if driver in ("gelsd", "gelss"):  # OpenBLAS may never return
            refuse(LinAlgError, name, ~np.isfinite(matrices).all((-2, -1)), f"{reason}contained non-finite values.")
        tolerance = np.finfo(matrices.dtype).eps * max(rows, cols) if rcond is None else rcond
        minimize = minimizer(driver or "gelsy", rows, cols, solution, tolerance)
        kinds = [kind(solution), INFO, ((), np.int64), ((min(rows, cols),), results[3].dtype.numpy)]
        wanted = kinds[: len(DRIVERS[driver or "gelsy"])]
        solution, info, *others = each.run(minimize, wanted, matrices, solution)
        # Where a batch of one matrix was broadcast, the first of its equal ranks, and of its singular values, is it.
        own = tuple(slice(0, 1) if size == 1 else slice(None) for size in self._shape[:-2])
        rank, values = (*(found[own] for found in others), 0, 0)[:2]
        refuse(LinAlgError, name, info, reason + "does not have full rank (error code: {at}).")
    elif not cols:
        solution[...] = right
    residuals = (np.abs(solution[..., cols:, :], order="C") ** 2).sum(-2)  # by rows, however they lie in memory
    if results[1].shape != (0,) and driver != "gels" and not np.all(rank == cols):
        results = (results[0], results[1]._replace(shape=(0,)), *results[2:])
    found = solution[..., :cols, 0] if vector else solution[..., :cols, :]
    return named_result("linalg_lstsq", map(written, results, (found, residuals, rank, values)))
