"""What do the operators of the family padding compute?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tests.agreement.samples import Row, call, row, t

Array = np.ndarray[Any, Any]


def padded(x: Array, pad: Sequence[int], value: float = 0) -> Array:
    for i in range(len(pad) // 2):
        dim, before, after = x.ndim - 1 - i, pad[2 * i], pad[2 * i + 1]
        x = np.take(x, range(max(-before, 0), x.shape[dim] - max(-after, 0)), dim)
        borders = [(max(before, 0), max(after, 0)) if d == dim else (0, 0) for d in range(x.ndim)]
        x = np.pad(x, borders, constant_values=value)
    return x


def continued(mode: str) -> Callable[..., Array]:
    """NumPy's own padding, after what is cut off by negative numbers."""

    def oracle(x: Array, pad: Sequence[int]) -> Array:
        for i in range(len(pad) // 2):
            dim, before, after = x.ndim - 1 - i, pad[2 * i], pad[2 * i + 1]
            x = np.take(x, range(max(-before, 0), x.shape[dim] - max(-after, 0)), dim)
            borders = [(max(before, 0), max(after, 0)) if d == dim else (0, 0) for d in range(x.ndim)]
            x = np.pad(x, borders, mode)  # type: ignore[call-overload]
        return x

    return oracle


def transposed(mode: str) -> Callable[..., Array]:
    """The gradient of what is linear: its matrix transposed, times the gradient."""

    def oracle(grad: Array, x: Array, pad: Sequence[int]) -> Array:
        units = np.eye(x.size).reshape(x.size, *x.shape)
        return np.array([(continued(mode)(unit, pad) * grad).sum() for unit in units]).reshape(x.shape)

    return oracle


def shuffled(x: Array, r: int) -> Array:
    *batch, channels, height, width = x.shape
    split = x.reshape(*batch, channels // r**2, r, r, height, width)
    n = len(batch)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return split.transpose(order).reshape(*batch, channels // r**2, height * r, width * r)


def unshuffled(x: Array, r: int) -> Array:
    parts = [x[..., i::r, j::r] for i in range(r) for j in range(r)]
    return np.stack(parts, -3).reshape(*x.shape[:-3], x.shape[-3] * r * r, x.shape[-2] // r, x.shape[-1] // r)


def exchanged(x: Array, groups: int) -> Array:
    order = [g * (x.shape[1] // groups) + i for i in range(x.shape[1] // groups) for g in range(groups)]
    return x[:, order]


SIGNAL, IMAGE, VOLUME = t(2, 3, 5), t(2, 4, 5), t(1, 3, 4, 3)
NUMERIC = ("float32", "float64", "int64", "int32", "uint8")
PADDINGS = {1: [2, 1], 2: [2, 1, 0, 3], 3: [1, 2, 2, 0, 1, 1]}
PADDED = {1: t(2, 3, 8), 2: t(2, 7, 8), 3: t(1, 5, 6, 6)}
INPUTS = {1: SIGNAL, 2: IMAGE, 3: VOLUME}


ROWS: tuple[Row, ...] = (
    *(row(f"{name}_pad{d}d", continued(mode), call(INPUTS[d], PADDINGS[d]), dtypes=NUMERIC)
        for d in (1, 2, 3) for name, mode in (("reflection", "reflect"), ("replication", "edge"))),
    *(row(f"{name}_pad{d}d_backward", transposed(mode), call(PADDED[d], INPUTS[d], PADDINGS[d]),
        dtypes=("float32", "float64"))
        for d in (1, 2, 3) for name, mode in (("reflection", "reflect"), ("replication", "edge"))),
    row("_pad_circular", continued("wrap"), call(SIGNAL, [2, 1]), call(IMAGE, [-1, 1, 1, 1]), dtypes=NUMERIC,
        cuda=False),
    row("_pad_enum", lambda x, pad, mode, *_: continued(["reflect", "edge", "wrap", "constant"][mode])(x, pad),
        call(SIGNAL, [2, 1], 0), call(IMAGE, [1, 1, 2, 0], 1), call(SIGNAL, [1, 0], 3), dtypes=NUMERIC, cuda=False),
    row("pad", lambda x, pad, *_: padded(x, pad), call(SIGNAL, [2, 1, 0, 1]), call(SIGNAL, [-1, 1], "constant")),
    row("pixel_shuffle", shuffled, call(t(2, 4, 2, 3), 2), call(t(8, 1, 2), 2)),
    row("pixel_unshuffle", unshuffled, call(t(2, 2, 4, 6), 2), call(t(1, 2, 4), 2)),
    row("channel_shuffle", exchanged, call(t(2, 6, 2), 3), call(t(1, 4, 2, 2), 2)),
    row("native_channel_shuffle", exchanged, call(t(2, 6, 2), 3), differentiable=False),
    # Borders, triangles, diagonals
    row("constant_pad_nd", padded, call(t(2, 3), [1, 2]), call(t(2, 3), [0, 1, 2, 0], 1), call(t(2, 3), [-1, 1]),
        call(t(2, 3), [-1, -1]), call(t(2, 2, 2), [1, 0, 0, -1, 2, 0]), call(t(2, 3), [])),
)  # fmt: skip
