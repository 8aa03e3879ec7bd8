"""How are inverses, determinants and solutions of square systems computed on the CPU?

Mirrors: aten/src/ATen/native/BatchLinearAlgebra.cpp, aten/src/ATen/native/BatchLinearAlgebraKernel.cpp
Differs: SciPy calls LAPACK, for one matrix after another; many small matrices are decomposed together by NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from glasstorch._tensor import Tensor
from glasstorch.core.errors import LinAlgError
from glasstorch.core.return_types import named_result
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.library import KernelTable
from glasstorch.kernels.iterator import allocate_output
from glasstorch.kernels.quiet import quietly
from glasstorch.kernels.structured import structured
from glasstorch.operators.shapes.linalg import decompositions as shapes
from glasstorch.operators.shapes.result import Result

CPU = KernelTable("CPU")
Outputs = tuple[Tensor, ...]

LARGEST_BATCHED = 16  # rows and columns up to which a batch is processed as a whole
FEWEST_BATCHED = 16  # matrices from which a batch is processed as a whole
MATRICES_PER_BLOCK = 1024  # matrices eliminated at a time: they stay in cache


def outputs(results: tuple[Result, ...], out: Outputs | None) -> Outputs:
    """The tensors to write to: those given as out=, or fresh ones."""
    return tuple(map(allocate_output, results)) if out is None else out


def lapack(name: str, array: Array) -> Callable[..., Any]:
    """The LAPACK routine for the array's dtype. SciPy is imported on first use."""
    from scipy.linalg import get_lapack_funcs

    return get_lapack_funcs((name,), (array,))[0]  # type: ignore[no-any-return]


def many_small(array: Array) -> bool:
    """Whether one NumPy call for the whole batch is faster than one LAPACK call per matrix."""
    rows, columns = array.shape[-2:]
    return bool(max(rows, columns) <= LARGEST_BATCHED and array.size >= FEWEST_BATCHED * rows * columns)


def first_failure(info: Array) -> tuple[str, int]:
    """The first matrix of the batch that failed, as a phrase for messages, and LAPACK's info for it."""
    at = int(np.flatnonzero(info)[0])
    return f"(Batch element {at}): " if info.ndim else "", int(info.reshape(-1)[at])


# LU -------------------------------------------------------------------------------------------------------------


def factorised(array: Array) -> tuple[Array, Array, Array]:
    """The LU decomposition of each matrix, its pivots (from 1), and the position of a zero pivot (from 1)."""
    batch, (rows, columns) = array.shape[:-2], array.shape[-2:]
    lu = np.empty(array.shape, array.dtype)
    pivots = np.empty((*batch, min(rows, columns)), np.int32)
    info = np.zeros(batch, np.int32)
    if not array.size:
        return lu, pivots, info
    if many_small(array):
        whole = array.reshape(-1, rows, columns)
        flat = lu.reshape(whole.shape), pivots.reshape(len(whole), -1), info.reshape(-1)
        for start in range(0, len(whole), MATRICES_PER_BLOCK):
            some = slice(start, start + MATRICES_PER_BLOCK)
            eliminate(whole[some], *(part[some] for part in flat))
        return lu, pivots, info
    routine = lapack("getrf", array)
    for index in np.ndindex(*batch):
        lu[index], found, info[index] = routine(array[index])
        pivots[index] = found + 1
    return lu, pivots, info


def eliminate(matrices: Array, lu: Array, pivots: Array, info: Array) -> None:
    """Gaussian elimination of a batch (count, rows, columns), each step for all matrices together.

    As in LAPACK, the pivot is the element of its column with the largest |real| + |imag|.
    """
    rows, columns = matrices.shape[1:]
    every = np.arange(len(matrices))
    work = matrices.transpose(1, 2, 0).copy()  # (rows, columns, count)
    for k in range(min(rows, columns)):
        column = work[k:, k]
        sizes = abs(column.real) + abs(column.imag) if np.iscomplexobj(column) else abs(column)
        chosen = sizes.argmax(0) + k
        pivots[:, k] = chosen + 1
        largest = work[chosen, :, every]  # (count, columns)
        work[chosen, :, every] = work[k].T
        work[k] = largest.T
        zero = work[k, k] == 0
        info[zero & (info == 0)] = k + 1
        work[k + 1 :, k] /= np.where(zero, 1, work[k, k])
        work[k + 1 :, k + 1 :] -= work[k + 1 :, k, None] * work[k, None, k + 1 :]
    lu[...] = work.transpose(2, 0, 1)


