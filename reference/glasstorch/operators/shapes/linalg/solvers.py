"""What shapes do solutions of triangular, factored and least-squares systems have?

Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp (linalg_solve_triangular, triangular_solve, linalg_lu_solve,
    linalg_ldl_solve, cholesky_solve, ormqr, linalg_lstsq), LinearAlgebraUtils.h (linearSolveCheckInputs,
    checkInputsSolver, _linalg_broadcast_batch_dims)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import int64
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError
from glasstorch.core.geometry import Shape, broadcast_shapes, wrap_dim
from glasstorch.operators.shapes.linalg.decompositions import check_floating, check_matrix, check_square, columns
from glasstorch.operators.shapes.linalg.factors import check_factors
from glasstorch.operators.shapes.result import Result, castable, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


def batch_of(A: Tensor, B: Tensor) -> Shape:
    """The broadcast batch shape; B comes before A, as in PyTorch's message for a mismatch."""
    return broadcast_shapes(B._shape[:-2], A._shape[:-2])


def check_solver(A: Tensor, B: Tensor, left: bool, name: str, name_of_square: str) -> None:
    """Refuse matrices whose shapes do not fit the equation."""
    check_square(A, name_of_square)
    check_matrix(B, name, "B")
    if A._shape[-2 if left else -1] != B._shape[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        raise ShapeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} ({A._shape[-2]}x{A._shape[-1]} and "
            f"{B._shape[-2]}x{B._shape[-1]})"
        )


def check_linear(b: Tensor, A: Tensor, name: str) -> None:
    """The checks of the older solvers: the same dtype, square matrices, matching row counts."""
    if b.dtype is not A.dtype:
        raise DtypeError(
            f"Expected b and A to have the same dtype, but found b of type {b.dtype.scalar_name} and A of type "
            f"{A.dtype.scalar_name} instead."
        )
    if A._shape[-1] != A._shape[-2]:
        raise ShapeError(
            f"A must be batches of square matrices, but they are {A._shape[-2]} by {A._shape[-1]} matrices"
        )
    if A._shape[-1] != b._shape[wrap_dim(-2, len(b._shape))]:
        raise ShapeError(
            f"Incompatible matrix sizes for {name}: each A matrix is {A._shape[-1]} by {A._shape[-1]} but each b "
            f"matrix is {b._shape[-2]} by {b._shape[-1]}"
        )


# Triangular systems ---------------------------------------------------------------------------------------------


def solve_triangular(self: Tensor, B: Tensor, upper: bool, left: bool, unitriangular: bool) -> Result:
    """The solution, in the dtype of the matrix."""
    check_solver(self, B, left, "linalg.solve_triangular", "linalg.solve_triangular")
    shape = (*batch_of(self, B), *B._shape[-2:])
    return columns(shape, self.dtype)._replace(check_out=same_dtype)


def triangular_solve(
    self: Tensor, A: Tensor, upper: bool, transpose: bool, unitriangular: bool
) -> tuple[Result, Result]:
    """The solution, and a copy of the matrix."""
    for tensor, name in ((self, "b"), (A, "A")):
        if len(tensor._shape) < 2:
            raise ShapeError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has "
                f"{len(tensor._shape)} dimensions instead"
            )
    check_linear(self, A, "triangular_solve")
    batch = batch_of(A, self)
    solution, copy = (columns((*batch, *tensor._shape[-2:]), self.dtype) for tensor in (self, A))
    return solution._replace(check_out=same_dtype), copy._replace(check_out=same_dtype)


def cholesky_solve_helper(self: Tensor, A: Tensor, upper: bool) -> Result:
    """The solution; both batch shapes must be equal."""
    check_square(A, "_cholesky_solve_helper")
    if len(self._shape) < 2 or self._shape[:-1] != A._shape[:-1]:
        raise ShapeError(
            f"_cholesky_solve_helper: expected one right side with a row for each row of every factor, got sizes "
            f"{list(self._shape)} and {list(A._shape)}"
        )
    return columns(self._shape, self.dtype)._replace(check_out=same_dtype)


# Factored matrices ----------------------------------------------------------------------------------------------


def lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, left: bool, adjoint: bool) -> Result:
    """The solution."""
    name = "linalg.lu_solve"
    check_floating(LU, f"torch.{name}")
    if LU.dtype is not B.dtype:
        raise DtypeError(
            f"{name}: Expected LU and B to have the same dtype, but found LU of type {LU.dtype.scalar_name} and B of "
            f"type {B.dtype.scalar_name} instead"
        )
    if pivots.dtype.name != "int32":
        raise DtypeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_square(LU, f"torch.{name}")
    check_solver(LU, B, left, name, name)
    if not pivots._shape or pivots._shape[-1] != LU._shape[-1]:
        raise ShapeError(f"{name}: Number of pivots per batch should be same as the dimension of the matrix")
    if pivots._shape != LU._shape[:-1]:
        raise ShapeError(
            f"{name}: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots._shape)} instead"
        )
    shape = (*batch_of(LU, B), *B._shape[-2:])
    return (columns(shape, B.dtype) if left else Result(shape, B.dtype))._replace(check_out=same_dtype)


