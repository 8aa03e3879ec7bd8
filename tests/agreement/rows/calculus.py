"""What do the operators of the family calculus compute?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.rows.shared import SINGLE_AND_DOUBLE
from tests.agreement.samples import FLOATS, NUMBERS, Row, call, row, t

Array = np.ndarray[Any, Any]


def integral(y: Array, x: Any = None, dx: Any = 1, dim: int = -1) -> Array:
    return np.asarray(np.trapezoid(y, x, dx, dim))


def running_integral(y: Array, x: Any = None, dx: Any = 1, dim: int = -1) -> Array:
    step = dx if x is None else np.diff(x).reshape([-1 if d == dim % y.ndim else 1 for d in range(y.ndim)])
    left, right = (np.take(y, np.arange(i, y.shape[dim] - 1 + i), dim) for i in (0, 1))
    return np.cumsum((left + right) * step / 2, dim)


def gradient(x: Array, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> list[Array]:
    dims = range(x.ndim) if dim is None else [dim] if isinstance(dim, int) else dim
    steps = spacing if isinstance(spacing, list) else [1 if spacing is None else spacing] * len(dims)
    return [np.gradient(x, step, axis=d, edge_order=edge_order) for step, d in zip(steps, dims, strict=True)]


def diff(x: Array, n: int = 1, dim: int = -1, prepend: Any = None, append: Any = None) -> Array:
    parts = [part for part in (prepend, x, append) if part is not None]
    return np.diff(np.concatenate(parts, dim), n, dim)


ROWS: tuple[Row, ...] = (
    # Integrals and derivatives of samples
    row("trapezoid.x", integral, call(t(2, 3), t(3)), call(t(3, 2), t(3), dim=0), call(t(2, 3), t(2, 3)), dtypes=FLOATS,
        tolerance=4, cuda=False),
    row("trapezoid.dx", integral, call(t(2, 3)), call(t(3, 2), dx=0.5, dim=0), dtypes=FLOATS, tolerance=4, cuda=False),
    row("trapz.dx", integral, call(t(2, 3)), call(t(3, 2), dx=0.5, dim=0), dtypes=FLOATS, tolerance=4, cuda=False),
    row("cumulative_trapezoid.x", running_integral, call(t(2, 3), t(3)), call(t(3, 2), t(3), dim=0), dtypes=FLOATS,
        tolerance=4, cuda=False),
    row("cumulative_trapezoid.dx", running_integral, call(t(2, 3)), call(t(3, 2), dx=0.5, dim=0), dtypes=FLOATS,
        tolerance=4, cuda=False),
    row("gradient.scalarint", gradient, call(t(3, 4)), call(t(3, 4), spacing=2.0, dim=1, edge_order=2), dtypes=FLOATS,
        tolerance=4, cuda=False),
    row("gradient.scalararray", gradient, call(t(3, 4), spacing=0.5, dim=[0, -1]), dtypes=FLOATS, tolerance=4,
        cuda=False),
    row("gradient.array", gradient, call(t(3, 4), dim=[1]), call(t(3, 4), dim=[1, 0], edge_order=2), dtypes=FLOATS,
        tolerance=4, cuda=False),
    row("gradient.scalarrayint", gradient, call(t(3, 4), spacing=[0.5, 2]), call(t(4), spacing=[0.5], dim=0),
        dtypes=FLOATS, tolerance=4, cuda=False),
    row("gradient.scalarrayarray", gradient, call(t(3, 4), spacing=[0.5, 2], dim=[1, 0]), dtypes=FLOATS, tolerance=4,
        cuda=False),
    row("gradient.tensorarrayint", gradient, call(t(4), spacing=[t(4, distinct=True)]),
        call(t(3, 4), spacing=[t(3, distinct=True, grad=False)], dim=0, edge_order=2), dtypes=SINGLE_AND_DOUBLE,
        tolerance=16, cuda=False),
    row("gradient.tensorarray", gradient,
        call(t(3, 4), spacing=[t(4, distinct=True), t(3, distinct=True)], dim=[1, 0]), dtypes=SINGLE_AND_DOUBLE,
        tolerance=16, cuda=False),
    row("diff", diff, call(t(2, 3)), call(t(4), 2), call(t(2, 3), 1, 0), call(t(2, 3), 1, 1, t(2, 1), t(2, 2)),
        dtypes=NUMBERS),
)  # fmt: skip
