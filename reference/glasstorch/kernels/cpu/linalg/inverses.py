"""How are inverses, determinants and solutions of square systems computed on the CPU?

Each from the LU decomposition.

Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp, aten/src/ATen/native/BatchLinearAlgebraKernel.cpp
Differs: SciPy calls LAPACK for one matrix after another.
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import LinAlgError
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.kernels.cpu.linalg.batches import INFO, each, identities, kernel, kind, lapack, refuse
from glasstorch.kernels.quiet import quietly
from glasstorch.operators.shapes.linalg.decompositions import is_vector_case

NOT_INVERTED = (
    "The diagonal element {at} is zero, the inversion could not be completed because the input matrix is singular."
)


@slot
def factorised(array: Array) -> tuple[Array, ...]:
    """The LU decomposition of each matrix, its pivots (from 1), and the position of a zero pivot (from 1)."""
    kinds = (kind(array), ((min(array.shape[-2:]),), np.int32), INFO)
    lu, pivots, info = each.run(lapack("getrf", array.dtype), kinds, array)
    return lu, pivots + np.int32(1), info


@slot
def solved(lu: Array, pivots: Array, right: Array, trans: int) -> Array:
    """Solve systems of matrices (`trans` 0), of their transposes (1) or of their adjoints (2), given LU decompositions.

    The solutions for singular matrices are non-finite.
    """
    order = (pivots - 1)[..., None, :]
    return each.run(lapack("getrs", lu.dtype), (kind(right), INFO), lu, order, right, trans=trans)[0]


@slot
def inverted(lu: Array, pivots: Array, info: Array) -> Array:
    """The inverses from LU decompositions; non-finite for singular matrices."""
    return solved.run(lu, pivots, identities(lu.shape, lu.dtype), 0)


def in_memory_order(A: Tensor) -> tuple[Array, bool]:
    """The matrices for LAPACK, which is column-major: row-major ones are passed transposed; and whether they are."""
    turned = A.is_row_major() and not A.dtype.is_complex
    return (A.array().swapaxes(-1, -2) if turned else A.array()), turned


@kernel("_linalg_det", "lu_cpu")
def det(A: Tensor) -> tuple[Array, ...]:
    """The product of the diagonal of U, with the sign of the row exchanges; also the decomposition."""
    lu, pivots, _ = factorised.run(in_memory_order(A)[0])
    return quietly(np.prod, np.diagonal(lu, axis1=-2, axis2=-1), -1) * exchanges(pivots), lu, pivots


@kernel("_linalg_slogdet")
def slogdet(A: Tensor) -> tuple[Array, ...]:
    """The sign and logarithm of the determinant, from the diagonal of U; also the decomposition."""
    lu, pivots, _ = factorised.run(in_memory_order(A)[0])
    diagonal = np.diagonal(lu, axis1=-2, axis2=-1)
    sign = quietly(np.prod, quietly(np.sign, diagonal), -1) * exchanges(pivots)
    return sign, quietly(np.log, abs(diagonal)).sum(-1), lu, pivots


def exchanges(pivots: Array) -> Array:
    """1 for an even number of row exchanges, -1 for an odd one."""
    moved = pivots != np.arange(1, pivots.shape[-1] + 1)
    signs: Array = 1 - 2 * (moved.sum(-1) % 2)
    return signs


@kernel("linalg_inv_ex")
def inv_ex(A: Tensor, check_errors: bool) -> tuple[Array, ...]:
    """The inverse of each matrix."""
    lu, pivots, info = factorised.run(A.array())
    if check_errors:
        refuse(LinAlgError, "linalg.inv_ex", info, NOT_INVERTED)
    return inverted.run(lu, pivots, info), info


@kernel("_linalg_solve_ex", "lu_cpu")
def solve_ex(A: Tensor, B: Tensor, left: bool, check_errors: bool) -> tuple[Array, ...]:
    """`A @ X = B`, or `X @ A = B`; also the LU decomposition, for the gradient, and info."""
    ordered, turned = in_memory_order(A)
    lu, pivots, info = factorised.run(ordered)
    if check_errors:
        reason = "The solver failed because the input matrix is singular."
        refuse(LinAlgError, "torch.linalg.solve", info, reason)
    vector = is_vector_case(A, B)
    right = B.array()[..., None] if vector else B.array()
    solution = solved.run(lu, pivots, right if left else right.swapaxes(-1, -2), int(turned == left))
    solution = solution if left else solution.swapaxes(-1, -2)
    return solution[..., 0] if vector else solution, lu, pivots, info
