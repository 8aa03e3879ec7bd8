"""How are many small matrices handled together, and norms computed piece by piece?

# Note [Small matrices together]
A call of LAPACK through SciPy costs some microseconds, whatever the matrix. Decompositions for which NumPy has a loop
over the batch are left to it. Elimination, substitution and reflections are done by NumPy's row operations, each for
all matrices of the batch at once; the batch is the last dimension then, which gives NumPy long loops.

Mirrors: what batched routines of cuBLAS and MAGMA do on the GPU (aten/src/ATen/native/cuda/linalg)
Differs: PyTorch's CPU kernels call LAPACK for one matrix after another, to which a call from C++ costs little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any, Literal

import numpy as np

from glasstorch.core.geometry import Shape
from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.blocks import reduce_in_pieces
from glasstorch.kernels.cpu.linalg.batches import (
    Kind,
    Routine,
    adjoint_of,
    each,
    identities,
    kind,
    lapack,
    spaced,
    workspaces,
)
from glasstorch.kernels.cpu.linalg.factors import (
    Mode,
    cholesky_factor,
    decomposed,
    first_columns,
    first_nan,
    half_of_inverse,
    order_of_rows,
    packed,
)
from glasstorch.kernels.cpu.linalg.inverses import factorised, inverted, solved
from glasstorch.kernels.cpu.linalg.norms import norm
from glasstorch.kernels.cpu.linalg.solvers import multiplied, solved_by_cholesky, solved_by_triangle
from glasstorch.kernels.cpu.linalg.spectra import singular, symmetric
from glasstorch.kernels.cpu.reductions.sums import add_reduction
from glasstorch.kernels.quiet import quietly

WHEN = "many matrices, and small ones"


def are_many(batch: tuple[int, ...], size: int) -> bool:
    """Whether a batch is large, and its systems small, enough to solve all of them together, row by row."""
    return size <= thresholds.MATRICES_TOGETHER_TO and prod(batch) >= thresholds.MATRICES_TOGETHER_FROM


def batch_of(A: Array, B: Array) -> tuple[int, ...]:
    """The batch to which matrices of two smaller ones are broadcast."""
    batch = A.shape[:-2]
    return batch if batch == B.shape[:-2] else np.broadcast_shapes(batch, B.shape[:-2])


def many_small(array: Array) -> bool:
    """Whether one NumPy call for the whole batch is faster than one LAPACK call per matrix."""
    rows, columns = array.shape[-2:]
    return bool(
        max(rows, columns) <= thresholds.MATRICES_TOGETHER_TO
        and array.size >= thresholds.MATRICES_TOGETHER_FROM * rows * columns
    )


# One matrix after another -----------------------------------------------------------------------------------------


@fast(each, when="batches of equal sizes", benchmark="fast: linalg.ldl_factor, 1,000 of 4x4", exact="bits")
def each_gathered(routine: Routine, kinds: Sequence[Kind], *arrays: Array, **options: Any) -> tuple[Array, ...]:
    """The results for one matrix as they are; those for many small ones, copied by one call of NumPy."""
    batch = arrays[0].shape[:-2]
    for array in arrays:
        if not array.size or array.shape[:-2] != batch:
            return each.plain(routine, kinds, *arrays, **options)
    if not batch:
        return tuple(map(np.asarray, routine(*arrays, **options)[: len(kinds)]))
    if len(batch) > 1:
        flat = [array.reshape(-1, *array.shape[-2:]) for array in arrays]
        return tuple([x.reshape(*batch, *x.shape[1:]) for x in each_gathered(routine, kinds, *flat, **options)])
    (count,) = batch
    found = [uninitialised(count, *one) for one in kinds]
    call = partial(routine, **options)
    if max([whole.size for whole in found]) > count * thresholds.GATHERED_TO:
        for i, parts in enumerate(map(call, *arrays)):
            for whole, part in zip(found, parts, strict=False):
                whole[i] = part
    else:
        for start in range(0, count, thresholds.MATRICES_IN_BLOCK):
            some = slice(start, start + thresholds.MATRICES_IN_BLOCK)
            gathered = zip(*map(call, *[array[some] for array in arrays]), strict=True)
            for whole, column in zip(found, gathered, strict=False):
                whole[some] = column
    return tuple(found)


def uninitialised(count: int, sizes: tuple[int, ...], dtype: Any) -> Array:
    """Vectors, or column-major matrices, since such ones come from LAPACK and are wanted in the end."""
    whole: Array = np.empty((count, *reversed(sizes)), dtype)
    return whole.swapaxes(1, 2) if len(sizes) == 2 else whole


# LU -------------------------------------------------------------------------------------------------------------


@fast(factorised, when=WHEN, benchmark="fast: linalg.solve, 1,000 of 4x4", exact=8.0)
def factorised_together(array: Array) -> tuple[Array, ...]:
    """Gaussian elimination of MATRICES_IN_BLOCK matrices at a time."""
    if not (many_small(array) and array.size):
        return factorised.plain(array)
    batch, (rows, columns) = array.shape[:-2], array.shape[-2:]
    lu = np.empty(array.shape, array.dtype)
    pivots = np.empty((*batch, min(rows, columns)), np.int32)
    info = np.zeros(batch, np.int32)
    whole = array.reshape(-1, rows, columns)
    flat = lu.reshape(whole.shape), pivots.reshape(len(whole), -1), info.reshape(-1)
    for start in range(0, len(whole), thresholds.MATRICES_IN_BLOCK):
        some = slice(start, start + thresholds.MATRICES_IN_BLOCK)
        quietly(eliminate, whole[some], *(part[some] for part in flat))
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


@fast(solved, when=WHEN, benchmark="fast: linalg.solve, 1,000 of 4x4", exact=8.0)
def solved_together(lu: Array, pivots: Array, right: Array, trans: int) -> Array:
    """Row exchanges and two substitutions; for the transposed systems, the substitutions come first."""
    batch = batch_of(lu, right)
    if not (are_many(batch, lu.shape[-1]) and right.size):
        return solved.plain(lu, pivots, right, trans)
    order = np.broadcast_to(order_of_rows(pivots, right.shape[-2]), (*batch, right.shape[-2]))[..., None]
    if not trans:
        ordered = np.take_along_axis(np.broadcast_to(right, (*batch, *right.shape[-2:])), order, -2)
        return substituted(lu, substituted(lu, ordered, batch, False, True), batch, True, False)
    turned = adjoint_of(lu) if trans == 2 else lu.swapaxes(-1, -2)
    ordered = substituted(turned, substituted(turned, right, batch, False, False), batch, True, True)
    found = np.empty_like(ordered)
    np.put_along_axis(found, order, ordered, -2)
    return found


def substituted(A: Array, B: Array, batch: tuple[int, ...], upper: bool, unit: bool) -> Array:
    """Solve `A @ X = B` for triangular A, one row of all systems at a time."""
    return quietly(_substituted, A, B, batch, upper, unit)


def _substituted(A: Array, B: Array, batch: tuple[int, ...], upper: bool, unit: bool) -> Array:
    size, columns = B.shape[-2:]
    matrices = np.broadcast_to(A, (*batch, size, size)).reshape(-1, size, size).transpose(1, 2, 0).copy()
    found = np.broadcast_to(B, (*batch, size, columns)).reshape(-1, size, columns).transpose(1, 2, 0).copy()
    for row in reversed(range(size)) if upper else range(size):
        if not unit:
            found[row] /= matrices[row, row]
        rest = slice(0, row) if upper else slice(row + 1, size)
        found[rest] -= matrices[rest, row, None] * found[row]
    return found.transpose(2, 0, 1).reshape(*batch, size, columns)


@fast(inverted, when="large matrices, or few, none singular", benchmark="fast: linalg.inv, 300x300", exact=8.0)
def inverted_triangle(lu: Array, pivots: Array, info: Array) -> Array:
    """The inverse of U, then the solution with L: two thirds of the work, because U's inverse is a triangle too."""
    size = lu.shape[-1]
    if not lu.size or info.any() or are_many(lu.shape[:-2], size):
        return inverted.plain(lu, pivots, info)
    (space,) = workspaces("getri", lu.dtype, size)
    order = (pivots - 1)[..., None, :]
    return each.run(lapack("getri", lu.dtype), (kind(lu),), lu, order, lwork=space)[0]