def ldl_solve(LD: Tensor, pivots: Tensor, B: Tensor, hermitian: bool) -> Result:
    """The solution."""
    name = "torch.linalg.ldl_solve"
    check_square(LD, name)
    check_floating(LD, name)
    check_linear(B, LD, name)
    if pivots._shape != LD._shape[:-1]:
        raise ShapeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{list(pivots._shape)} instead"
        )
    if pivots.dtype.is_floating_point or pivots.dtype.is_complex or pivots.dtype.name == "bool":
        raise DtypeError(f"{name}: Expected pivots to be integers. Got {pivots.dtype.scalar_name}")
    return columns((*batch_of(LD, B), *B._shape[-2:]), B.dtype)._replace(check_out=same_dtype)


def ormqr(self: Tensor, input2: Tensor, input3: Tensor, left: bool, transpose: bool) -> Result:
    """The product of the reflections with a matrix."""
    name = "torch.ormqr"
    if len(self._shape) < 2:
        raise ShapeError(f"{name}: input must have at least 2 dimensions.")
    if len(input3._shape) < 2:
        raise ShapeError(f"{name}: other must have at least 2 dimensions.")
    side = -2 if left else -1
    if input3._shape[side] != self._shape[-2]:
        raise ShapeError(f"{name}: other.shape[{side}] must be equal to input.shape[-2]")
    if not input2._shape or input2._shape[-1] != min(input3._shape[side], self._shape[-1]):
        raise ShapeError(f"{name}: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])")
    check_factors(self, input2, name)
    if len(self._shape) != len(input3._shape):
        raise ShapeError(
            f"{name}: Expected other to have the same number of dimensions as input, but got other.ndim equal to "
            f"{len(input3._shape)} and input.ndim is equal to {len(self._shape)}"
        )
    if self._shape[:-2] != input3._shape[:-2]:
        raise ShapeError(
            f"{name}: Expected batch dimensions of other to be equal to input.shape[:-2], but got "
            f"{list(input3._shape[:-2])}"
        )
    for tensor, argument in ((input2, "tau"), (input3, "other")):
        if tensor.dtype is not self.dtype:
            raise DtypeError(
                f"{name}: Expected input and {argument} to have the same dtype, but input has dtype"
                f"{self.dtype.scalar_name} and {argument} has dtype {tensor.dtype.scalar_name}"
            )
    return columns(input3._shape, input3.dtype)._replace(check_out=same_dtype)


# Least squares --------------------------------------------------------------------------------------------------


def is_vector_problem(self: Tensor, b: Tensor) -> bool:
    """Whether b holds a single vector for each matrix, so that it has one dimension less."""
    return len(self._shape) - 1 == len(b._shape) and self._shape[:-1] == b._shape


def lstsq(self: Tensor, b: Tensor, rcond: float | None, driver: str | None) -> tuple[Result, Result, Result, Result]:
    """Solution, sums of squared residuals, rank and singular values, for matrices of full rank.

    The latter two are of the matrices alone: their batch is not broadcast to that of the right-hand sides.
    """
    name = "torch.linalg.lstsq"
    if len(self._shape) < 2:
        raise ShapeError(f"{name}: input must have at least 2 dimensions.")
    if not b._shape:
        raise ShapeError(f"{name}: other must have at least 1 dimension.")
    if self.dtype is not b.dtype:
        raise DtypeError(
            f"{name}: Expected input and other to have the same dtype, but got input's dtype {self.dtype.scalar_name} "
            f"and other's dtype {b.dtype.scalar_name}"
        )
    vector = is_vector_problem(self, b)
    if not 0 <= len(self._shape) - len(b._shape) <= 1:
        raise ShapeError(
            f"{name}: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1"
        )
    if not vector and self._shape[-2] != b._shape[-2 if len(b._shape) > 1 else -1]:
        side = -2 if len(b._shape) > 1 else -1
        raise ShapeError(f"{name}: input.size(-2) should match other.size({side})")
    if driver is not None and driver not in DRIVERS:
        raise ArgumentError(f"{name}: parameter `driver` should be one of ({', '.join(DRIVERS)})")
    if self.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise DtypeError("This function doesn't handle types other than float and double")
    used = driver or "gelsy"
    rows, cols = self._shape[-2:]
    batch = self._shape[:-2] if vector else batch_of(b, self)
    right = 1 if vector else b._shape[-1]
    solution = columns((*batch, max(rows, cols), right), self.dtype)
    solution = solution._replace(shape=(*batch, cols, right), check_out=castable(name))
    if vector:
        solution = solution._replace(shape=solution.shape[:-1], strides=(solution.strides or ())[:-1])
    left_over = (*batch, right) if used != "gelsy" and rows > cols else (0,)
    real = self.dtype.to_real()
    return (
        solution,
        Result(left_over, real),
        Result(self._shape[:-2] if used != "gels" else (0,), int64),
        Result((*self._shape[:-2], min(rows, cols)) if used in ("gelsd", "gelss") else (0,), real),
    )
