"""What do fast kernels cost that no other file of contests measures?

Each row is for a function of `kernels/cpu/fast/`, which names it. `python -m benchmarks.plain` compares all rows that
the fast kernels name with the plain kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from benchmarks.harness import Contest
from benchmarks.million import ROWS, Make, Use, contest, normal

# name, its tensors, what is done with them
CASES: list[tuple[str, list[Make], Use]] = [
    ("cumsum down columns, 1,000x1,000", [ROWS], lambda t, x: t.cumsum(x, 0)),
    ("cdist, 300 by 300 rows of 16", [normal(300, 16)] * 2, lambda t, x, y: t.cdist(x, y, 1.0)),
    (
        "cdist, backward, 300 by 300 rows of 16",
        [normal(300, 16), normal(300, 16), normal(300, 300)],
        lambda t, x, y, d: t.ops.aten._cdist_backward(d, x, y, 1.0, d),
    ),
    ("rfft of rows", [ROWS], lambda t, x: t.fft.rfft(x)),
    ("mul of float16, 1e6", [lambda random: ROWS(random).astype("float16")] * 2, lambda t, x, y: t.mul(x, y)),
]


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    for name, tensors, use in CASES:
        yield contest(modules, f"fast: {name}", tensors, use, None)
