"""Which operators check or rearrange the results of factorizations and solvers?

Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp (linalg_lu_factor, _lu_with_info, lu_solve, linalg_ldl_factor,
    cholesky_solve, qr, svd), LinearAlgebra.cpp (slogdet)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from glasstorch.core.errors import ArgumentError, ShapeError
from glasstorch.core.return_types import named_result
from glasstorch.core.warn_once import warn_once
from glasstorch.operators.composite.linalg import decompositions as linalg
from glasstorch.operators.direct import on_tensor, on_tensors
from glasstorch.operators.generated import functions
from glasstorch.operators.shapes.linalg.solvers import batch_of, check_linear

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

lu_factor_ex = on_tensor("linalg_lu_factor_ex")
ldl_factor_ex = on_tensor("linalg_ldl_factor_ex")
solve_with_lu = on_tensors("linalg_lu_solve")
solve_with_cholesky = on_tensors("_cholesky_solve_helper")
orthogonal_factor = on_tensor("linalg_qr")
singular = on_tensor("_linalg_svd")

# LU and LDL -----------------------------------------------------------------------------------------------------


def lu_factor(A: Tensor, pivot: bool) -> Any:
    """L and U in one matrix, and the pivots; a U with a zero on its diagonal is refused."""
    both, pivots, info = lu_factor_ex(A, pivot, False)
    failure = linalg.failure_in(info)
    if failure is not None:
        batch, at = failure
        raise ArgumentError(
            f"torch.linalg.lu_factor: {batch}U[{at},{at}] is zero and using it on lu_solve would result in a division "
            f"by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
            f"linalg.lu_factor_ex(A, pivot)"
        )
    return named_result("linalg_lu_factor", (both, pivots))


def lu_with_info(self: Tensor, pivot: bool, check_errors: bool) -> Any:
    """`linalg.lu_factor_ex`, for `torch.lu`."""
    warn_once(
        "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed in "
        "a future PyTorch release."
    )
    return named_result("_lu_with_info", lu_factor_ex(self, pivot, False))


def lu_solve(self: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """`linalg.lu_solve`, with its arguments in another order."""
    warn_once(
        "torch.lu_solve is deprecated in favor of torch.linalg.lu_solve and will be removed in a future PyTorch "
        "release."
    )
    return solve_with_lu(LU_data, LU_pivots, self, True, False)


def ldl_factor(self: Tensor, hermitian: bool) -> Any:
    """The factors and the pivots; a matrix with a singular diagonal block is refused."""
    factors, pivots, info = ldl_factor_ex(self, hermitian, False)
    failure = linalg.failure_in(info)
    if failure is not None:
        raise ArgumentError(
            f"torch.linalg.ldl_factor: {failure[0]}The diagonal block at {failure[1]} is exactly singular, so that "
            f"ldl_solve would divide by zero; linalg.ldl_factor_ex gives the factors of such a matrix too."
        )
    return named_result("linalg_ldl_factor", (factors, pivots))


# Cholesky, QR, SVD ----------------------------------------------------------------------------------------------


def cholesky_solve(self: Tensor, input2: Tensor, upper: bool) -> Tensor:
    """`L @ L.mH @ X = B`; batches broadcast."""
    for tensor, name in ((self, "b"), (input2, "u")):
        if len(tensor._shape) < 2:
            raise ShapeError(
                f"{name} should have at least 2 dimensions, but has {len(tensor._shape)} dimensions instead"
            )
    check_linear(self, input2, "cholesky_solve")
    batch = batch_of(input2, self)
    right, triangle = (tensor.expand((*batch, *tensor._shape[-2:])) for tensor in (self, input2))
    return solve_with_cholesky(right, triangle, upper)


def qr(self: Tensor, some: bool) -> Any:
    """`linalg.qr`, reduced or complete."""
    warn_once("torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.")
    return named_result("qr", orthogonal_factor(self, "reduced" if some else "complete"))


def svd(self: Tensor, some: bool, compute_uv: bool) -> Any:
    """`linalg.svd` with the right vectors as columns; zeros if none are requested."""
    if len(self._shape) < 2:
        raise ShapeError(
            f"linalg.svd: input should have at least 2 dimensions, but has {len(self._shape)} dimensions instead"
        )
    if compute_uv:
        left, values, right = singular(self, not some, True, None)
        return named_result("svd", (left, values, right.mH))
    values = linalg.svdvals(self, None)
    batch, (rows, cols) = self._shape[:-2], self._shape[-2:]
    left = functions.zeros((*batch, rows, rows), dtype=self.dtype, device=self.device)
    right = functions.zeros((*batch, cols, cols), dtype=self.dtype, device=self.device)
    return named_result("svd", (left, values, right.mH))


def slogdet(self: Tensor) -> Any:
    """`linalg.slogdet`."""
    return named_result("slogdet", linalg.slogdet(self))
