"""What shapes and dtypes do decompositions, inverses and solutions have?

Mirrors: the TORCH_META_FUNCs in aten/src/ATen/native/BatchLinearAlgebra.cpp, aten/src/ATen/native/LinearAlgebra.cpp
    (linalg_vector_norm), aten/src/ATen/native/Cross.cpp, aten/src/ATen/native/LinearAlgebraUtils.h

Results that LAPACK writes are column-major.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import HALF_PRECISION, dtype, int32
from glasstorch.core.errors import ArgumentError, DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import Shape, broadcast_shapes, row_major
from glasstorch.operators.shapes.result import Result, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# What is accepted -----------------------------------------------------------------------------------------------


def check_floating(tensor: Tensor, name: str) -> None:
    """Refuse integers and bool."""
    if not (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
        raise DtypeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {tensor.dtype.scalar_name}"
        )


def check_precise(tensor: Tensor, name: str) -> None:
    """Refuse what `check_floating` refuses, and floats of 16 bits."""
    check_floating(tensor, name)
    if tensor.dtype in HALF_PRECISION:
        raise DtypeError(f"{name}: Low precision dtypes not supported. Got {tensor.dtype.scalar_name}")


def check_lapack(tensor: Tensor, label: str) -> None:
    """Refuse dtypes without a LAPACK routine: half precision, and integers that no earlier check refused."""
    if tensor.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise not_implemented_for(label, tensor.dtype)


def check_matrix(tensor: Tensor, name: str, argument: str = "A") -> None:
    """Refuse tensors of fewer than two dimensions."""
    if len(tensor._shape) < 2:
        raise ShapeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")


def check_square(tensor: Tensor, name: str, argument: str = "A") -> None:
    """Refuse matrices that are not square."""
    check_matrix(tensor, name, argument)
    rows, columns = tensor._shape[-2:]
    if rows != columns:
        raise ShapeError(
            f"{name}: {argument} must be batches of square matrices, but they are {rows} by {columns} matrices"
        )


def columns(shape: Shape, dtype: dtype) -> Result:
    """A batch of column-major matrices."""
    strides = row_major((*shape[:-2], shape[-1], shape[-2]))
    return Result(shape, dtype, (*strides[:-2], strides[-1], strides[-2]))


def exactly(result: Result) -> Result:
    """The same result; an out= tensor must have exactly its dtype."""
    return result._replace(check_out=same_dtype)


# Decompositions -------------------------------------------------------------------------------------------------


def cholesky_ex(self: Tensor, upper: bool, check_errors: bool) -> tuple[Result, Result]:
    """The Cholesky factor, and per matrix 0 or the order of the first leading minor that is not positive."""
    check_square(self, "linalg.cholesky")
    check_floating(self, "linalg.cholesky")
    return exactly(columns(self._shape, self.dtype)), exactly(Result(self._shape[:-2], int32))


def inv_ex(A: Tensor, check_errors: bool) -> tuple[Result, Result]:
    """The inverse, and per matrix 0 or the 1-based position of the zero pivot in its LU decomposition."""
    check_square(A, "linalg.inv")
    check_precise(A, "linalg.inv")
    return exactly(columns(A._shape, A.dtype)), exactly(Result(A._shape[:-2], int32))


def det(A: Tensor) -> tuple[Result, Result, Result]:
    """The determinant, the LU decomposition it was computed from, and the pivots."""
    check_square(A, "linalg.det")
    check_floating(A, "linalg.det")
    return Result(A._shape[:-2], A.dtype), columns(A._shape, A.dtype), Result(A._shape[:-1], int32)


def slogdet(A: Tensor) -> tuple[Result, Result, Result, Result]:
    """Sign and log of the absolute value of the determinant, the LU decomposition, and its pivots."""
    check_square(A, "linalg.slogdet")
    check_precise(A, "linalg.slogdet")
    sign = Result(A._shape[:-2], A.dtype)
    return sign, sign._replace(dtype=A.dtype.to_real()), columns(A._shape, A.dtype), Result(A._shape[:-1], int32)


def eigh(A: Tensor, UPLO: str, compute_v: bool) -> tuple[Result, Result]:
    """Real eigenvalues in ascending order, and eigenvectors as columns."""
    check_square(A, "linalg.eigh")
    if UPLO.upper() not in ("L", "U"):
        raise ArgumentError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    check_lapack(A, "linalg_eigh_cpu")
    vectors = columns(A._shape, A.dtype) if compute_v else Result((0,), A.dtype)
    return Result(A._shape[:-1], A.dtype.to_real()), vectors


def eig(self: Tensor) -> tuple[Result, Result]:
    """Complex eigenvalues in no particular order, and eigenvectors as columns."""
    check_square(self, "linalg.eig")
    check_floating(self, "linalg.eig")
    check_lapack(self, "linalg_eig_out_cpu")
    return Result(self._shape[:-1], self.dtype.to_complex()), columns(self._shape, self.dtype.to_complex())


def qr(A: Tensor, mode: str) -> tuple[Result, Result]:
    """The orthogonal factor, empty if only R is wanted, and the triangular factor R."""
    check_matrix(A, "linalg.qr")
    check_floating(A, "linalg.qr")
    if mode not in ("reduced", "complete", "r"):
        raise ArgumentError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    batch, (rows, cols) = A._shape[:-2], A._shape[-2:]
    inner = rows if mode == "complete" else min(rows, cols)
    q = Result((0,), A.dtype) if mode == "r" else columns((*batch, rows, inner), A.dtype)
    return exactly(q), exactly(columns((*batch, inner, cols), A.dtype))


def svd(A: Tensor, full_matrices: bool, compute_uv: bool, driver: str | None) -> tuple[Result, Result, Result]:
    """Left vectors as columns, real singular values in descending order, right vectors as rows."""
    check_matrix(A, "linalg.svd")
    check_floating(A, "linalg.svd")
    if driver is not None:
        raise ArgumentError(
            "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend."
        )
    batch, (rows, cols) = A._shape[:-2], A._shape[-2:]
    k = min(rows, cols)
    values = Result((*batch, k), A.dtype.to_real())
    if not compute_uv:
        return Result((0,), A.dtype), values, Result((0,), A.dtype)
    left = columns((*batch, rows, rows if full_matrices else k), A.dtype)
    return left, values, columns((*batch, cols if full_matrices else k, cols), A.dtype)


# Linear systems -------------------------------------------------------------------------------------------------


def is_vector_case(A: Tensor, B: Tensor) -> bool:
    """Whether B holds a single vector for each matrix, so that it has one dimension less than A."""
    return len(B._shape) == 1 or (len(A._shape) - 1 == len(B._shape) and B._shape == A._shape[:-1])


def solve_ex(A: Tensor, B: Tensor, left: bool, check_errors: bool) -> tuple[Result, Result, Result, Result]:
    """The solution, the LU decomposition of A, its pivots, and per matrix 0 or the position of a zero pivot."""
    name = "linalg.solve"
    check_floating(A, name)
    if A.dtype is not B.dtype:
        raise DtypeError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {A.dtype.scalar_name} and B of type "
            f"{B.dtype.scalar_name} instead"
        )
    vector = is_vector_case(A, B)
    sizes = (*B._shape, 1) if vector else B._shape
    check_square(A, name)
    if len(sizes) < 2:
        raise ShapeError(f"{name}: The input tensor B must have at least 2 dimensions.")
    if vector and not left:
        raise ArgumentError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case "
            "linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    if A._shape[-2 if left else -1] != sizes[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        raise ShapeError(
            f"{name}: Incompatible shapes of A and B for the equation {equation} ({A._shape[-2]}x{A._shape[-1]} and "
            f"{sizes[-2]}x{sizes[-1]})"
        )
    batch = broadcast_shapes(sizes[:-2], A._shape[:-2])
    shape = (*batch, *sizes[-2:])[: -1 if vector else None]
    result = columns(shape, A.dtype) if left and len(shape) > 1 else Result(shape, A.dtype)
    return result, columns(A._shape, A.dtype), Result(A._shape[:-1], int32), Result(A._shape[:-2], int32)
