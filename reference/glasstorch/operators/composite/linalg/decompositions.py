"""Which matrix operators are composed of decompositions and products?

Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp, aten/src/ATen/native/LinearAlgebra.cpp
Differs: a negative power inverts first; PyTorch's error checks without a wait for the device are not needed here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from glasstorch.core import hooks
from glasstorch.core.dtype import HALF_PRECISION, Number, dtype, float64, int64
from glasstorch.core.errors import ArgumentError, DtypeError, LinAlgError, ShapeError
from glasstorch.core.geometry import wrap_dim
from glasstorch.core.hooks import decides
from glasstorch.core.layout import contiguous_format
from glasstorch.core.return_types import named_result
from glasstorch.core.type_info import finfo
from glasstorch.operators.direct import on_tensor, on_tensors
from glasstorch.operators.generated import functions
from glasstorch.operators.shapes.linalg.decompositions import check_floating, check_matrix, check_square
from glasstorch.operators.shapes.linalg.norms import check_norm_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

cholesky_ex = on_tensor("linalg_cholesky_ex")
inv_ex = on_tensor("linalg_inv_ex")
determinant = on_tensor("_linalg_det")
sign_and_logarithm = on_tensor("_linalg_slogdet")
eigen = on_tensor("_linalg_eigh")
general_eigen = on_tensor("linalg_eig")
singular = on_tensor("_linalg_svd")
solve_by_lu = on_tensors("_linalg_solve_ex")
norm_of_vector = on_tensor("linalg_vector_norm")
pseudo_inverse = on_tensors("linalg_pinv.atol_rtol_tensor")
matmul = on_tensors("matmul")
diagonal_of = on_tensor("diagonal")

# Refusals -------------------------------------------------------------------------------------------------------


def failure_in(info: Tensor) -> tuple[str, int] | None:
    """The first matrix that failed, in words, and LAPACK's info; None if none failed."""
    if not decides(info) or not bool(info.any()):
        return None
    at = int(info.reshape(-1).nonzero()[0])
    return f"(Batch element {at}): " if info.dim() else "", int(info.reshape(-1)[at])


# Decompositions -------------------------------------------------------------------------------------------------


def cholesky(self: Tensor, upper: bool) -> Tensor:
    """The triangular factor; a matrix that is not positive-definite is refused."""
    triangle, info = cholesky_ex(self, upper, False)
    failure = failure_in(info)
    if failure is not None:
        raise LinAlgError(
            f"linalg.cholesky: {failure[0]}The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {failure[1]} is not positive-definite)."
        )
    return triangle


def inv(A: Tensor) -> Tensor:
    """The inverse; a singular matrix is refused."""
    inverse, info = inv_ex(A, False)
    failure = failure_in(info)
    if failure is not None:
        raise LinAlgError(
            f"linalg.inv: {failure[0]}The diagonal element {failure[1]} is zero, the inversion could not be completed "
            f"because the input matrix is singular."
        )
    return inverse


def det(A: Tensor) -> Tensor:
    """Only the determinant."""
    return determinant(A)[0]


def slogdet(A: Tensor) -> Any:
    """Only the sign and the logarithm."""
    return named_result("linalg_slogdet", sign_and_logarithm(A)[:2])


def eigh(self: Tensor, UPLO: str) -> Any:
    """Eigenvalues and eigenvectors."""
    return named_result("linalg_eigh", eigen(self, UPLO, True))


def eigvalsh(self: Tensor, UPLO: str) -> Any:
    """Eigenvalues; the vectors are also computed if a gradient is wanted, which needs them."""
    return eigen(self, UPLO, hooks.variable_hooks.may_have_derivative(self))[0]


def eigvals(self: Tensor) -> Any:
    """Only the eigenvalues."""
    return general_eigen(self)[0]


def svd(A: Tensor, full_matrices: bool, driver: str | None) -> Any:
    """Left vectors, singular values, right vectors."""
    return named_result("linalg_svd", singular(A, full_matrices, True, driver))


