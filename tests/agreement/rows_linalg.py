"""What do decompositions, solutions, norms, products and Fourier transforms compute?

Vectors of decompositions have no sign of their own: their rows compare what is the same for every choice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.agreement.samples import FLOATS, NUMBERS, SAME, SUMMED, Row, always, call, row, t

Array = np.ndarray[Any, Any]
SINGLE_AND_DOUBLE = ("float32", "float64")
INT = always("int32")
SQUARE = (call(t(3, 3)), call(t(2, 2, 2)), call(t(3, 3, layout="transposed")))


def complex_of(dtypes: Any) -> Any:
    return dtypes[0].to_complex()


def real_of(dtypes: Any) -> Any:
    return dtypes[0].to_real()


def tensordot(x: Array, y: Array, ours: Any, theirs: Any) -> Array:
    return np.tensordot(x, y, (ours, theirs))


def norm(x: Array, ord: float = 2, dim: Any = None, keepdim: bool = False, **_: Any) -> Array:
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


def one_dim(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, n=None, dim=-1, norm=None: function(x, n, dim, norm)


def dims(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, s=None, dim=None, norm=None: function(x, s, dim if dim is None else tuple(dim), norm)


NO_INFO = np.zeros((), np.int32)

ROWS: tuple[Row, ...] = (
    # Products
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
    row("linalg_vector_norm", norm, call(t(2, 3)), call(t(2, 3), 3, [1]), call(t(2, 3), 1, [0], True),
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
    # Fourier transforms
    row("_fft_r2c", lambda x, dim, mode, onesided: (np.fft.rfftn if onesided else np.fft.fftn)(x, axes=tuple(dim)),
        call(t(2, 6), [1], 0, True), call(t(4, 3), [0], 0, False), call(t(4, 3), [0, 1], 0, True),
        dtypes=SINGLE_AND_DOUBLE, result=complex_of, tolerance=8),
    row("fft_rfft", one_dim(np.fft.rfft), call(t(2, 6)), call(t(2, 5), 4, 1, "ortho"), dtypes=SINGLE_AND_DOUBLE,
        result=complex_of, tolerance=8, cuda=False),
    row("fft_fft", one_dim(np.fft.fft), call(t(2, 6)), call(t(4, 2), 5, 0, "forward"), dtypes=SINGLE_AND_DOUBLE,
        result=complex_of, tolerance=8, cuda=False),
    row("fft_rfftn", dims(np.fft.rfftn), call(t(2, 6)), call(t(2, 3, 4), None, [0, 2]), dtypes=SINGLE_AND_DOUBLE,
        result=complex_of, tolerance=8, cuda=False),
    row("fft_irfft", one_dim(np.fft.irfft), call(t(2, 6)), call(t(2, 5), 7), dtypes=SINGLE_AND_DOUBLE,
        result=real_of, tolerance=8, cuda=False),
    row("fft_fftshift", lambda x, dim=None: np.fft.fftshift(x, dim), call(t(2, 5)), call(t(3, 2), [0])),
    row("fft_ifftshift", lambda x, dim=None: np.fft.ifftshift(x, dim), call(t(2, 5)), call(t(3, 2), [0])),
    row("fft_fftfreq", lambda n, d=1.0, **_: np.fft.fftfreq(n, d), call(5), call(4, 0.5), dtypes=("float32",),
        result=always("float32"), differentiable=False),
    row("fft_rfftfreq", lambda n, d=1.0, **_: np.fft.rfftfreq(n, d), call(5), call(4, 0.5), dtypes=("float32",),
        result=always("float32"), differentiable=False),
)  # fmt: skip