# Triangular matrices --------------------------------------------------------------------------------------------


@fast(solved_by_triangle, when=WHEN, benchmark="fast: linalg.solve_triangular, 1,000 of 4x4", exact=8.0)
def solved_by_triangle_together(A: Array, B: Array, upper: bool, left: bool, transpose: bool, unit: bool) -> Array:
    """By substitution from the left; other systems are transposed. See Note [Small matrices together]."""
    batch = batch_of(A, B)
    if not (are_many(batch, A.shape[-1]) and A.size and B.size):
        return solved_by_triangle.plain(A, B, upper, left, transpose, unit)
    if not left:
        A, B, upper = A.swapaxes(-1, -2), B.swapaxes(-1, -2), not upper
    if transpose:
        A, upper = A.swapaxes(-1, -2), not upper
    found = substituted(A, B, batch, upper, unit)
    return found if left else found.swapaxes(-1, -2)


@fast(solved_by_cholesky, when=WHEN, benchmark="fast: linalg.solve_triangular, 1,000 of 4x4", exact=8.0)
def solved_by_cholesky_together(factor: Array, right: Array, upper: bool) -> Array:
    """By two substitutions."""
    batch = batch_of(factor, right)
    if not (are_many(batch, right.shape[-2]) and right.size):
        return solved_by_cholesky.plain(factor, right, upper)
    lower = adjoint_of(factor) if upper else factor
    return substituted(adjoint_of(lower), substituted(lower, right, batch, False, False), batch, True, False)


