"""Which random calls reach what handles many small matrices together, and norms in pieces?"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

import glasstorch as torch
from glasstorch import Tensor, linalg
from tests.kernels.cpu.fast.calls.drawing import laid_out, one_of, sizes_of, tensor
from tests.kernels.cpu.fast.held import Call

DTYPES = ("float32", "float64", "complex64", "complex128")


def batch_of(rng: np.random.Generator) -> list[int]:
    """The sizes of a batch, which mostly is large enough to be handled as a whole."""
    return one_of(rng, [[], [3], [0], [16], [40], [40], [40], [5, 8], [5, 8]])  # type: ignore[no-any-return]


def size(rng: np.random.Generator) -> int:
    """Rows or columns, mostly few enough for that."""
    return int(rng.integers(1, 17)) if rng.integers(8) else one_of(rng, [0, 17, 20])  # type: ignore[no-any-return]


def square(rng: np.random.Generator, batch: list[int] | None = None, singular: bool = False) -> Tensor:
    """Well-conditioned matrices whose rows are exchanged; now and then, if asked for, one of them is singular."""
    rows = size(rng)
    x = laid_out(rng, [*(batch_of(rng) if batch is None else batch), rows, rows], one_of(rng, DTYPES))
    x = (x + 4 * (rows + 1) * torch.eye(rows, dtype=x.dtype))[..., torch.from_numpy(rng.permutation(rows)), :]
    if singular and x.numel() and rng.integers(4) == 0:
        x = x.clone()
        x[(-1,) * (x.ndim - 2)] = 0
    return x.mT if rng.integers(3) == 0 else x


def triangle(rng: np.random.Generator, upper: bool) -> Tensor:
    """Well-conditioned triangular matrices with a real diagonal."""
    rows = size(rng)
    x = laid_out(rng, [*batch_of(rng), rows, rows], one_of(rng, DTYPES))
    x = (x.triu(1) if upper else x.tril(-1)) / (rows + 1) + torch.eye(rows, dtype=x.dtype) * 2
    return x.mT.contiguous().mT if rng.integers(3) == 0 else x


def rectangle(rng: np.random.Generator) -> Tensor:
    """Matrices whose first rows are well-conditioned."""
    rows, columns = size(rng), size(rng)
    x = laid_out(rng, [*batch_of(rng), rows, columns], one_of(rng, DTYPES))
    return x + 4 * (rows + columns) * torch.eye(rows, columns, dtype=x.dtype)


def right_of(rng: np.random.Generator, x: Tensor, columns: int | None = None) -> Tensor:
    """A right-hand side for matrices."""
    columns = int(rng.integers(0, 5)) if columns is None else columns
    return laid_out(rng, [*x.shape[:-1], columns], x.dtype.name)


def factorised(rng: np.random.Generator) -> Call:
    """A decomposition of square or other matrices, or a determinant."""
    if rng.integers(2):
        return Call(linalg.lu_factor_ex, (rectangle(rng),))
    batch = one_of(rng, [None, None, None, [1030]])
    return Call(one_of(rng, [linalg.lu_factor_ex, linalg.lu_factor, linalg.lu]), (square(rng, batch, True),))


def solved(rng: np.random.Generator) -> Call:
    """A solution, also from the decomposition, also broadcast, also for a vector."""
    x = square(rng)
    b = right_of(rng, x)
    left = bool(rng.integers(2))
    if rng.integers(2):
        function: Any = solve_with_factors if rng.integers(2) else linalg.solve_ex
        return Call(function, (x, b if left else b.mT), {"left": left})
    return Call(linalg.solve_ex, (x, b[:1] if x.ndim == 3 else b))


def solve_with_factors(x: Tensor, b: Tensor, left: bool) -> Tensor:
    lu, pivots, _ = linalg.lu_factor_ex(x)
    return linalg.lu_solve(lu, pivots, b, left=left, adjoint=b.shape[-1] % 2 == 0)


def inverted(rng: np.random.Generator) -> Call:
    return Call(one_of(rng, [linalg.inv_ex, linalg.inv]), (square(rng, singular=True),))


def solved_by_triangle(rng: np.random.Generator) -> Call:
    upper, left, unit = (bool(rng.integers(2)) for _ in range(3))
    x = triangle(rng, upper)
    b, way = right_of(rng, x), rng.integers(6)
    if way == 1:
        return Call(transposed_solution, (b, x, upper, unit))
    return Call(
        linalg.solve_triangular, (x, b if left else b.mT), {"upper": upper, "left": left, "unitriangular": unit}
    )


def transposed_solution(b: Tensor, x: Tensor, upper: bool, unit: bool) -> Tensor:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there is a newer name
        return torch.triangular_solve(b, x, upper, True, unit)[0]


def solved_by_cholesky(rng: np.random.Generator) -> Call:
    upper = bool(rng.integers(2))
    x = triangle(rng, upper)
    return Call(torch.cholesky_solve, (right_of(rng, x), x, upper))


def half_of_inverse(rng: np.random.Generator) -> Call:
    upper = bool(rng.integers(2))
    x = triangle(rng, upper)
    if x.numel() and rng.integers(8) == 0:
        x[(-1,) * (x.ndim - 1)] = 0
    return Call(torch.cholesky_inverse, (x, upper))


def positive(rng: np.random.Generator) -> Tensor:
    """Positive-definite matrices; now and then one of them is not, or holds NaN."""
    x = triangle(rng, False)
    x = x @ x.mH
    if x.numel() and rng.integers(4) == 0:
        x[(-1,) * x.ndim] = one_of(rng, [-1.0, float("nan")])
    return x


def cholesky_factor(rng: np.random.Generator) -> Call:
    upper = bool(rng.integers(2))
    return Call(one_of(rng, [linalg.cholesky_ex, linalg.cholesky]), (positive(rng),), {"upper": upper})


def packed(rng: np.random.Generator) -> Call:
    return Call(torch.geqrf, (rectangle(rng),))


def decomposed(rng: np.random.Generator) -> Call:
    return Call(linalg.qr, (rectangle(rng), one_of(rng, ["reduced", "complete", "r"])))


def first_columns(rng: np.random.Generator) -> Call:
    x = rectangle(rng)
    return Call(product_of_reflections, (x if x.shape[-2] >= x.shape[-1] else x.mT, one_of(rng, [1, None])))


def product_of_reflections(x: Tensor, count: int | None) -> Tensor:
    vectors, factors = torch.geqrf(x)
    return linalg.householder_product(vectors, factors[..., :count])


def multiplied(rng: np.random.Generator) -> Call:
    x, left = rectangle(rng), bool(rng.integers(2))
    b = right_of(rng, x)
    return Call(times_reflections, (x, b if left else b.mT, left, bool(rng.integers(2))))


def times_reflections(x: Tensor, b: Tensor, left: bool, transpose: bool) -> Tensor:
    return torch.ormqr(*torch.geqrf(x), b, left, transpose)


def symmetric(rng: np.random.Generator) -> Call:
    """Eigenvalues, and what they make with the vectors, whose signs are not determined."""
    x = square(rng)
    return Call(one_of(rng, [linalg.eigvalsh, from_eigenvectors]), (x + x.mH, one_of(rng, ["L", "U"])))


def from_eigenvectors(x: Tensor, triangle: str) -> Tensor:
    values, vectors = linalg.eigh(x, triangle)
    return (vectors * values.unsqueeze(-2)) @ vectors.mH


def singular(rng: np.random.Generator) -> Call:
    """Singular values, and what they make with the vectors, whose signs are not determined."""
    x = rectangle(rng)
    if x.numel() and rng.integers(8) == 0:
        x[(-1,) * x.ndim] = one_of(rng, [float("inf"), float("nan")])
    function: Any = one_of(rng, [linalg.svdvals, from_singular_vectors])
    return Call(function, (x,))


def from_singular_vectors(x: Tensor) -> Tensor:
    left, values, right = linalg.svd(x, full_matrices=x.shape[-1] % 2 == 0)
    inner = values.shape[-1]
    return (left[..., :inner] * values.unsqueeze(-2)) @ right[..., :inner, :]


def norm(rng: np.random.Generator) -> Call:
    """A norm, or slices of limited norm."""
    shape = sizes_of(rng, one_of(rng, [0, 50, 5_000, 100_000]), int(rng.integers(1, 4)))
    dtype = one_of(rng, [*DTYPES, "float16", "bfloat16"])
    make = tensor if dtype.startswith("complex") else laid_out
    x, dim = make(rng, shape, dtype, one_of(rng, [0, 0, 0.001])), int(rng.integers(len(shape)))
    order = one_of(rng, [0, 1, 2, 2, 3, 0.5, -1, float("inf"), -float("inf")])
    if rng.integers(4) == 0 and order > 0:
        return Call(torch.renorm, (x, order, dim, 1.0))
    return Call(linalg.vector_norm, (x, order, one_of(rng, [None, dim]), bool(rng.integers(2))))


def each(rng: np.random.Generator) -> Call:
    """A factorization, or what is solved with it, that takes one matrix after another."""
    x, hermitian = square(rng, one_of(rng, [None, [1030]])), bool(rng.integers(2))
    function: Any = ldl_solution if rng.integers(2) else linalg.ldl_factor_ex
    return Call(function, (x + (x.mH if hermitian else x.mT),), {"hermitian": hermitian})


def ldl_solution(x: Tensor, hermitian: bool) -> Tensor:
    factors, pivots, _ = linalg.ldl_factor_ex(x, hermitian=hermitian)
    return linalg.ldl_solve(factors, pivots, x[..., :2], hermitian=hermitian)


CALLS = {
    "cpu.linalg.batches.each": each,
    "cpu.linalg.inverses.factorised": factorised,
    "cpu.linalg.inverses.solved": solved,
    "cpu.linalg.inverses.inverted": inverted,
    "cpu.linalg.solvers.solved_by_triangle": solved_by_triangle,
    "cpu.linalg.solvers.solved_by_cholesky": solved_by_cholesky,
    "cpu.linalg.solvers.multiplied": multiplied,
    "cpu.linalg.factors.cholesky_factor": cholesky_factor,
    "cpu.linalg.factors.half_of_inverse": half_of_inverse,
    "cpu.linalg.factors.packed": packed,
    "cpu.linalg.factors.decomposed": decomposed,
    "cpu.linalg.factors.first_columns": first_columns,
    "cpu.linalg.spectra.symmetric": symmetric,
    "cpu.linalg.spectra.singular": singular,
    "cpu.linalg.norms.norm": norm,
}