def lapack_order(A: Tensor) -> tuple[Array, bool]:
    """The matrices for LAPACK, which is column-major: row-major ones are passed transposed; and whether they are."""
    turned = A.is_row_major() and not A.dtype.is_complex
    return (A.array().swapaxes(-1, -2) if turned else A.array()), turned


# Substitution ---------------------------------------------------------------------------------------------------


def are_many(batch: tuple[int, ...], size: int) -> bool:
    """Whether a batch is large, and its systems small, enough to solve all of them together, row by row."""
    return size <= LARGEST_BATCHED and prod(batch) >= FEWEST_BATCHED


def order_of_rows(pivots: Array, rows: int) -> Array:
    """The row permutation (from 0) that the exchanges amount to."""
    flat = pivots.reshape(prod(pivots.shape[:-1]), pivots.shape[-1]).astype(np.int64) - 1
    every = np.arange(len(flat))
    order: Array = np.tile(np.arange(rows), (len(flat), 1))
    for row in range(flat.shape[-1]):
        other = flat[:, row]
        order[every, row], order[every, other] = order[every, other], order[every, row].copy()
    return order.reshape(*pivots.shape[:-1], rows)


def substituted(A: Array, B: Array, batch: tuple[int, ...], upper: bool, unit: bool) -> Array:
    """Solve `A @ X = B` for triangular A, one row of all systems at a time."""
    size, columns = B.shape[-2:]
    matrices = np.broadcast_to(A, (*batch, size, size)).reshape(-1, size, size).transpose(1, 2, 0).copy()
    found = np.broadcast_to(B, (*batch, size, columns)).reshape(-1, size, columns).transpose(1, 2, 0).copy()
    for row in reversed(range(size)) if upper else range(size):
        if not unit:
            found[row] /= matrices[row, row]
        rest = slice(0, row) if upper else slice(row + 1, size)
        found[rest] -= matrices[rest, row, None] * found[row]
    return found.transpose(2, 0, 1).reshape(*batch, size, columns)


def solved_together(LU: Array, pivots: Array, B: Array, batch: tuple[int, ...], transpose: bool) -> Array:
    """Row exchanges and two substitutions; for the transposed systems, the substitutions come first."""
    order = np.broadcast_to(order_of_rows(pivots, B.shape[-2]), (*batch, B.shape[-2]))[..., None]
    if not transpose:
        ordered = np.take_along_axis(np.broadcast_to(B, (*batch, *B.shape[-2:])), order, -2)
        return substituted(LU, substituted(LU, ordered, batch, False, True), batch, True, False)
    turned = LU.swapaxes(-1, -2)
    ordered = substituted(turned, substituted(turned, B, batch, False, False), batch, True, True)
    found = np.empty_like(ordered)
    np.put_along_axis(found, order, ordered, -2)
    return found


# Determinants and inverses --------------------------------------------------------------------------------------


def det(keys: int, A: Tensor, out: Outputs | None = None) -> Outputs:
    """The product of the diagonal of U, with the sign of the row exchanges."""
    made = outputs(shapes.det(A), out)
    shapes.check_lapack(A, "lu_factor")
    lu, pivots, _ = quietly(factorised, lapack_order(A)[0])
    diagonal = np.diagonal(lu, axis1=-2, axis2=-1)
    write(made, (quietly(np.prod, diagonal, -1) * exchanges(pivots), lu, pivots))
    return made


def slogdet(keys: int, A: Tensor, out: Outputs | None = None) -> Outputs:
    """The sign and logarithm of the determinant, from the diagonal of U."""
    made = outputs(shapes.slogdet(A), out)
    shapes.check_lapack(A, "lu_factor")
    lu, pivots, _ = quietly(factorised, lapack_order(A)[0])
    diagonal = np.diagonal(lu, axis1=-2, axis2=-1)
    sign = quietly(np.prod, quietly(np.sign, diagonal), -1) * exchanges(pivots)
    write(made, (sign, quietly(np.log, abs(diagonal)).sum(-1), lu, pivots))
    return made


