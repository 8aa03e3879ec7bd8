"""What do fast kernels cost that no other file of contests measures?

Each row is for a function of `kernels/cpu/fast/`, which names it. `python -m benchmarks.plain` compares all rows that
the fast kernels name with the plain kernels.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import numpy as np

from benchmarks.harness import Contest
from benchmarks.million import LINE, ROWS, Make, Use, contest, normal, well_conditioned

SMALL = normal(1000, 4, 4)
IMAGES = normal(64, 32, 8, 8)
GOOD = well_conditioned(1000, 4, 4)

# name, its tensors, what is done with them
CASES: list[tuple[str, list[Make], Use]] = [
    ("cumsum down columns, 1,000x1,000", [ROWS], lambda t, x: t.cumsum(x, 0)),
    ("cdist, 300 by 300 rows of 16", [normal(300, 16)] * 2, lambda t, x, y: t.cdist(x, y, 1.0)),
    (
        "cdist, backward, 300 by 300 rows of 16",
        [normal(300, 16), normal(300, 16), normal(300, 300)],
        lambda t, x, y, d: t.ops.aten._cdist_backward(d, x, y, 1.0, d),
    ),
    ("max_pool2d, 64x32x8x8", [IMAGES], lambda t, x: t.nn.functional.max_pool2d(x, 2)),
    (
        "max_pool2d backward, 64x32x8x8",
        [normal(64, 32, 4, 4), IMAGES, lambda random: random.integers(0, 64, (64, 32, 4, 4))],
        lambda t, grad, x, places: t.ops.aten.max_pool2d_with_indices_backward(
            grad, x, [2, 2], [2, 2], [0, 0], [1, 1], False, places
        ),
    ),
    ("avg_pool2d, 64x32x8x8", [IMAGES], lambda t, x: t.nn.functional.avg_pool2d(x, 2)),
    (
        "avg_pool2d backward, 64x32x8x8",
        [normal(64, 32, 4, 4), IMAGES],
        lambda t, grad, x: t.ops.aten.avg_pool2d_backward(grad, x, [2, 2], [2, 2], [0, 0], False, True, None),
    ),
    (
        "grid_sample, 8x16x32x32",
        [normal(8, 16, 32, 32), normal(8, 64, 64, 2)],
        lambda t, x, grid: t.nn.functional.grid_sample(x, grid, align_corners=False),
    ),
    (
        "grid_sample backward, 8x16x32x32",
        [normal(8, 16, 64, 64), normal(8, 16, 32, 32), normal(8, 64, 64, 2)],
        lambda t, grad, x, grid: t.ops.aten.grid_sampler_2d_backward(grad, x, grid, 0, 0, False, [True, True]),
    ),
    ("rfft of rows", [ROWS], lambda t, x: t.fft.rfft(x)),
    ("mul of float16, 1e6", [lambda random: ROWS(random).astype("float16")] * 2, lambda t, x, y: t.mul(x, y)),
    ("hash_tensor, 1e6 float32", [LINE], lambda t, x: t.hash_tensor(x)),
    ("norm of 1e6 float32", [LINE], lambda t, x: t.linalg.vector_norm(x, 3)),
    (
        "addmm into out, 256x256",
        [normal(256, 256)] * 3 + [lambda random: np.empty((256, 256), np.float32)],
        lambda t, bias, x, y, out: t.addmm(bias, x, y, out=out),
    ),
    ("geqrf, 64x64", [normal(64, 64)], lambda t, x: t.geqrf(x)),
    ("linalg.qr, 64x64", [normal(64, 64)], lambda t, x: t.linalg.qr(x)),
    ("linalg.inv, 300x300", [well_conditioned(300, 300)], lambda t, x: t.linalg.inv(x)),
    *(
        (f"{name}, 1,000 of 4x4", [GOOD, SMALL], use)
        for name, use in (
            ("linalg.solve", lambda t, x, y: t.linalg.solve(x, y)),
            ("linalg.solve_triangular", lambda t, x, y: t.linalg.solve_triangular(x, y, upper=False)),
            ("linalg.cholesky", lambda t, x, y: t.linalg.cholesky(x)),
            ("cholesky_inverse", lambda t, x, y: t.cholesky_inverse(x)),
            ("linalg.ldl_factor", lambda t, x, y: t.linalg.ldl_factor(x)),
            ("linalg.householder_product", lambda t, x, y: t.linalg.householder_product(x, y[:, 0])),
            ("ormqr", lambda t, x, y: t.ormqr(x, y[:, 0], y)),
            ("linalg.eigh", lambda t, x, y: t.linalg.eigh(x)),
            ("linalg.svd", lambda t, x, y: t.linalg.svd(x)),
        )
    ),
]


def contests(modules: dict[str, ModuleType]) -> Iterator[Contest]:
    """The contests of this file, for the modules that are installed."""
    for name, tensors, use in CASES:
        yield contest(modules, f"fast: {name}", tensors, use, None)
