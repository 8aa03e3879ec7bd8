"""What do the operators of the family matmul compute?"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.agreement.samples import FLOATS, NUMBERS, PROMOTED, Row, call, row, t

Array = np.ndarray[Any, Any]


def added(multiply: Any) -> Any:
    """`beta` times the first plus `alpha` times a product of the others."""

    def scaled(x: Array, a: Array, b: Array, beta: float = 1, alpha: float = 1) -> Array:
        return np.asarray(beta * x + alpha * multiply(a, b))

    return scaled


def addmm(x: Array, a: Array, b: Array, beta: float = 1, alpha: float = 1) -> Array:
    return beta * x + alpha * (a @ b)


def linear(x: Array, weight: Array, bias: Array | None = None) -> Array:
    return x @ weight.T + (0 if bias is None else bias)


def bilinear(a: Array, b: Array, weight: Array, bias: Array | None = None) -> Array:
    return np.asarray(np.einsum("...i,kij,...j->...k", a, weight, b) + (0 if bias is None else bias))


def trilinear(a: Array, b: Array, c: Array, *dims: list[int]) -> Array:
    first, second, third = (np.expand_dims(x, tuple(new)) for x, new in zip((a, b, c), dims, strict=False))
    return np.asarray((first * second * third).sum(tuple(dims[3])))


ROWS: tuple[Row, ...] = (
    row(
        "addmv",
        added(np.matmul),
        call(t(2), t(2, 3), t(3)),
        call(t(), t(2, 3), t(3), alpha=2),
        call(t(1), t(2, 3), t(3)),
        call(t(3), t(3, 2, layout="transposed"), t(2), beta=0),
        call(t(2), t(2, 0), t(0), beta=3),
        dtypes=NUMBERS,
        tolerance=4,
    ),
    row(
        "addr",
        added(np.outer),
        call(t(2, 3), t(2), t(3)),
        call(t(3), t(2), t(3), beta=2, alpha=3),
        call(t(), t(0), t(3)),
        call(t(2, 3), t(2), t(3), beta=0),
        dtypes=NUMBERS,
        result=PROMOTED,
        tolerance=4,
    ),
    row(
        "baddbmm",
        added(np.matmul),
        call(t(2, 2, 2), t(2, 2, 3), t(2, 3, 2)),
        call(t(2), t(2, 2, 3), t(2, 3, 2), beta=2),
        call(t(), t(1, 2, 3), t(1, 3, 2), alpha=2),
        call(t(2, 2, 2), t(2, 2, 0), t(2, 0, 2), beta=0),
        dtypes=NUMBERS,
        tolerance=8,
    ),
    row(
        "addbmm",
        added(lambda a, b: (a @ b).sum(0)),
        call(t(2, 2), t(2, 2, 3), t(2, 3, 2)),
        call(t(2), t(2, 2, 3), t(2, 3, 2), beta=2, alpha=3),
        call(t(2, 2), t(0, 2, 3), t(0, 3, 2)),
        dtypes=NUMBERS,
        tolerance=32,
    ),
    row(
        "vdot",
        np.vdot,
        call(t(3), t(3)),
        call(t(0), t(0)),
        call(t(3, layout="stepped"), t(3)),
        dtypes=NUMBERS,
        tolerance=4,
    ),
    # Matrix products
    row("mm", np.matmul, call(t(2, 3), t(3, 4)), call(t(2, 3, layout="transposed"), t(3, 2, layout="transposed")),
        call(t(2, 0), t(0, 3)), call(t(2, 3, layout="stepped"), t(3, 1)), dtypes=NUMBERS),
    row("bmm", np.matmul, call(t(2, 2, 3), t(2, 3, 4)), call(t(2, 2, 0), t(2, 0, 3)), dtypes=NUMBERS),
    row("mv", np.matmul, call(t(2, 3), t(3)), call(t(3, 2, layout="transposed"), t(2)), dtypes=NUMBERS),
    row("dot", np.dot, call(t(3), t(3)), call(t(0), t(0)), call(t(3, layout="stepped"), t(3)), dtypes=NUMBERS),
    row("addmm", addmm, call(t(2, 4), t(2, 3), t(3, 4)), call(t(4), t(2, 3), t(3, 4), beta=2, alpha=3),
        call(t(2, 2), t(2, 0), t(0, 2)), dtypes=NUMBERS),
    row("matmul", np.matmul, call(t(3), t(3)), call(t(2, 3), t(3)), call(t(3), t(3, 2)), call(t(2, 3), t(3, 4)),
        call(t(2, 1, 2, 3), t(2, 3, 4)), call(t(2, 2, 3), t(3)), call(t(2, 2, 3), t(3, 4)), dtypes=NUMBERS),
    row("linear", linear, call(t(2, 3), t(4, 3), t(4)), call(t(2, 3), t(4, 3)), call(t(2, 2, 3), t(4, 3), t(4)),
        call(t(3), t(4, 3), t(4)), dtypes=FLOATS),
    row("bilinear", bilinear, call(t(2, 3), t(2, 2), t(4, 3, 2), t(4)), call(t(3), t(2), t(2, 3, 2)),
        call(t(2, 2, 3), t(2, 2, 2), t(1, 3, 2)), call(t(0, 3), t(0, 2), t(2, 3, 2), t(2)), dtypes=FLOATS, tolerance=8,
        cuda=False),
    row("_trilinear", trilinear, call(t(2, 3), t(4, 3, 2), t(2, 2), [1, 3], [0], [1, 2], [2, 3]),
        call(t(0, 1), t(2, 2), t(2, 2), [1], [0], [0], []), dtypes=FLOATS, tolerance=8),
)  # fmt: skip