def svdvals(A: Tensor, driver: str | None) -> Any:
    """Singular values; the vectors are also computed if a gradient is wanted, which needs them."""
    return singular(A, False, hooks.variable_hooks.may_have_derivative(A), driver)[1]


def solve_ex(A: Tensor, B: Tensor, left: bool, check_errors: bool) -> Any:
    """The solution, and per matrix 0 or the position of a zero pivot."""
    result, _, _, info = solve_by_lu(A, B, left, check_errors)
    return named_result("linalg_solve_ex", (result, info))


def solve(A: Tensor, B: Tensor, left: bool) -> Any:
    """The solution; a singular matrix is refused."""
    return solve_by_lu(A, B, left, True)[0]


def pinv(self: Tensor, atol: Tensor | float | None, rtol: Tensor | float | None, hermitian: bool) -> Tensor:
    """The pseudo-inverse, from the singular values above the tolerances."""
    if len(self._shape) < 2 or self.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise DtypeError(
            f"linalg.pinv({self.dtype.scalar_name}{{{list(self._shape)}}}): expected a tensor with 2 or more "
            f"dimensions of float, double, cfloat or cdouble types"
        )
    if not self.numel():
        return functions.empty(
            (*self._shape[:-2], self._shape[-1], self._shape[-2]), dtype=self.dtype, device=self.device
        )
    if hermitian:
        values, vectors = eigen(self, "L", True)
        kept = values.abs() > _tolerance(values.abs().amax([-1]), self, atol, rtol).unsqueeze(-1)
        inverse = functions.where(kept, values.reciprocal(), 0.0)
        return matmul(vectors * inverse.unsqueeze(-2), vectors.mH)
    left, values, right = singular(self, False, True, None)
    kept = values > _tolerance(values.amax([-1]), self, atol, rtol).unsqueeze(-1)
    inverse = functions.where(kept, values.reciprocal(), 0.0)
    return matmul(right.mH * inverse.unsqueeze(-2), left.mH)


def pinv_numbers(self: Tensor, atol: float | None, rtol: float | None, hermitian: bool) -> Tensor:
    """The pseudo-inverse, with tolerances as Python numbers."""
    if rtol is None and atol is not None and atol > 0:
        rtol = 0.0
    tolerances = (None if value is None else functions.full([], value, dtype=float64) for value in (atol, rtol))
    return pseudo_inverse(self, *tolerances, hermitian)


def pinv_rcond(self: Tensor, rcond: Tensor | float, hermitian: bool) -> Tensor:
    """The pseudo-inverse with a tolerance relative to the largest singular value."""
    if not isinstance(rcond, int | float):
        return pseudo_inverse(self, functions.zeros([]), rcond, hermitian)
    return pinv_numbers(self, 0.0, rcond, hermitian)


def _tolerance(largest: Tensor, self: Tensor, atol: Tensor | float | None, rtol: Tensor | float | None) -> Tensor:
    """The larger tolerance; the relative one defaults to max(rows, columns) times epsilon."""
    if rtol is None:
        given = atol is not None and (not isinstance(atol, float) or atol > 0)
        rtol = 0.0 if given else max(self._shape[-2:]) * finfo(self.dtype).eps
    relative = largest * (rtol if isinstance(rtol, int | float) else rtol.to(largest.dtype))
    return relative if atol is None else functions.maximum(relative, _like(atol, relative))


def _like(value: Tensor | float, other: Tensor) -> Tensor:
    return functions.full_like(other, value) if isinstance(value, int | float) else value.to(other.dtype)


def matrix_rank(self: Tensor, atol: Tensor | float | None, rtol: Tensor | float | None, hermitian: bool) -> Tensor:
    """The number of singular values above the tolerances."""
    check_matrix(self, "torch.linalg.matrix_rank", "input")
    if self.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise DtypeError("This function doesn't handle types other than float and double")
    if not self.numel():
        return functions.zeros(self._shape[:-2], dtype=int64, device=self.device)
    values = eigen(self, "L", False)[0].abs() if hermitian else singular(self, False, False, None)[1]
    above: Tensor = values > _tolerance(values.amax([-1]), self, atol, rtol).unsqueeze(-1)
    return above.sum(-1)


