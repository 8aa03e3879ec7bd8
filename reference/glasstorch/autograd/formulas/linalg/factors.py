"""Which helpers do the formulas of matrix factors, and of systems solved with them, call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (linalg_lu_backward, lu_factor_ex_backward, lu_unpack_backward,
    linalg_lu_solve_LU, cholesky_solve_backward, cholesky_inverse_backward, linalg_solve_triangular_backward,
    triangular_solve_backward, householder_product_backward, ormqr_backward, linalg_lstsq_backward,
    linalg_matrix_exp_differential)
Differs: the gradient of a product of reflections keeps the partial products from the right, where PyTorch removes each
    reflection again by its inverse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from glasstorch._tensor import from_array
from glasstorch.autograd.formulas.linalg.decompositions import pinv_backward
from glasstorch.core.dtype import float64
from glasstorch.operators.generated.functions import (
    cat,
    cholesky_solve,
    linalg_lu_solve,
    linalg_matrix_exp,
    linalg_pinv,
    linalg_solve_triangular,
    lu_unpack,
    matmul,
    ormqr,
    zeros_like,
)

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

# LU -------------------------------------------------------------------------------------------------------------


def lu_backward(grad_l: Tensor | None, grad_u: Tensor | None, P: Tensor, L: Tensor, U: Tensor, pivot: bool) -> Tensor:
    """The square part's gradient from both factors; the part beside or below it follows from the other factor."""
    rows, cols, inner = L.shape[-2], U.shape[-1], L.shape[-1]
    grad_l = zeros_like(L) if grad_l is None else grad_l
    grad_u = zeros_like(U) if grad_u is None else grad_u
    top, below = L.narrow(-2, 0, inner), L.narrow(-2, inner, rows - inner)
    square, beside = U.narrow(-1, 0, inner), U.narrow(-1, inner, cols - inner)
    grad_beside, grad_below = grad_u.narrow(-1, inner, cols - inner), grad_l.narrow(-2, inner, rows - inner)
    of_lower = matmul(top.mH, grad_l.narrow(-2, 0, inner)) - matmul(grad_beside, beside.mH)
    of_upper = matmul(grad_u.narrow(-1, 0, inner), square.mH) - matmul(below.mH, grad_below)
    gradient: Tensor = _divided_right(square, of_lower.tril(-1) + of_upper.triu())
    if cols > inner:
        gradient = cat([gradient, grad_beside], -1)
    gradient = linalg_solve_triangular(top.mH, gradient, upper=True, unitriangular=True)
    if rows > inner:
        gradient = cat([gradient, _divided_right(square, grad_below)], -2)
    return matmul(P, gradient) if pivot else gradient


def _divided_right(upper: Tensor, matrix: Tensor) -> Tensor:
    return linalg_solve_triangular(upper.mH, matrix, upper=False, left=False)


def lu_factor_backward(grad: Tensor, LU: Tensor, pivots: Tensor, pivot: bool) -> Tensor:
    """As `lu_backward`, with both gradients in one matrix."""
    P, L, U = lu_unpack(LU, pivots)
    inner = L.shape[-1]
    return lu_backward(grad.narrow(-1, 0, inner), grad.narrow(-2, 0, inner), P, L, U, pivot)


def lu_unpack_backward(grads: Sequence[Any], rows: int, cols: int) -> Tensor | None:
    """Each factor's gradient at the factor's position; None where neither has one, or they were not asked for."""
    inner = min(rows, cols)
    parts = []
    if grads[1] is not None and len(grads[1].shape) > 1:
        parts.append(_wide(grads[1].tril(-1), cols - inner, -1))
    if grads[2] is not None and len(grads[2].shape) > 1:
        parts.append(_wide(grads[2].triu(), rows - inner, -2))
    return sum(parts[1:], start=parts[0]) if parts else None


