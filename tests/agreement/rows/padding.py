"""What do the operators of the family padding compute?"""

from __future__ import annotations

from collections.abc import Sequence
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


ROWS: tuple[Row, ...] = (
    # Borders, triangles, diagonals
    row("constant_pad_nd", padded, call(t(2, 3), [1, 2]), call(t(2, 3), [0, 1, 2, 0], 1), call(t(2, 3), [-1, 1]),
        call(t(2, 3), [-1, -1]), call(t(2, 2, 2), [1, 0, 0, -1, 2, 0]), call(t(2, 3), [])),
)  # fmt: skip