def exchanges(pivots: Array) -> Array:
    """1 for an even number of row exchanges, -1 for an odd one."""
    moved = pivots != np.arange(1, pivots.shape[-1] + 1)
    signs: Array = 1 - 2 * (moved.sum(-1) % 2)
    return signs


def write(made: Outputs, values: tuple[Any, ...]) -> None:
    """Copy results into their tensors."""
    for tensor, value in zip(made, values, strict=True):
        tensor.array()[...] = value


def inv_ex(keys: int, A: Tensor, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """The inverse of each matrix."""
    made = outputs(shapes.inv_ex(A, check_errors), out)
    shapes.check_lapack(A, "linalg_inv_cpu")
    inverses, info = inverted(A.array())
    if check_errors and info.any():
        batch, order = first_failure(info)
        raise LinAlgError(
            f"linalg.inv_ex: {batch}The diagonal element {order} is zero, the inversion could not be completed because "
            f"the input matrix is singular."
        )
    write(made, (inverses, info))
    return named_result("linalg_inv_ex", made)


def inverted(array: Array) -> tuple[Array, Array]:
    """The inverses, non-finite for singular matrices, and the position of a zero pivot (from 1)."""
    lu, pivots, info = quietly(factorised, array)
    size = array.shape[-1]
    identity = np.broadcast_to(np.eye(size, dtype=array.dtype), array.shape)
    if info.any() or are_many(array.shape[:-2], size):
        return quietly(with_factors, lu, pivots, identity, False), info
    inverses = np.empty(array.shape, array.dtype)
    if array.size:
        routine, space = lapack("getri", array), int(lapack("getri_lwork", array)(size)[0].real)
        for index in np.ndindex(*array.shape[:-2]):
            inverses[index] = routine(lu[index], pivots[index] - 1, lwork=space)[0]
    return inverses, info


# Linear systems -------------------------------------------------------------------------------------------------


def solve_ex(keys: int, A: Tensor, B: Tensor, left: bool, check_errors: bool, out: Outputs | None = None) -> Outputs:
    """`A @ X = B`, or `X @ A = B`; also the LU decomposition, for the gradient, and info."""
    results = shapes.solve_ex(A, B, left, check_errors)
    shapes.check_lapack(A, "lu_factor")
    ordered, turned = lapack_order(A)
    lu, pivots, info = quietly(factorised, ordered)
    if check_errors and info.any():
        batch_element, _ = first_failure(info)
        raise LinAlgError(f"torch.linalg.solve: {batch_element}The solver failed because the input matrix is singular.")
    right = B.array()
    vector = shapes.is_vector_case(A, B)
    if vector:
        right = right[..., None]
    if not left:
        right = right.swapaxes(-1, -2)
    batch = np.broadcast_shapes(right.shape[:-2], lu.shape[:-2])
    right = np.broadcast_to(right, (*batch, *right.shape[-2:]))
    solution = quietly(with_factors, lu, pivots, right, turned == left)
    if not left:
        solution = solution.swapaxes(-1, -2)
    made = outputs(results, out)
    write(made, (solution[..., 0] if vector else solution, lu, pivots, info))
    return made


def with_factors(lu: Array, pivots: Array, right: Array, transpose: bool) -> Array:
    """Solve a batch of systems from the LU decomposition of the matrices, or of their transposes.

    The solutions for singular matrices are non-finite.
    """
    batch = right.shape[:-2]
    if right.size and are_many(batch, lu.shape[-1]):
        return solved_together(lu, pivots, right, batch, transpose)
    solution = np.empty(right.shape, right.dtype)
    if not right.size:
        return solution
    routine = lapack("getrs", lu)
    order = np.broadcast_to(pivots - 1, (*batch, pivots.shape[-1]))
    factors = np.broadcast_to(lu, (*batch, *lu.shape[-2:]))
    for index in np.ndindex(*batch):
        solution[index] = routine(factors[index], order[index], right[index], trans=int(transpose))[0]
    return solution


structured(CPU, "linalg_inv_ex", inv_ex)
structured(CPU, "_linalg_det", det)
structured(CPU, "_linalg_slogdet", slogdet)
structured(CPU, "_linalg_solve_ex", solve_ex)
