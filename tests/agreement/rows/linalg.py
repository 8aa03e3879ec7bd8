"""What do the operators of the family linalg compute?"""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from tests.agreement.rows.shared import DOUBLE, INT, SINGLE_AND_DOUBLE
from tests.agreement.samples import FLOATS, NUMBERS, PROMOTED, SAME, SUMMED, Dtype, Row, always, call, row, t

Array = np.ndarray[Any, Any]
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
    return solution(a.mT if adjoint else a, b, left)


def solution(a: Array, b: Array, left: bool = True) -> Array:
    return np.linalg.solve(a, b) if left else np.linalg.solve(a.mT, b.mT).mT


def triangle(x: Array, upper: bool, unitriangular: bool = False) -> Array:
    part = np.triu(x) if upper else np.tril(x)
    if unitriangular:
        part = part * (1 - np.eye(x.shape[-1])) + np.eye(x.shape[-1])
    return part


def by_triangle(a: Array, b: Array, upper: bool, left: bool = True, unitriangular: bool = False) -> Array:
    return solution(triangle(a, upper, unitriangular), b, left)


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


SQUARE = (call(t(3, 3)), call(t(2, 2, 2)), call(t(3, 3, layout="transposed")))


def tensordot(x: Array, y: Array, ours: Any, theirs: Any) -> Array:
    return np.tensordot(x, y, (ours, theirs))