def _wide(matrix: Tensor, missing: int, dim: int) -> Tensor:
    """The matrix padded with zeros after its last column or row."""
    if not missing:
        return matrix
    shape = list(matrix.shape)
    shape[dim] = missing
    return cat([matrix, matrix.new_zeros(shape)], dim)


def lu_solve_backward(
    grad: Tensor, LU: Tensor, pivots: Tensor, result: Tensor, left: bool, adjoint: bool
) -> tuple[Tensor, Tensor]:
    """The factors' gradient through their product `P @ L @ U`; the right-hand side's solves the adjoint system."""
    right: Tensor = linalg_lu_solve(LU, pivots, grad, left=left, adjoint=not adjoint)
    P, L, U = lu_unpack(LU, pivots)
    solution, solved = (result, right) if left else (result.mH, right.mH)
    first, second = (solution, solved) if adjoint == left else (solved, solution)
    turned: Tensor = matmul(P.mH, first)
    of_lower = matmul(turned, matmul(U, second).mH)
    of_upper = matmul(matmul(L.mH, turned), second.mH)
    return -(of_lower.tril(-1) + of_upper.triu()), right


# Triangular systems ---------------------------------------------------------------------------------------------


def solve_triangular_backward(
    grad: Tensor, A: Tensor, result: Tensor, upper: bool, left: bool, unitriangular: bool
) -> tuple[Tensor, Tensor]:
    """The right-hand side's gradient solves the adjoint system; the matrix's is its product with the solution."""
    right: Tensor = linalg_solve_triangular(A.mH, grad, upper=not upper, left=left, unitriangular=unitriangular)
    matrix = -matmul(right, result.mH) if left else -matmul(result.mH, right)
    return _triangle(matrix, upper, unitriangular), right


def _triangle(matrix: Tensor, upper: bool, unitriangular: bool) -> Tensor:
    part: Tensor = matrix.triu(int(unitriangular)) if upper else matrix.tril(-int(unitriangular))
    return part


def triangular_solve_backward(
    grads: Sequence[Any], self: Tensor, A: Tensor, solution: Tensor, upper: bool, transpose: bool, unitriangular: bool
) -> tuple[Tensor, Tensor]:
    """As `solve_triangular_backward`; the gradient of the matrix's copy is added."""
    grad = zeros_like(solution) if grads[0] is None else grads[0]
    if transpose:
        right: Tensor = linalg_solve_triangular(A.conj(), grad, upper=upper, unitriangular=unitriangular)
        matrix = -matmul(solution.conj(), right.mT)
    else:
        right = linalg_solve_triangular(A.mH, grad, upper=not upper, unitriangular=unitriangular)
        matrix = -matmul(right, solution.mH)
    matrix = _triangle(matrix, upper, unitriangular)
    return right, matrix if grads[1] is None else matrix + grads[1]


def cholesky_solve_backward(
    grad: Tensor, self: Tensor, L: Tensor, result: Tensor, upper: bool
) -> tuple[Tensor, Tensor]:
    """The right-hand side's gradient solves the same system; the factor occurs twice in the matrix."""
    right: Tensor = cholesky_solve(grad, L, upper)
    product = matmul(right, result.mH)
    both = product + product.mH
    return right, -matmul(L, both) if upper else -matmul(both, L)


def cholesky_inverse_backward(grad: Tensor, L: Tensor, result: Tensor, upper: bool) -> Tensor:
    """As `cholesky_solve_backward`, with the identity on the right."""
    both = matmul(result, matmul(grad + grad.mH, result))
    return -matmul(L, both) if upper else -matmul(both, L)


# Householder reflections ----------------------------------------------------------------------------------------


def householder_product_backward(grad: Tensor, result: Tensor, input: Tensor, tau: Tensor) -> tuple[Any, Any]:
    """The gradient of the reflections applied to the first columns of the identity."""
    columns = from_array(np.eye(*input.shape[-2:]), float64).to(grad.device, grad.dtype)
    return _reflections_backward(grad, input, tau, columns.expand(input.shape))


