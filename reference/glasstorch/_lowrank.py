"""How is a matrix approximated by a low-rank one?

Mirrors: torch/_lowrank.py
Differs: no sparse matrices.
"""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.calls.overloaded import handle_torch_function, has_torch_function_unary, has_torch_function_variadic
from glasstorch.core.dtype import float16, float32, float64
from glasstorch.core.plain_types import PLAIN
from glasstorch.operators.generated.functions import linalg_qr, linalg_svd, matmul, randn

__all__ = ["pca_lowrank", "svd_lowrank"]


def approximate_basis(A: Tensor, q: int, niter: int, M: Tensor | None) -> Tensor:
    """Orthonormal columns, of shape (..., rows, q), that approximately span the column space of `A - M`.

    Random vectors are multiplied by the matrix and its adjoint `niter` times (Halko, Martinsson and Tropp 2009,
    algorithm 4.4), which damps the directions of small singular values.
    """
    kept = A.dtype.is_complex or A.dtype in (float16, float32, float64)
    directions = randn([A.shape[-1], q], dtype=A.dtype if kept else float32, device=A.device)
    basis: Tensor = linalg_qr(_product(A, M, directions))[0]
    for _ in range(niter):
        back = linalg_qr(_product(A.mH, None if M is None else M.mH, basis))[0]
        basis = linalg_qr(_product(A, M, back))[0]
    return basis


def _product(A: Tensor, M: Tensor | None, columns: Tensor) -> Tensor:
    """`(A - M) @ columns`."""
    result: Tensor = matmul(A, columns)
    return result if M is None else result - matmul(M, columns)


def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Approximations of the `q` largest singular values of `A - M`, and of their singular vectors as columns.

    A has shape (..., rows, columns), and M broadcasts to it. The method is randomised: a fixed seed repeats the result.
    """
    if has_torch_function_variadic(A, M):
        return handle_torch_function(svd_lowrank, (A, M), A, q=q, niter=niter, M=M)
    q = 6 if q is None else q
    if M is not None:
        M = M.broadcast_to(A.shape)
    wide = A.shape[-2] < A.shape[-1]
    if wide:
        A, M = A.mH, None if M is None else M.mH
    basis = approximate_basis(A, q, 2 if niter is None else niter, M)
    small: Tensor = matmul(basis.mH, A)
    if M is not None:
        small = small - matmul(basis.mH, M)
    left, values, right = linalg_svd(small, full_matrices=False)
    left, right = matmul(basis, left), right.mH
    return (right, values, left) if wide else (left, values, right)


def pca_lowrank(A: Tensor, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Tensor, Tensor, Tensor]:
    """Approximations of the `q` principal components of the rows of A: `svd_lowrank` of A minus its mean row."""
    if type(A) not in PLAIN and has_torch_function_unary(A):
        return handle_torch_function(pca_lowrank, (A,), A, q=q, center=center, niter=niter)
    rows, columns = A.shape[-2:]
    if q is None:
        q = min(6, rows, columns)
    elif not 0 <= q <= min(rows, columns):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(rows, columns)}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(dim=(-2,), keepdim=True) if center else A, q, niter)
