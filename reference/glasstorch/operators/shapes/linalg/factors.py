"""What shapes do factors of a matrix (LU, LDL, Cholesky, Householder) and its exponential have?

Mirrors: the TORCH_META_FUNCs in aten/src/ATen/native/BatchLinearAlgebra.cpp (linalg_lu_factor_ex, linalg_lu,
    lu_unpack, linalg_ldl_factor_ex), and the checks of geqrf, cholesky, cholesky_inverse, linalg_householder_product
    and linalg_matrix_exp there and in LinearAlgebra.cpp

Results that LAPACK writes are column-major.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from glasstorch.core.dtype import STORED_ONLY, int32
from glasstorch.core.errors import DtypeError, ShapeError, not_implemented_for
from glasstorch.core.geometry import existing_dim
from glasstorch.operators.shapes.linalg.decompositions import check_floating, check_square, columns
from glasstorch.operators.shapes.result import Result, castable, same_dtype

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def check_dims(tensor: Tensor, message: str) -> None:
    """Refuse tensors of fewer than two dimensions, with a message that ends in the sizes."""
    if len(tensor._shape) < 2:
        raise ShapeError(
            f"{message}: Expected tensor with 2 or more dimensions. Got size: {list(tensor._shape)} instead"
        )


# LU and LDL -----------------------------------------------------------------------------------------------------


def lu_factor_ex(A: Tensor, pivot: bool, check_errors: bool) -> tuple[Result, Result, Result]:
    """L and U in one matrix, the pivots, and per matrix 0 or the 1-based position of a zero on U's diagonal."""
    check_dims(A, "torch.lu_factor")
    return _with_pivots(A, min(A._shape[-2:]))


def _with_pivots(A: Tensor, inner: int) -> tuple[Result, Result, Result]:
    batch = A._shape[:-2]
    pivots, info = Result((*batch, inner), int32, None, same_dtype), Result(batch, int32, None, same_dtype)
    return columns(A._shape, A.dtype)._replace(check_out=same_dtype), pivots, info


def lu(A: Tensor, pivot: bool) -> tuple[Result, Result, Result]:
    """The permutation matrix, empty without pivoting, and the triangular factors L and U."""
    check_dims(A, "linalg.lu")
    return _three(A, pivot, True)


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool, unpack_pivots: bool
) -> tuple[Result, Result, Result]:
    """The permutation matrix and the factors L and U; outputs that are not requested are empty."""
    check_dims(LU_data, "torch.lu_unpack")
    if unpack_pivots and LU_pivots.dtype is not int32:
        raise DtypeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this "
            "function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    wanted = (*LU_data._shape[:-2], min(LU_data._shape[-2:]))
    if unpack_pivots and LU_pivots._shape != wanted:
        raise ShapeError(
            f"torch.lu_unpack: Expected LU_pivots to have one pivot for each row or column of the matrices, of shape "
            f"{list(wanted)}, but got shape {list(LU_pivots._shape)}"
        )
    if LU_data.dtype in STORED_ONLY and (unpack_data or unpack_pivots):
        step = "tril" if unpack_data else "scatter_gather_scalar_cpu"
        raise not_implemented_for(step, LU_data.dtype)
    return _three(LU_data, unpack_pivots, unpack_data)


def _three(A: Tensor, permutation: bool, triangles: bool) -> tuple[Result, Result, Result]:
    batch, (rows, cols) = A._shape[:-2], A._shape[-2:]
    inner = min(rows, cols)
    shapes = (
        (*batch, rows, rows) if permutation else (0,),
        (*batch, rows, inner) if triangles else (0,),
        (*batch, inner, cols) if triangles else (0,),
    )
    first, second, third = (Result(shape, A.dtype, None, same_dtype) for shape in shapes)
    return first, second, third


def ldl_factor_ex(self: Tensor, hermitian: bool, check_errors: bool) -> tuple[Result, Result, Result]:
    """L and the diagonal blocks in one matrix, the pivots, and 0 or the position of a singular block."""
    check_square(self, "torch.linalg.ldl_factor_ex")
    check_floating(self, "torch.linalg.ldl_factor_ex")
    return _with_pivots(self, self._shape[-1])


# Cholesky -------------------------------------------------------------------------------------------------------


def cholesky(self: Tensor, upper: bool) -> Result:
    """The triangular factor."""
    check_square(self, "cholesky")
    factor = columns(self._shape, self.dtype) if all(self._shape) else Result(self._shape, self.dtype)
    return factor._replace(check_out=castable("cholesky"))


def cholesky_inverse(self: Tensor, upper: bool) -> Result:
    """The inverse of the matrix that was factored."""
    check_square(self, "cholesky_inverse")
    return columns(self._shape, self.dtype)._replace(check_out=castable("cholesky_inverse"))


# Householder reflections ----------------------------------------------------------------------------------------


def geqrf(self: Tensor) -> tuple[Result, Result]:
    """R with the reflection vectors below its diagonal, and each reflection's scalar factor tau."""
    if len(self._shape) < 2:
        raise ShapeError("torch.geqrf: input must have at least 2 dimensions.")
    factors = Result((*self._shape[:-2], min(self._shape[-2:])), self.dtype, None, castable("torch.geqrf", "tau"))
    return columns(self._shape, self.dtype)._replace(check_out=castable("torch.geqrf", "a")), factors


def householder_product(input: Tensor, tau: Tensor) -> Result:
    """The first columns of the product of the reflections."""
    name = "torch.linalg.householder_product"
    if len(input._shape) < 2:
        raise ShapeError(f"{name}: input must have at least 2 dimensions.")
    if input._shape[-2] < input._shape[-1]:
        raise ShapeError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if input._shape[-1] < tau._shape[existing_dim(-1, len(tau._shape))]:
        raise ShapeError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    check_factors(input, tau, name)
    if tau.dtype is not input.dtype:
        raise DtypeError(
            f"{name}: tau dtype {tau.dtype.scalar_name} does not match input dtype {input.dtype.scalar_name}"
        )
    return columns(input._shape, input.dtype)._replace(check_out=castable(name))


def check_factors(input: Tensor, tau: Tensor, name: str) -> None:
    """Refuse scalar factors whose shape does not match the batch of reflections."""
    if len(input._shape) - len(tau._shape) != 1:
        raise ShapeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{len(tau._shape)} and input.ndim is equal to {len(input._shape)}"
        )
    if tau._shape[:-1] != input._shape[:-2]:
        raise ShapeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got {list(tau._shape[:-1])}"
        )


# The matrix exponential -----------------------------------------------------------------------------------------


def matrix_exp(self: Tensor) -> Result:
    """The shape of the input."""
    check_square(self, "linalg.matrix_exp")
    check_floating(self, "linalg.matrix_exp")
    return Result(self._shape, self.dtype, None, same_dtype)