def ormqr_backward(
    grad: Tensor, self: Tensor, input2: Tensor, input3: Tensor, left: bool, transpose: bool, result: Tensor
) -> tuple[Any, Any, Tensor]:
    """The other matrix's gradient is multiplied by the adjoint of Q; with `Q.mH`, or on the right, roles swap."""
    other: Tensor = ormqr(self, input2, grad, left, not transpose)
    reflected, outer = (input3, grad) if left else (input3.mH, grad.mH)
    if transpose == left:
        reflected, outer = outer, reflected
    return *_reflections_backward(outer, self, input2, reflected), other


def _reflections_backward(grad: Tensor, input: Tensor, tau: Tensor, other: Tensor) -> tuple[Any, Any]:
    """The gradients of the vectors v and the factors tau in `H1 @ H2 @ ... @ other`, with `H = I - tau * v @ v.mH`."""
    if not input.numel() or not tau.numel():
        return None, None
    rows, count = input.shape[-2], tau.shape[-1]
    vectors = input.tril(-1) + from_array(np.eye(rows, input.shape[-1]), float64).to(input.device, input.dtype)
    every = [vectors.narrow(-1, i, 1) for i in range(count)]
    factors = [tau.narrow(-1, i, 1).unsqueeze(-1) for i in range(count)]
    behind = [other]  # the operand of each reflection, the last reflection first
    for v, factor in zip(every[:0:-1], factors[:0:-1], strict=True):
        behind.append(behind[-1] - factor * matmul(v, matmul(v.mH, behind[-1])))
    grad_vectors, grad_factors = [], []
    for v, factor, reflected in zip(every, factors, reversed(behind), strict=False):
        one, two = matmul(reflected.mH, v), matmul(grad.mH, v)  # (..., columns, 1)
        ahead = matmul(grad, one)
        grad_factors.append(-matmul(v.mH, ahead).squeeze(-1))
        grad_vectors.append(-factor.conj() * ahead - factor * matmul(reflected, two))
        grad = grad - factor.conj() * matmul(v, two.mH)
    gradient = _wide(cat(grad_vectors, -1), input.shape[-1] - count, -1)
    return gradient.tril(-1), cat(grad_factors, -1)


# Least squares and the exponential ------------------------------------------------------------------------------


def lstsq_backward(grads: Sequence[Any], A: Tensor, B: Tensor, solution: Tensor) -> tuple[Tensor, Tensor]:
    """The solution is a product with the pseudo-inverse; the squared residuals have twice the residual as gradient."""
    vector = B.dim() == A.dim() - 1 and tuple(A.shape[:-1]) == tuple(B.shape)
    right = B.unsqueeze(-1) if vector else B
    of_a, of_b = zeros_like(A), zeros_like(right)
    if grads[0] is not None:
        grad = grads[0].unsqueeze(-1) if vector else grads[0]
        inverse = linalg_pinv(A)
        of_a = of_a + pinv_backward(matmul(grad, right.mH), inverse, A)
        of_b = of_b + matmul(inverse.mH, grad)
    if grads[1] is not None and grads[1].numel():
        found = solution.unsqueeze(-1) if vector else solution
        difference = (matmul(A, found) - right) * (2 * grads[1].unsqueeze(-2))
        of_a = of_a + matmul(difference, found.mH)
        of_b = of_b - difference
    return of_a, of_b.squeeze(-1) if vector else of_b


def matrix_exp_backward(grad: Tensor, self: Tensor) -> Tensor:
    """A block of the exponential of a matrix twice the size: the adjoint on the diagonal, the gradient beside it."""
    adjoint: Tensor = self.mH
    size = adjoint.shape[-1]
    upper = cat([adjoint, grad], -1)
    lower = cat([zeros_like(adjoint), adjoint], -1)
    whole: Tensor = linalg_matrix_exp(cat([upper, lower], -2))
    return whole.narrow(-2, 0, size).narrow(-1, size, size)
