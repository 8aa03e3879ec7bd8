"""What do factors of matrices hold, and what do systems solved with them give?

A triangle is read out of any matrix, so most rows need no matrix of a kind. LAPACK chooses the signs and exchanges of
LU, LDL and reflections as here, whoever calls it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.rows_linalg import SQUARE
from tests.agreement.samples import SAME, Row, always, call, row, t

Array = np.ndarray[Any, Any]
SINGLE_AND_DOUBLE = ("float32", "float64")
INT = always("int32")
MATRICES = (call(t(3, 3)), call(t(2, 3, 2)), call(t(2, 3, layout="transposed")), call(t(0, 2, 2)))
TRIANGLE = t(3, 3, low=0.5)
FACTOR = t(3, 3, low=0.5, grad=False)  # PyTorch's formula takes it that the other triangle is 0
BATCH = t(2, 3, 3, low=0.5)


def exchanges(*shape: int, rows: int = 3) -> Any:
    """Pivots: with which row, from 1, each row changes places."""
    return t(*shape, low=1, high=rows, dtype="int32", grad=False)


def lu_of(x: Array) -> Array:
    """Both triangles of each matrix; the input lies column by column for LAPACK, however it is stored."""
    return np.asarray(factored(x)[0])


def pivots_of(x: Array) -> Array:
    return np.asarray(factored(x)[1])


def factored(x: Array) -> tuple[Array, Array]:
    from scipy.linalg import lu_factor

    batch, inner = x.shape[:-2], min(x.shape[-2:])
    both, found = np.zeros(x.shape), np.zeros((*batch, inner))
    for index in np.ndindex(*batch):
        one, order = lu_factor(x[index])
        both[index], found[index] = one, order + 1
    return both, found


def plu(x: Array) -> tuple[Array, Array, Array]:
    from scipy.linalg import lu as factor

    return factor(x)  # type: ignore[no-any-return]


def unpacked(both: Array, found: Array, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    rows, inner = both.shape[-2], min(both.shape[-2:])
    permutation = np.zeros((*found.shape[:-1], rows, rows))
    for index in np.ndindex(*found.shape[:-1]):
        order = list(range(rows))
        for i, other in enumerate(found[index]):
            order[i], order[other - 1] = order[other - 1], order[i]
        permutation[index][order, range(rows)] = 1
    lower = np.tril(both[..., :inner], -1) + np.eye(rows, inner)
    none = np.zeros(0)
    triangles = (lower, np.triu(both[..., :inner, :])) if unpack_data else (none, none)
    return permutation if unpack_pivots else none, *triangles


def whole(both: Array, found: Array) -> Array:
    """The matrix whose LU decomposition this is."""
    permutation, lower, upper = unpacked(both, found)
    return permutation @ lower @ upper  # type: ignore[no-any-return]


def solved_by_lu(both: Array, found: Array, b: Array, left: bool = True, adjoint: bool = False) -> Array:
    a = whole(both, found)
    return solved(a.mT if adjoint else a, b, left)


def solved(a: Array, b: Array, left: bool = True) -> Array:
    return np.linalg.solve(a, b) if left else np.linalg.solve(a.mT, b.mT).mT


def triangle(x: Array, upper: bool, unitriangular: bool = False) -> Array:
    part = np.triu(x) if upper else np.tril(x)
    if unitriangular:
        part = part * (1 - np.eye(x.shape[-1])) + np.eye(x.shape[-1])
    return part


def by_triangle(a: Array, b: Array, upper: bool, left: bool = True, unitriangular: bool = False) -> Array:
    return solved(triangle(a, upper, unitriangular), b, left)


def squared(factor: Array, upper: bool = False) -> Array:
    """The matrix whose Cholesky triangle this is."""
    part = triangle(factor, upper)
    return part.mT @ part if upper else part @ part.mT


def ldl(x: Array) -> tuple[Array, Array]:
    from scipy.linalg.lapack import dsytrf

    both, found = np.zeros(x.shape), np.zeros(x.shape[:-1])
    for index in np.ndindex(*x.shape[:-2]):
        one, found[index], _ = dsytrf(x[index], lower=1)
        both[index] = np.tril(one)
    return both, found


def solved_by_ldl(both: Array, found: Array, b: Array, **_: Any) -> Array:
    from scipy.linalg.lapack import dsytrs

    return np.asarray(dsytrs(both, found, b, lower=1)[0])


def geqrf(x: Array) -> tuple[Array, Array]:
    turned, tau = np.linalg.qr(x, "raw")
    return turned.mT, tau


def reflected(vectors: Array, tau: Array, columns: int | None = None) -> Array:
    """The product of the reflections."""
    rows = vectors.shape[-2]
    v = np.tril(vectors, -1) + np.eye(rows, vectors.shape[-1])
    product = np.broadcast_to(np.eye(rows), (*vectors.shape[:-2], rows, rows))
    for i in range(tau.shape[-1]):
        one = v[..., i : i + 1]
        product = product @ (np.eye(rows) - tau[..., i, None, None] * (one @ one.mT))
    return product[..., : vectors.shape[-1]] if columns is None else product


def multiplied(vectors: Array, tau: Array, other: Array, left: bool = True, transpose: bool = False) -> Array:
    q = reflected(vectors, tau, vectors.shape[-2])
    q = q.mT if transpose else q
    return q @ other if left else other @ q


def exponential(x: Array) -> Array:
    from scipy.linalg import expm

    return np.asarray(expm(x))


def lstsq(a: Array, b: Array, *_: Any, **__: Any) -> Any:
    none = np.zeros(0)
    return np.linalg.pinv(a) @ b, none, np.full(a.shape[:-2], min(a.shape[-2:])), none


ROWS: tuple[Row, ...] = (
    # LU
    row("linalg_lu_factor_ex", lambda x, **_: (lu_of(x), pivots_of(x), np.zeros(x.shape[:-2])), *MATRICES,
        dtypes=SINGLE_AND_DOUBLE, result=(SAME, INT), tolerance=100),
    row("linalg_lu_factor", lambda x, **_: (lu_of(x), pivots_of(x)), *MATRICES[:2], dtypes=SINGLE_AND_DOUBLE,
        result=(SAME, INT), tolerance=100, cuda=False),
    row("linalg_lu", lambda x, **_: plu(x), *MATRICES[:3], dtypes=SINGLE_AND_DOUBLE, tolerance=100),
    row("lu_unpack", unpacked, call(t(3, 3), exchanges(3)), call(t(2, 3, 2), exchanges(2, 2)),
        call(t(2, 3), exchanges(2, rows=2), True, False), call(t(3, 3), exchanges(3), False), dtypes=SINGLE_AND_DOUBLE),
    row("linalg_lu_solve", solved_by_lu, call(BATCH, exchanges(2, 3), t(2, 3, 2)),
        call(TRIANGLE, exchanges(3), t(2, 3, 1)),
        call(TRIANGLE, exchanges(3), t(2, 3), left=False), call(TRIANGLE, exchanges(3), t(3, 2), adjoint=True),
        call(BATCH, exchanges(2, 3), t(2, 3), left=False, adjoint=True), dtypes=SINGLE_AND_DOUBLE, tolerance=1000),
    # LDL
    row("linalg_ldl_factor_ex", lambda x, **_: (*ldl(x), np.zeros(x.shape[:-2])), *SQUARE, dtypes=SINGLE_AND_DOUBLE,
        result=(SAME, INT), tolerance=100, differentiable=False),
    row("linalg_ldl_factor", lambda x, **_: ldl(x), *SQUARE, dtypes=SINGLE_AND_DOUBLE, result=(SAME, INT),
        tolerance=100, differentiable=False, cuda=False),
    row("linalg_ldl_solve", solved_by_ldl, call(TRIANGLE, exchanges(3), t(3, 2)), dtypes=SINGLE_AND_DOUBLE,
        tolerance=1000, differentiable=False),
    # Triangles
    row("linalg_solve_triangular", by_triangle, call(TRIANGLE, t(3, 2), upper=True), call(BATCH, t(3, 2), upper=False),
        call(TRIANGLE, t(2, 2, 3), upper=True, left=False), call(TRIANGLE, t(3, 2), upper=False, unitriangular=True),
        call(t(3, 3, low=0.5, layout="transposed"), t(3, 2, layout="transposed"), upper=True),
        call(t(0, 3, 3), t(0, 3, 2), upper=True), dtypes=SINGLE_AND_DOUBLE, tolerance=1000),
    row("_cholesky_solve_helper", lambda b, factor, upper: solved(squared(factor, upper), b),
        call(t(3, 2), TRIANGLE, False), dtypes=SINGLE_AND_DOUBLE, tolerance=1e4, differentiable=False),
    row("cholesky_solve", lambda b, factor, upper=False: solved(squared(factor, upper), b), call(t(3, 2), FACTOR),
        call(t(2, 3, 1), FACTOR, True), call(t(3, 2), t(2, 3, 3, low=0.5, grad=False)), dtypes=SINGLE_AND_DOUBLE,
        tolerance=1e4, cuda=False),
    # Reflections
    row("geqrf", geqrf, *MATRICES[:3], dtypes=SINGLE_AND_DOUBLE, tolerance=100, differentiable=False),
    row("linalg_householder_product", reflected, call(t(3, 3), t(3)), call(t(2, 4, 3), t(2, 2)), call(t(3, 2), t(0)),
        dtypes=SINGLE_AND_DOUBLE, tolerance=100),
    row("ormqr", multiplied, call(t(3, 3), t(3), t(3, 2)), call(t(2, 3, 2), t(2, 2), t(2, 3, 2), True, True),
        call(t(3, 2), t(2), t(4, 3), False), call(t(3, 2), t(2), t(1, 3), False, True), dtypes=SINGLE_AND_DOUBLE,
        tolerance=100),
    # The exponential, and old names
    row("linalg_matrix_exp", exponential, *SQUARE, call(t(0, 2, 2)), call(t(1, 1)), dtypes=SINGLE_AND_DOUBLE,
        tolerance=16),
    row("slogdet", np.linalg.slogdet, *SQUARE, dtypes=SINGLE_AND_DOUBLE, result=(SAME, SAME), tolerance=100,
        cuda=False),
    row("linalg_lstsq", lstsq, call(t(3, 2), t(3, 2)), call(t(2, 3), t(2, 2)), call(t(2, 3, 2), t(2, 3, 1)),
        dtypes=SINGLE_AND_DOUBLE, result=(SAME, SAME, always("int64"), SAME), tolerance=1000),
)  # fmt: skip
