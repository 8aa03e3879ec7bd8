"""Which helpers do the formulas of decompositions and solutions call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (cholesky_backward, linalg_det_backward, slogdet_backward,
    linalg_eig_backward, svd_backward, linalg_solve_backward, linalg_vector_norm_backward)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from glasstorch._tensor import from_array
from glasstorch.core.dtype import float64
from glasstorch.core.errors import AutogradError
from glasstorch.core.hooks import decides
from glasstorch.operators.generated.functions import (
    cat,
    eq,
    linalg_det,
    linalg_inv_ex,
    linalg_solve,
    linalg_solve_ex,
    linalg_solve_triangular,
    linalg_svd,
    matmul,
    where,
    zeros_like,
)

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor


def _on_diagonal(values: Tensor) -> Tensor:
    """Matrices with these diagonals and zeros elsewhere."""
    return values.unsqueeze(-1) * _identity(values.shape[-1], values)


def _identity(size: int, like: Tensor) -> Tensor:
    return from_array(np.eye(size), float64).to(like.device, like.dtype)


# Decompositions -------------------------------------------------------------------------------------------------


def cholesky_backward(grad: Tensor, upper: bool, L: Tensor) -> Tensor:
    """The gradient with respect to a symmetric matrix, made symmetric."""
    if upper:
        L, grad = L.mH, grad.mH
    lower = matmul(L.mH, grad).tril()
    symmetric = (lower + lower.tril(-1).mH) / 2
    half = linalg_solve_triangular(L.mH, symmetric, upper=True)
    return linalg_solve_triangular(L, half, upper=False, left=False)


def det_backward(grad: Tensor, result: Tensor, A: Tensor, LU: Tensor, pivots: Tensor) -> Tensor:
    """The matrix of cofactors, from the inverse; for singular matrices, from the singular values."""
    if not decides(result) or not bool(eq(result, 0).any()):
        inverse: Tensor = linalg_inv_ex(A)[0].mH
        return (grad * result.conj()).unsqueeze(-1).unsqueeze(-1) * inverse
    U, S, Vh = linalg_svd(A, True)
    size = S.shape[-1]
    others = where(_identity(size, S).bool(), 1.0, S.unsqueeze(-2)).prod(-1)
    sign = linalg_det(matmul(U, Vh)).conj()
    cofactors = matmul(U * others.unsqueeze(-2), Vh)
    return (grad * sign).unsqueeze(-1).unsqueeze(-1) * cofactors


def slogdet_backward(grads: Sequence[Any], A: Tensor, sign: Tensor, LU: Tensor, pivots: Tensor) -> Tensor:
    """The logarithm's gradient is the inverse; a real sign is constant, the phase of a complex determinant is not.

    A singular matrix is accepted: its logarithm is -inf, and its gradient is not finite either.
    """
    grad_sign, grad = grads[:2]
    if A.dtype.is_complex and grad_sign is not None:
        turned = (grad_sign.conj() * sign).imag * -1j
        grad = turned if grad is None else grad + turned
    if grad is None:
        return zeros_like(A)
    gradient: Tensor = grad.unsqueeze(-1).unsqueeze(-1) * linalg_inv_ex(A)[0].mH
    return gradient


def qr_backward(grads: Sequence[Any], Q: Tensor, R: Tensor, mode: str) -> Tensor:
    """The gradient of the reduced QR; columns of R beyond its square part follow from the orthogonal factor."""
    grad_q, grad_r = grads
    rows, inner, cols = Q.shape[-2] if Q.dim() > 1 else 0, R.shape[-2], R.shape[-1]
    if mode == "r":
        raise NotImplementedError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
        )
    if mode == "complete" and rows > min(rows, cols):
        raise NotImplementedError("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
    grad_q = zeros_like(Q) if grad_q is None else grad_q
    grad_r = zeros_like(R) if grad_r is None else grad_r
    if cols == inner:
        return _thin_qr_backward(grad_q, grad_r, Q, R)
    right, grad_right = R.narrow(-1, inner, cols - inner), grad_r.narrow(-1, inner, cols - inner)
    grad_q = grad_q + matmul(matmul(Q, right), grad_right.mH)
    square = _thin_qr_backward(grad_q, grad_r.narrow(-1, 0, inner), Q, R.narrow(-1, 0, inner))
    return cat([square, matmul(Q, grad_right)], -1)


def _thin_qr_backward(grad_q: Tensor, grad_r: Tensor, Q: Tensor, R: Tensor) -> Tensor:
    inner = (matmul(grad_r, R.mH) - matmul(Q.mH, grad_q)).triu()
    strict: Tensor = inner.triu(1)
    diagonal = inner - strict
    if diagonal.dtype.is_complex:
        diagonal = diagonal.real.to(diagonal.dtype)
    symmetric = strict + strict.mH + diagonal
    gradient: Tensor = linalg_solve_triangular(R.mH, matmul(Q, symmetric) + grad_q, upper=False, left=False)
    return gradient


def pinv_backward(grad: Tensor, result: Tensor, self: Tensor) -> Tensor:
    """Products with the pseudo-inverse; so equal singular values do no harm."""
    adjoint, transposed = result.mH, grad.mH
    if self.shape[-2] <= self.shape[-1]:
        inner = matmul(transposed, result)
        outer = matmul(inner, adjoint)
        turned: Tensor = matmul(result, inner).mH
        return (
            outer
            - turned
            - matmul(matmul(self, result), outer)
            + matmul(matmul(adjoint, result), transposed - matmul(inner, self))
        )
    inner = matmul(result, transposed)
    outer = matmul(adjoint, inner)
    turned = matmul(inner, result).mH
    return (
        outer
        - turned
        + matmul(matmul(transposed - matmul(self, inner), result), adjoint)
        - matmul(matmul(outer, result), self)
    )


def eig_backward(grads: Sequence[Any], real: bool, eigenvalues: Tensor, eigenvectors: Tensor) -> Tensor:
    """As `eigh_backward`, for eigenvectors that are not orthogonal but normalised."""
    V = eigenvectors
    values, vectors = grads
    inner = zeros_like(V) if values is None else _on_diagonal(values)
    if vectors is not None:
        product = matmul(V.mH, vectors)
        diagonal = product.diagonal(0, -2, -1)
        check_phase(diagonal, "linalg_eig_backward: The eigenvectors", "this quantity, so it is ill-defined.")
        along = diagonal.real.unsqueeze(-2)
        gaps = (eigenvalues.unsqueeze(-2) - eigenvalues.unsqueeze(-1)).conj()
        same = _identity(eigenvalues.shape[-1], eigenvalues.real).bool()
        turned = (product - matmul(V.mH, V) * along) / where(same, 1.0, gaps)
        inner = inner + where(same, 0.0, turned)
    gradient: Tensor = linalg_solve(V.mH, matmul(inner, V.mH))
    return gradient.real if real else gradient


def eigh_backward(grads: Sequence[Any], eigenvalues: Tensor, eigenvectors: Tensor) -> Tensor:
    """The gradient of eigenvectors grows as the distance between their eigenvalues shrinks."""
    V = eigenvectors
    values, vectors = grads
    inner = zeros_like(V) if values is None else _on_diagonal(values).to(V.dtype)
    if vectors is not None:
        gaps = eigenvalues.unsqueeze(-2) - eigenvalues.unsqueeze(-1)
        same = _identity(eigenvalues.shape[-1], eigenvalues).bool()
        product = matmul(V.mH, vectors)
        check_phase(
            product.diagonal(0, -2, -1),
            "linalg_eigh_backward: The eigenvectors",
            "this quantity, so it is ill-defined.",
        )
        turned = _skew(product) / 2  # eigenvectors stay orthogonal
        inner = inner + where(same, 0.0, turned / where(same, 1.0, gaps))
    return matmul(V, matmul(inner, V.mH))


def svd_backward(grads: Sequence[Any], U: Tensor, S: Tensor, Vh: Tensor, full_matrices: bool, k: int) -> Tensor:
    """As `eigh_backward`, for both sides, plus the part outside the spaces of the singular vectors."""
    grad_u, grad_s, grad_vh = grads
    rows, cols = U.shape[-2], Vh.shape[-1]
    if full_matrices:
        U, grad_u = U.narrow(-1, 0, k), None if grad_u is None else grad_u.narrow(-1, 0, k)
        Vh, grad_vh = Vh.narrow(-2, 0, k), None if grad_vh is None else grad_vh.narrow(-2, 0, k)
    inner = zeros_like(matmul(U.mH, U)) if grad_s is None else _on_diagonal(grad_s).to(U.dtype)
    same = _identity(k, S).bool()
    squares = S * S
    gaps = where(same, 1.0, squares.unsqueeze(-2) - squares.unsqueeze(-1))
    phases = zeros_like(S)  # the phases of both may change if that cancels in the loss
    if grad_u is not None:
        turned = _skew(matmul(U.mH, grad_u))
        phases = phases + turned.diagonal(0, -2, -1)
        inner = inner + where(same, 0.0, turned / gaps) * S.unsqueeze(-2)
        if U.dtype.is_complex and grad_vh is not None:
            inner = inner + _on_diagonal(phases / (2 * S))
    if grad_vh is not None:
        turned = _skew(matmul(Vh, grad_vh.mH))
        phases = phases + turned.diagonal(0, -2, -1)
        inner = inner + S.unsqueeze(-1) * where(same, 0.0, turned / gaps)
    check_phase(phases, "svd_backward: The singular vectors", "this phase term, making it ill-defined.")
    result = matmul(U, matmul(inner, Vh))
    if rows > k and grad_u is not None:
        outside = grad_u - matmul(U, matmul(U.mH, grad_u))
        result = result + matmul(outside / S.unsqueeze(-2), Vh)
    if cols > k and grad_vh is not None:
        outside = grad_vh - matmul(matmul(grad_vh, Vh.mH), Vh)
        result = result + matmul(U, outside / S.unsqueeze(-1))
    return result


def check_phase(change: Tensor, vectors: str, on_what: str) -> None:
    """Refuse a loss that depends on the phase of complex vectors, which the matrix does not determine."""
    if not change.dtype.is_complex or not decides(change):
        return
    if not bool((change.imag.abs() <= 1e-2).all()):
        raise AutogradError(
            f"{vectors} in the complex case are specified up to multiplication by e^{{i phi}}. The specified loss "
            f"function depends on {on_what}"
        )


def _skew(matrix: Tensor) -> Tensor:
    transposed: Tensor = matrix.mH
    return matrix - transposed


# Linear systems -------------------------------------------------------------------------------------------------


def solve_backward(
    grad: Tensor, result: Tensor, A: Tensor, LU: Tensor, pivots: Tensor, left: bool
) -> tuple[Tensor, Tensor]:
    """The right-hand side's gradient solves the adjoint system; the matrix's is its product with the solution."""
    vector = result.dim() == 1 or (A.dim() - 1 == result.dim() and result.shape == A.shape[:-1])
    if vector:
        grad, result = grad.unsqueeze(-1), result.unsqueeze(-1)
    right = linalg_solve_ex(A.mH, grad, left=left)[0]
    matrix = -matmul(right, result.mH) if left else -matmul(result.mH, right)
    return matrix, right.squeeze(-1) if vector else right
