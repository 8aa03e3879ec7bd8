"""How are many values looked up fast?

Mirrors: aten/src/ATen/native/Bucketization.cpp (searchsorted_cpu_contiguous, which runs in parallel)
Differs: NumPy's searchsorted, which searches one sequence, keeps the bounds of the value before.
"""

from __future__ import annotations

from math import prod

import numpy as np

from glasstorch.core.tensor_impl import Array
from glasstorch.dispatch.fast import fast
from glasstorch.kernels.cpu import searching
from glasstorch.kernels.cpu.fast import thresholds


@fast(
    searching.positions,
    when="one sequence that does not end in NaN, or more values than a block",
    benchmark="1e6: searchsorted, 1,000 sorted floats",
    exact="bits",
)
def positions(sequence: Array, values: Array, right: bool) -> Array:
    """NumPy searches one sequence; one that ends in NaN is bisected, and many are, in blocks of rows."""
    last = sequence[..., -1:]
    if sequence.ndim == 1 and not (last != last).any():
        return sequence.searchsorted(values, "right" if right else "left")
    if sequence.ndim == 1 or values.size <= thresholds.BLOCK:
        return searching.positions.plain(sequence, values, right)
    lines = prod(values.shape[:-1])
    rows, asked = sequence.reshape(lines, -1), values.reshape(lines, -1)
    found = np.empty(asked.shape, np.int64)
    step = max(thresholds.BLOCK // values.shape[-1], 1)
    for at in range(0, lines, step):
        found[at : at + step] = searching.positions.plain(rows[at : at + step], asked[at : at + step], right)
    return found.reshape(values.shape)