def matrix_rank_tol(self: Tensor, tol: Tensor | float, hermitian: bool) -> Tensor:
    """The rank with one absolute tolerance."""
    return matrix_rank(self, tol, 0.0, hermitian)


# Powers, norms and products -------------------------------------------------------------------------------------


def matrix_power(self: Tensor, n: int) -> Tensor:
    """Repeated squaring, of the inverse if the power is negative."""
    check_square(self, "linalg.matrix_power")
    if n < 0:
        check_floating(self, "linalg.matrix_power")
        inverse = inv(self)
        return inverse if n == -1 else matrix_power(inverse, -n)
    if n == 0:
        one = functions.zeros_like(self, memory_format=contiguous_format)
        diagonal_of(one, 0, -2, -1).fill_(1)
        return self.clone(memory_format=contiguous_format).copy_(one)
    if n == 1:
        return self.clone(memory_format=contiguous_format)
    square, result = self, None
    while n:
        if n & 1:
            result = square if result is None else matmul(result, square)
        n >>= 1
        if n:
            square = matmul(square, square)
    return result  # type: ignore[return-value]


def matrix_norm(self: Tensor, ord: Number, dim: Sequence[int], keepdim: bool, dtype: dtype | None) -> Tensor:
    """The largest or smallest absolute row sum, absolute column sum or singular value."""
    check_matrix(self, "linalg.matrix_norm")
    check_floating(self, "linalg.matrix_norm")
    order = abs(ord)
    if order not in (1, 2, float("inf")):
        raise ArgumentError(f"linalg.matrix_norm: Order {ord} not supported.")
    if order == 2:
        _check_precision(self)
    rows, cols = _two_dims(self, dim)
    check_norm_dtype(self, dtype, "linalg.matrix_norm")
    extremum: Callable[..., Tensor] = _largest if ord.real > 0 else functions.amin
    if order == 2:
        source = self if dtype is None else self.to(dtype)
        values = svdvals(source.movedim([rows, cols], [-2, -1]), None)
        result = extremum(values, [-1], keepdim)
        return result.unsqueeze(-1).movedim([-2, -1], [rows, cols]) if keepdim else result
    summed, searched = (rows, cols) if order == 1 else (cols, rows)
    sums = norm_of_vector(self, 1, [summed], keepdim, dtype)
    return extremum(sums, [searched - (summed < searched and not keepdim)], keepdim)


def _largest(values: Tensor, dim: Sequence[int], keepdim: bool) -> Tensor:
    """The largest element along a dimension; 0 if there is none, like the norm of an empty matrix."""
    return functions.amax(values, dim, keepdim) if values._shape[dim[0]] else values.detach().sum(dim, keepdim)


def matrix_norm_named(self: Tensor, ord: str, dim: Sequence[int], keepdim: bool, dtype: dtype | None) -> Tensor:
    """The root of the sum of squares ('fro') or the sum of the singular values ('nuc')."""
    check_matrix(self, "linalg.matrix_norm")
    check_floating(self, "linalg.matrix_norm")
    if ord not in ("fro", "nuc"):
        raise ArgumentError(f"linalg.matrix_norm: Order {ord} not supported.")
    if ord == "nuc":
        _check_precision(self)
    rows, cols = _two_dims(self, dim)
    check_norm_dtype(self, dtype, "linalg.matrix_norm")
    if ord == "fro":
        return norm_of_vector(self, 2, [rows, cols], keepdim, dtype)
    source = self if dtype is None else self.to(dtype)
    result = svdvals(source.movedim([rows, cols], [-2, -1]), None).sum(-1, keepdim)
    return result.unsqueeze(-1).movedim([-2, -1], [rows, cols]) if keepdim else result  # type: ignore[no-any-return]