def vector_norm(x: Array, ord: float = 2, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
    axis = tuple(dim) if dim else tuple(range(x.ndim))
    return np.asarray((np.abs(x) ** ord).sum(axis, keepdims=keepdim) ** (1 / ord))


def lu(x: Array) -> Array:
    """What LAPACK's getrf leaves: both triangles in one matrix."""
    from scipy.linalg import lu_factor

    return np.stack([lu_factor(one)[0] for one in _as_read(x)]).reshape(x.shape)


def _as_read(x: Array) -> Array:
    """What lies in memory row by row is read column by column, as its transpose."""
    return np.swapaxes(x, -1, -2).reshape(-1, *x.shape[-2:])


def pivots(x: Array) -> Array:
    from scipy.linalg import lu_factor

    found = np.stack([lu_factor(one)[1] + 1 for one in _as_read(x)])
    return found.reshape(x.shape[:-1]).astype(np.int32)


def solved(x: Array, y: Array, left: bool = True, **_: Any) -> Array:
    if y.ndim == 1:
        return np.linalg.solve(x, y)
    return np.linalg.solve(x, y) if left else np.swapaxes(np.linalg.solve(np.swapaxes(x, -1, -2), y.mT), -1, -2)


def norm(x: Array, p: Any = 2, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
    order = 2 if p is None else p
    sizes = np.abs(x)
    axis = tuple(dim) if dim else None
    return np.asarray((sizes**order).sum(axis, keepdims=keepdim) ** (1 / order))


def limited(x: Array, p: float, dim: int, maxnorm: float) -> Array:
    axis = tuple(d for d in range(x.ndim) if d != dim % x.ndim)
    size = (np.abs(x) ** p).sum(axis, keepdims=True) ** (1 / p)
    return x * np.where(size > maxnorm, maxnorm / (size + 1e-7), 1)


def matrix_norm(x: Array, ord: Any = None, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
    axis = None if dim is None else tuple(dim) if len(dim) == 2 else dim[0]
    return np.asarray(np.linalg.norm(x, ord, axis, keepdim))


def logdet(x: Array) -> Array:
    sign, logarithm = np.linalg.slogdet(x)
    return np.where(sign < 0, np.nan, logarithm)


def inverse(x: Array, ind: int = 2) -> Array:
    return np.linalg.tensorinv(x, ind)


def powers(x: Array, N: int | None = None, increasing: bool = False) -> Array:
    return np.vander(x, N, increasing)


ROWS: tuple[Row, ...] = (
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
    row("_cholesky_solve_helper", lambda b, factor, upper: solution(squared(factor, upper), b),
        call(t(3, 2), TRIANGLE, False), dtypes=SINGLE_AND_DOUBLE, tolerance=1e4, differentiable=False),
    row("cholesky_solve", lambda b, factor, upper=False: solution(squared(factor, upper), b), call(t(3, 2), FACTOR),
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
    row("outer", np.outer, call(t(2), t(3)), dtypes=NUMBERS),
    row("inner", np.inner, call(t(3), t(3)), call(t(2, 3), t(4, 3)), call(t(), t(2)), dtypes=NUMBERS, tolerance=4),
    row("tensordot", tensordot, call(t(2, 3), t(3, 4), [1], [0]), call(t(2, 3, 2), t(2, 3), [0, 1], [0, 1]),
        call(t(2), t(3), [], []), dtypes=NUMBERS, tolerance=4),
    row("trace", np.trace, call(t(3, 3)), call(t(2, 3)), call(t(3, 2, layout="transposed")), dtypes=NUMBERS,
        result=SUMMED),
    row("cross", lambda x, y, dim=-1: np.cross(x, y, axis=dim), call(t(2, 3), t(2, 3)), call(t(3, 2), t(3, 2), 0),
        dtypes=NUMBERS, tolerance=4, cuda=False),
    row("linalg_cross", lambda x, y, dim=-1: np.cross(x, y, axis=dim), call(t(2, 3), t(2, 3)), call(t(1, 3), t(2, 3)),
        call(t(3, 2), t(3, 2), dim=0), dtypes=NUMBERS, tolerance=4),
    row("linalg_vecdot", lambda x, y, dim=-1: (x * y).sum(dim), call(t(2, 3), t(2, 3)), call(t(2, 3), t(3)),
        call(t(2, 3), t(2, 3), dim=0), dtypes=FLOATS, tolerance=4),
    row("linalg_diagonal", lambda x, **k: np.diagonal(x, k.get("offset", 0), -2, -1), call(t(3, 3)),
        call(t(2, 3, 4), offset=1)),
    row("linalg_matrix_power", np.linalg.matrix_power, call(t(2, 2), 3), call(t(2, 2, 2), 2), call(t(2, 2), 1),
        dtypes=("float64",), cuda=False),
    # Norms
    row("linalg_vector_norm", vector_norm, call(t(2, 3)), call(t(2, 3), 3, [1]), call(t(2, 3), 1, [0], True),
        call(t(3, 2, layout="transposed"), 2, None), dtypes=FLOATS, tolerance=4),
    row("linalg_matrix_norm", lambda x, ord, *_: np.linalg.norm(x, ord, (-2, -1)), call(t(2, 3), 1), call(t(2, 3), 2),
        call(t(2, 2, 3), float("inf")), dtypes=SINGLE_AND_DOUBLE, tolerance=4, cuda=False),
    row("linalg_matrix_norm.str_ord", lambda x, ord="fro", *_: np.linalg.norm(x, ord, (-2, -1)), call(t(2, 3)),
        call(t(2, 2, 3), "nuc"), dtypes=SINGLE_AND_DOUBLE, tolerance=8, cuda=False),
    # Decompositions
    row("linalg_inv_ex", lambda x, **_: (np.linalg.inv(x), np.zeros(x.shape[:-2], np.int32)), *SQUARE,
        dtypes=SINGLE_AND_DOUBLE, result=(SAME, INT), tolerance=100),
    row("linalg_inv", np.linalg.inv, *SQUARE, dtypes=SINGLE_AND_DOUBLE, tolerance=100, meta=False, cuda=False),
    row("_linalg_det", lambda x: (np.linalg.det(x), lu(x), pivots(x)), *SQUARE[:2], dtypes=SINGLE_AND_DOUBLE,
        result=(SAME, SAME, INT), tolerance=16),
    row("linalg_det", np.linalg.det, *SQUARE, dtypes=SINGLE_AND_DOUBLE, tolerance=16, cuda=False),
    row("_linalg_slogdet", lambda x: (*np.linalg.slogdet(x), lu(x), pivots(x)), *SQUARE[:2], dtypes=SINGLE_AND_DOUBLE,
        result=(SAME, SAME, SAME, INT), tolerance=100),
    row("linalg_slogdet", np.linalg.slogdet, *SQUARE, dtypes=SINGLE_AND_DOUBLE, result=(SAME, SAME), tolerance=100,
        cuda=False),
    row("linalg_svdvals", lambda x, **_: np.linalg.svd(x, compute_uv=False), call(t(2, 3)), call(t(2, 3, 2)),
        dtypes=SINGLE_AND_DOUBLE, tolerance=16, cuda=False),
    row("linalg_pinv", lambda x, rcond, *_: np.linalg.pinv(x, rcond), call(t(2, 3), 1e-6), dtypes=SINGLE_AND_DOUBLE,
        tolerance=100, cuda=False),
    row("linalg_pinv.atol_rtol_float", lambda x, **_: np.linalg.pinv(x), call(t(2, 3), rtol=1e-6),
        dtypes=SINGLE_AND_DOUBLE, tolerance=100, cuda=False),
    row("linalg_matrix_rank", lambda x, tol, *_: np.linalg.matrix_rank(x, tol), call(t(2, 3), 1e-6),
        call(t(2, 3, layout="expanded"), 1e-5), dtypes=SINGLE_AND_DOUBLE, result=always("int64"),
        differentiable=False, cuda=False),
    row("linalg_matrix_rank.atol_rtol_float", lambda x, **_: np.linalg.matrix_rank(x), call(t(2, 3), rtol=1e-6),
        dtypes=SINGLE_AND_DOUBLE, result=always("int64"), differentiable=False, cuda=False),
    # Linear systems
    row("linalg_solve", solved, call(t(3, 3), t(3)), call(t(3, 3), t(3, 2)), call(t(2, 3, 3), t(2, 3, 1)),
        call(t(3, 3), t(2, 3), left=False), dtypes=SINGLE_AND_DOUBLE, tolerance=200, meta=True, cuda=False),
    row("linalg_solve_ex", lambda x, y, **k: (solved(x, y, **k), np.zeros(x.shape[:-2], np.int32)),
        call(t(3, 3), t(3, 2)), dtypes=SINGLE_AND_DOUBLE, result=(SAME, INT), tolerance=200, cuda=False),
    # Norms
    row("norm.Scalar", norm, call(t(2, 3)), call(t(2, 3), 3), dtypes=FLOATS, tolerance=4, cuda=False),
    row("norm.ScalarOpt_dim", norm, call(t(2, 3), None, [1]), call(t(2, 3), 1, [0], True), dtypes=FLOATS, tolerance=4,
        cuda=False),
    row("norm.ScalarOpt_dtype", norm, call(t(2, 3), 2, dtype=Dtype("float64")), dtypes=SINGLE_AND_DOUBLE, tolerance=4,
        result=DOUBLE, cuda=False),
    row("norm.ScalarOpt_dim_dtype", norm, call(t(2, 3), None, [0], True, dtype=Dtype("float64")),
        dtypes=SINGLE_AND_DOUBLE, tolerance=4, result=DOUBLE, cuda=False),
    row("dist", lambda x, y, p=2: norm(x - y, p), call(t(2, 3), t(2, 3)), call(t(2, 3), t(3), 3), dtypes=FLOATS,
        tolerance=4, cuda=False),
    row("renorm", limited, call(t(2, 3), 2, 0, 1), call(t(3, 2, layout="transposed"), 3, -1, 0.5), dtypes=FLOATS,
        tolerance=4),
    row(
        "kron",
        np.kron,
        call(t(2, 3), t(3, 2)),
        call(t(2), t(2, 2)),
        call(t(), t(2)),
        call(t(0, 2), t(2, 2)),
        dtypes=NUMBERS,
        result=PROMOTED,
    ),
    row(
        "einsum",
        lambda equation, tensors, path=None: np.asarray(np.einsum(equation, *tensors)),
        call("ij,jk->ik", [t(2, 3), t(3, 2)]),
        call("...ij,...jk", [t(2, 1, 2, 3), t(2, 3, 2)]),
        call("ii->i", [t(3, 3)]),
        call("ij->", [t(2, 3)]),
        call("i,j", [t(2), t(3)]),
        call("ij,j,k->ik", [t(2, 3), t(3), t(2)]),
        call("ab,cb,db->acd", [t(2, 3), t(2, 3), t(2, 3)], path=[1, 2, 0, 1]),
        call("iij,j->i", [t(2, 2, 3), t(3)]),
        call("ij,jk->ki", [t(2, 0), t(0, 3)]),
        dtypes=(*FLOATS, "int64"),
        tolerance=32,
    ),
    row(
        "chain_matmul",
        lambda matrices: np.linalg.multi_dot(matrices) if len(matrices) > 1 else matrices[0],
        call([t(2, 3)]),
        call([t(2, 3), t(3, 2)]),
        call([t(2, 3), t(3, 1), t(1, 2)]),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=16,
    ),
    row(
        "linalg_multi_dot",
        lambda tensors: np.asarray(np.linalg.multi_dot(tensors)),
        call([t(2, 3), t(3, 2)]),
        call([t(3), t(3, 2), t(2)]),
        call([t(3, 1), t(1, 3), t(3, 2), t(2, 2)]),
        call([t(2, 3), t(3, 1), t(1)]),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=16,
    ),
    row(
        "vander",
        powers,
        call(t(3)),
        call(t(2), 3, True),
        call(t(2, grad=False), 0),
        call(t(0), 2),
        call(t(2, grad=False), 1),
        dtypes=(*SINGLE_AND_DOUBLE, "int64"),
        tolerance=8,
        cuda=False,
    ),
    row(
        "linalg_vander",
        lambda x, N=None: np.stack([np.vander(y, N, True) for y in x.reshape(-1, x.shape[-1])]).reshape(
            *x.shape, N or x.shape[-1]
        ),
        call(t(3)),
        call(t(2, 3)),
        call(t(2, 2), N=4),
        dtypes=(*SINGLE_AND_DOUBLE, "int64"),
        tolerance=8,
        cuda=False,
    ),
    row(
        "linalg_tensorinv",
        inverse,
        call(t(2, 2, 4)),
        call(t(4, 2, 2), 1),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=200,
        meta=False,
        cuda=False,
    ),
    row(
        "linalg_tensorsolve",
        lambda x, y, dims=None: np.linalg.tensorsolve(x, y, dims),
        call(t(2, 2, 4), t(2, 2)),
        call(t(2, 3, 6), t(2, 3)),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=200,
        cuda=False,
    ),
    row(
        "logdet",
        logdet,
        call(t(1, 1, low=1)),
        call(t(2, 1, 1, low=1)),
        call(t(0, 0)),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=100,
        cuda=False,
    ),
    row(
        "pinverse",
        lambda x, rcond=1e-15: np.linalg.pinv(x, rcond),
        call(t(2, 3)),
        call(t(3, 2), 1e-6),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=100,
        cuda=False,
    ),
    # Norms and condition numbers
    row(
        "linalg_norm",
        matrix_norm,
        call(t(2, 3)),
        call(t(3), 3),
        call(t(2, 3), 1),
        call(t(2, 3), inf, [0]),
        call(t(2, 2, 3), -1, [0, 2], True),
        call(t(2, 3), 2),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=8,
        cuda=False,
    ),
    row(
        "linalg_norm.ord_str",
        matrix_norm,
        call(t(2, 3), "fro"),
        call(t(2, 3), "nuc"),
        call(t(2, 2, 3), "fro", [0, 1], True),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=8,
        cuda=False,
    ),
    row(
        "linalg_cond",
        lambda x, p=None: np.asarray(np.linalg.cond(x, p)),
        call(t(3, 3)),
        call(t(2, 3), -2),
        call(t(2, 2, 2), 1),
        call(t(3, 3), inf),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=100,
        meta=False,
        cuda=False,
    ),
    row(
        "linalg_cond.p_str",
        lambda x, p: np.asarray(np.linalg.cond(x, p)),
        call(t(3, 3), "fro"),
        call(t(2, 2, 2), "nuc"),
        dtypes=SINGLE_AND_DOUBLE,
        tolerance=100,
        meta=False,
        cuda=False,
    ),
)  # fmt: skip