# Cholesky -------------------------------------------------------------------------------------------------------


@fast(cholesky_factor, when=WHEN, benchmark="fast: linalg.cholesky, 1,000 of 4x4", exact=4.0)
def cholesky_factor_together(array: Array, upper: bool) -> tuple[Array, Array]:
    """By NumPy, unless one matrix has no factor: LAPACK says which, and factorizes the others."""
    if many_small(array) and array.size:
        try:
            triangle = quietly(np.linalg.cholesky, array, upper=upper)
        except np.linalg.LinAlgError:
            pass
        else:
            return triangle, first_nan(triangle, np.zeros(array.shape[:-2], np.int32))
    return cholesky_factor.plain(array, upper)


@fast(half_of_inverse, when=WHEN, benchmark="fast: cholesky_inverse, 1,000 of 4x4", exact=8.0)
def inverse_of_product(triangle: Array, upper: bool) -> tuple[Array, ...]:
    """Products of the inverted factors. As in LAPACK, the diagonals are taken to be real."""
    batch, size = triangle.shape[:-2], triangle.shape[-1]
    if not (are_many(batch, size) and triangle.size):
        return half_of_inverse.plain(triangle, upper)
    zero = np.diagonal(triangle, axis1=-2, axis2=-1) == 0
    inverses = substituted(triangle, np.eye(size, dtype=triangle.dtype), batch, upper, False)
    diagonal = np.einsum("...ii->...i", inverses)  # a view
    diagonal[...] = diagonal.real
    factors = (inverses, adjoint_of(inverses)) if upper else (adjoint_of(inverses), inverses)
    product: Array = quietly(lambda: np.matmul(*factors))
    return product, np.where(zero.any(-1), zero.argmax(-1) + 1, 0).astype(np.int32)


