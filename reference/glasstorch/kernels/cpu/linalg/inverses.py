"""How are inverses, determinants and solutions of square systems computed on the CPU?

Each from the LU decomposition, by LAPACK.

Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp, aten/src/ATen/native/BatchLinearAlgebraKernel.cpp
Differs: an inverse is the solution for the identity (PyTorch's linalg_inv_ex_out does the same).
"""

from __future__ import annotations

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import LinAlgError
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import slot
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.cpu.linalg.batches import INFO, Outputs, each, identities, kind, lapack, refuse, written
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.linalg import decompositions as shapes

CPU = KernelTable("CPU")


@slot
def factorised(array: Array) -> tuple[Array, Array, Array]:
    """The LU decomposition of each matrix, its pivots (from 1), and the position of a zero pivot (from 1)."""
    routine = lapack("getrf", array)

    def factors(matrix: Array) -> tuple[Array, Array, int]:
        lu, pivots, info = routine(matrix)
        return lu, pivots + 1, info

    kinds = (kind(array), ((min(array.shape[-2:]),), np.int32), INFO)
    lu, pivots, info = each(factors, array.shape[:-2], kinds, array)
    return lu, pivots, info


@slot
def solved(lu: Array, pivots: Array, right: Array, trans: int) -> Array:
    """Solve systems of matrices (`trans` 0), of their transposes (1) or of their adjoints (2), given LU decompositions.

    The solutions for singular matrices are non-finite.
    """
    routine = lapack("getrs", lu)
    batch = np.broadcast_shapes(lu.shape[:-2], right.shape[:-2])
    solution, _ = each(
        lambda lu, pivots, right: routine(lu, pivots[0] - 1, right, trans=trans),
        *(batch, (kind(right), INFO), lu, pivots[..., None, :], right),
    )
    return solution


@slot
def inverted(lu: Array, pivots: Array, info: Array) -> Array:
    """The inverses from LU decompositions; non-finite for singular matrices."""
    size = lu.shape[-1]
    return solved.run(lu, pivots, identities(lu.shape[:-2], size, size, lu.dtype), 0)


def in_memory_order(A: Tensor) -> tuple[Array, bool]:
    """The matrices for LAPACK, which is column-major: row-major ones are passed transposed; and whether they are."""
    turned = A.is_row_major() and not A.dtype.is_complex
    return (A.array().swapaxes(-1, -2) if turned else A.array()), turned


def det(keys: int, A: Tensor, out: Outputs | None = None) -> Outputs:
    """The product of the diagonal of U, with the sign of the row exchanges."""
    results = shapes.det(A)
    diagonal, lu, pivots = diagonal_of_factors(A)
    return written(results, (quietly(np.prod, diagonal, -1) * exchanges(pivots), lu, pivots), out)


def slogdet(keys: int, A: Tensor, out: Outputs | None = None) -> Outputs:
    """The sign and logarithm of the determinant, from the diagonal of U."""
    results = shapes.slogdet(A)
    diagonal, lu, pivots = diagonal_of_factors(A)
    sign = quietly(np.prod, quietly(np.sign, diagonal), -1) * exchanges(pivots)
    return written(results, (sign, quietly(np.log, abs(diagonal)).sum(-1), lu, pivots), out)


def diagonal_of_factors(A: Tensor) -> tuple[Array, Array, Array]:
    """The diagonal of U, and the whole decomposition."""
    shapes.check_lapack(A, "lu_factor")
    lu, pivots, _ = factorised.run(in_memory_order(A)[0])
    return np.diagonal(lu, axis1=-2, axis2=-1), lu, pivots


def exchanges(pivots: Array) -> Array:
    """1 for an even number of row exchanges, -1 for an odd one."""
    moved = pivots != np.arange(1, pivots.shape[-1] + 1)
    signs: Array = 1 - 2 * (moved.sum(-1) % 2)
    return signs


def inv_ex(keys: int, A: Tensor, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """The inverse of each matrix."""
    results = shapes.inv_ex(A, check_errors)
    shapes.check_lapack(A, "linalg_inv_cpu")
    lu, pivots, info = factorised.run(A.array())
    if check_errors:
        refuse(LinAlgError, "linalg.inv_ex", info, NOT_INVERTED)
    return written(results, (inverted.run(lu, pivots, info), info), out, "linalg_inv_ex")


NOT_INVERTED = (
    "The diagonal element {at} is zero, the inversion could not be completed because the input matrix is singular."
)


def solve_ex(keys: int, A: Tensor, B: Tensor, left: bool, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """`A @ X = B`, or `X @ A = B`; also the LU decomposition, for the gradient, and info."""
    results = shapes.solve_ex(A, B, left, check_errors)
    shapes.check_lapack(A, "lu_factor")
    ordered, turned = in_memory_order(A)
    lu, pivots, info = factorised.run(ordered)
    if check_errors:
        reason = "The solver failed because the input matrix is singular."
        refuse(LinAlgError, "torch.linalg.solve", info, reason)
    vector = shapes.is_vector_case(A, B)
    right = B.array()[..., None] if vector else B.array()
    solution = solved.run(lu, pivots, right if left else right.swapaxes(-1, -2), int(turned == left))
    solution = solution if left else solution.swapaxes(-1, -2)
    return written(results, (solution[..., 0] if vector else solution, lu, pivots, info), out)


structured(CPU, "linalg_inv_ex", inv_ex)
structured(CPU, "_linalg_det", det)
structured(CPU, "_linalg_slogdet", slogdet)
structured(CPU, "_linalg_solve_ex", solve_ex)