def _check_precision(self: Tensor) -> None:
    if self.dtype in HALF_PRECISION:  # even where the norm is to be computed in another dtype
        raise DtypeError(f"linalg.matrix_norm: Low precision dtypes not supported. Got {self.dtype.scalar_name}")


def _two_dims(self: Tensor, dim: Sequence[int]) -> tuple[int, int]:
    if len(dim) != 2:
        raise ArgumentError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    rows, cols = (wrap_dim(d, len(self._shape)) for d in dim)
    if rows == cols:
        raise ArgumentError(f"linalg.matrix_norm: dims must be different. Got ({rows}, {cols})")
    return rows, cols


def diagonal(A: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    """`diagonal` of the last two dimensions."""
    return diagonal_of(A, offset, dim1, dim2)


def vecdot(x: Tensor, y: Tensor, dim: int) -> Tensor:
    """The sum of the products over one dimension; complex numbers on the left are conjugated."""
    check_floating(x, "linalg.vecdot")
    if x.dtype is not y.dtype:
        raise DtypeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {x.dtype.scalar_name} and y "
            f"of type {y.dtype.scalar_name} instead"
        )
    if x.dim() == 1 == y.dim():
        return functions.vdot(x, y)
    return (x.conj() * y).sum(dim)


def outer(self: Tensor, vec2: Tensor) -> Tensor:
    """The product of each pair of elements."""
    for tensor, name in ((self, "self"), (vec2, "vec2")):
        if tensor.dim() != 1:
            raise ShapeError(f"outer: Expected 1-D argument {name}, but got {tensor.dim()}-D")
    return self.reshape(-1, 1) * vec2


def inner(self: Tensor, other: Tensor) -> Tensor:
    """The sums of products over the last dimension of both."""
    if not self.dim() or not other.dim():
        return self * other
    if self._shape[-1] != other._shape[-1]:
        raise ShapeError(
            f"inner() the last dimension must match on both input tensors but got shapes {list(self._shape)} and "
            f"{list(other._shape)}"
        )
    return tensordot(self, other, [-1], [-1])


def tensordot(self: Tensor, other: Tensor, dims_self: Sequence[int], dims_other: Sequence[int]) -> Tensor:
    """A product of two matrices: free dimensions are merged into one axis, contracted ones into the other."""
    if len(dims_self) != len(dims_other):
        raise ArgumentError("both dimension lists should have same length")
    if self.dtype is not other.dtype:
        raise DtypeError("both inputs should have same dtype")
    ours = [wrap_dim(d, self.dim()) for d in dims_self]
    theirs = [wrap_dim(d, other.dim()) for d in dims_other]
    for one, two, a, b in zip(ours, theirs, dims_self, dims_other, strict=True):
        sizes = self._shape[one], other._shape[two]
        if sizes[0] == sizes[1]:
            continue
        if sizes[1] == 1:
            self = self.sum(one, True, dtype=self.dtype)
        elif sizes[0] == 1:
            other = other.sum(two, True, dtype=other.dtype)
        else:
            raise ShapeError(
                f"contracted dimensions need to match, but first has size {sizes[0]} in dim {a} and second has size "
                f"{sizes[1]} in dim {b}"
            )
    kept = [d for d in range(self.dim()) if d not in ours]
    other_kept = [d for d in range(other.dim()) if d not in theirs]
    rows, cols = [self._shape[d] for d in kept], [other._shape[d] for d in other_kept]
    count = prod(self._shape[d] for d in ours)
    left = self.permute([*kept, *ours]).reshape([prod(rows), count])
    right = other.permute([*theirs, *other_kept]).reshape([count, prod(cols)])
    return left.mm(right).reshape([*rows, *cols])


def cross(self: Tensor, other: Tensor, dim: int | None) -> Tensor:
    """`linalg.cross`; without a dimension, along the first of size 3."""
    if dim is None:
        dim = next((d for d, size in enumerate(self._shape) if size == 3), None)
        if dim is None:
            raise ArgumentError("no dimension of size 3 in input")
    return functions.linalg_cross(self, other, dim=dim)