# Householder reflections ----------------------------------------------------------------------------------------


@fast(packed, when="large matrices, or few", benchmark="fast: geqrf, 64x64", exact=8.0)
def packed_by_each(array: Array) -> tuple[Array, ...]:
    """By LAPACK through SciPy, which takes less time for a large matrix than NumPy does."""
    if many_small(array) or not array.size:
        return packed.plain(array)
    rows, columns = array.shape[-2:]
    (space,) = workspaces("geqrf", array.dtype, rows, columns)
    kinds = (kind(array), ((min(rows, columns),), array.dtype))
    return each.run(lapack("geqrf", array.dtype), kinds, array, lwork=space)


@fast(decomposed, when="large matrices, or few", benchmark="fast: linalg.qr, 64x64", exact=8.0)
def decomposed_by_each(array: Array, mode: Mode) -> tuple[Array | None, Array]:
    """The decomposition of each matrix in packed form, unpacked."""
    if many_small(array) or not array.size:
        return decomposed.plain(array, mode)
    rows, columns = array.shape[-2:]
    inner = rows if mode == "complete" else min(rows, columns)
    (space,) = workspaces("geqrf", array.dtype, rows, columns)
    factor = lapack("geqrf", array.dtype)
    sample = np.empty((inner, rows), array.dtype).T, np.empty(min(rows, columns), array.dtype)
    multiply = spaced(lapack("orgqr", array.dtype), *sample)

    def triangle_and_columns(matrix: Array) -> tuple[Array, ...]:
        both, factors, _, _ = factor(matrix, lwork=space)
        triangle = np.triu(both[:inner])
        if mode == "r":
            return (triangle,)
        vectors = both[:, :inner]
        if inner > columns:
            vectors = np.zeros((rows, inner), array.dtype)
            vectors[:, :columns] = both
        return triangle, multiply(vectors, factors)[0]

    kinds = (((inner, columns), array.dtype), ((rows, inner), array.dtype))[: 1 if mode == "r" else 2]
    triangle, *orthogonal = each.run(triangle_and_columns, kinds, array)
    return orthogonal[0] if orthogonal else None, triangle


@fast(first_columns, when=WHEN, benchmark="fast: linalg.householder_product, 1,000 of 4x4", exact=8.0)
def first_columns_together(vectors: Array, factors: Array) -> Array:
    """The reflections of the identity."""
    if not (many_small(vectors) and factors.size):
        return first_columns.plain(vectors, factors)
    identity = identities(vectors.shape, vectors.dtype)
    return quietly(reflected, vectors, factors, identity, False)


@fast(multiplied, when=WHEN, benchmark="fast: ormqr, 1,000 of 4x4", exact=8.0)
def multiplied_together(vectors: Array, factors: Array, other: Array, left: bool, transpose: bool) -> Array:
    """The reflections of the matrices, or of their adjoints."""
    if not (many_small(other) and other.size):
        return multiplied.plain(vectors, factors, other, left, transpose)
    product = quietly(reflected, vectors, factors, other if left else adjoint_of(other), transpose == left)
    return product if left else adjoint_of(product)


def reflected(vectors: Array, factors: Array, other: Array, adjoint: bool) -> Array:
    """The product of the reflections, or its adjoint, times each matrix of a batch, one reflection at a time."""
    below, scales, result = (
        np.moveaxis(part.reshape(-1, *part.shape[other.ndim - 2 :]), 0, -1).copy() for part in (vectors, factors, other)
    )
    if adjoint:
        scales = scales.conj()
    for k in range(len(scales)) if adjoint else reversed(range(len(scales))):
        vector = below[k + 1 :, k, None]  # its leading 1 is not stored
        along = (result[k] + (vector.conj() * result[k + 1 :]).sum(0)) * scales[k]
        result[k] -= along
        result[k + 1 :] -= vector * along
    return np.moveaxis(result, -1, 0).reshape(other.shape)


# Spectra --------------------------------------------------------------------------------------------------------


@fast(symmetric, when=WHEN, benchmark="fast: linalg.eigh, 1,000 of 4x4", exact=32.0)
def symmetric_together(array: Array, lower: bool, compute_v: bool) -> tuple[Array, ...]:
    """By NumPy, unless one matrix fails: LAPACK says which."""
    triangle: Literal["L", "U"] = "L" if lower else "U"
    if many_small(array) and array.size:
        try:
            if compute_v:
                values, vectors = quietly(np.linalg.eigh, array, triangle)
                return values, vectors
            return quietly(np.linalg.eigvalsh, array, triangle), array
        except np.linalg.LinAlgError:
            pass
    return symmetric.plain(array, lower, compute_v)


@fast(singular, when=WHEN, benchmark="fast: linalg.svd, 1,000 of 4x4", exact=32.0)
def singular_together(array: Array, full_matrices: bool, compute_uv: bool) -> tuple[Any, ...]:
    """By NumPy, unless one matrix fails: LAPACK says which."""
    if many_small(array) and array.size:
        try:
            if compute_uv:
                left, values, right = quietly(np.linalg.svd, array, full_matrices)
                return left, values, right
            return None, quietly(np.linalg.svd, array, compute_uv=False), None
        except np.linalg.LinAlgError:
            pass
    return singular.plain(array, full_matrices, compute_uv)


# Norms ----------------------------------------------------------------------------------------------------------

largest: Callable[..., Any] = np.maximum.reduce
smallest: Callable[..., Any] = np.minimum.reduce
NO_ROOT = (0, 1, math.inf, -math.inf)  # orders whose sum or extremum is the norm


@fast(norm, when="always", benchmark="fast: norm of 1e6 float32", exact=8.0)
def norm_in_pieces(array: Array, dtype: np.dtype[Any], order: float, dims: Shape, keepdim: bool) -> Any:
    """The norm over dimensions, computed piece by piece in `dtype`, or in float32 for half precision."""
    wide = np.dtype(np.float32) if dtype.itemsize == 2 else dtype
    if order == 2 and wide.kind == "f" and array.dtype == wide:  # a square needs no absolute value
        return np.sqrt(squares(array, dims, keepdim))
    reduce, join = REDUCED.get(order) or (powers(order), add_reduction)

    def piece(part: Array, dims: Shape) -> Array:
        sizes = np.absolute(part.astype(wide, copy=False))
        return np.asarray(reduce(sizes, dims, keepdims=True))

    def joined(parts: Array, dims: Shape) -> Array:
        return np.asarray(join(parts, dims, keepdims=True))

    total = reduce_in_pieces(piece, joined, array, dims, keepdim)
    if order in NO_ROOT:
        return total
    return np.sqrt(total) if order == 2 else np.power(total, 1 / total.dtype.type(order))


def powers(order: float) -> Callable[..., Any]:
    """A function that sums powers of non-negative real numbers."""
    return lambda sizes, dims, keepdims: add_reduction(
        np.power(sizes, sizes.dtype.type(order)), dims, keepdims=keepdims
    )


def squares(array: Array, dims: Shape, keepdims: bool) -> Array:
    """The sum of squares over dimensions, without an array of the squares."""
    every = list(range(array.ndim))
    kept = [d for d in every if d not in dims]
    total: Array = np.asarray(np.einsum(array, every, array, every, kept))
    return total.reshape([1 if d in dims else array.shape[d] for d in every]) if keepdims else total


# order -> how absolute values of a piece are reduced, and how the results of pieces are combined
REDUCED: dict[float, tuple[Callable[..., Any], Callable[..., Any]]] = {
    math.inf: (largest, largest),
    -math.inf: (smallest, smallest),
    0: (np.count_nonzero, add_reduction),
    1: (add_reduction, add_reduction),
    2: (squares, add_reduction),
}
