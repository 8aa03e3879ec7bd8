"""What does a product of a sparse matrix cost, beside SciPy's own?

The ratio to torch would say little, as PyTorch multiplies COO matrices in a plain loop and CSR ones
by MKL. So each row is the ratio to SciPy, whose loops do the work here too: what is measured is the way to them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.harness import Contest, Row, repeat

MOST = 1.5  # SciPy's times


@dataclass(frozen=True)
class Size:
    """A square matrix and what it is multiplied with."""

    rows: int
    part: float  # of the elements that is specified
    columns: int  # of the strided factor
    number: int  # of products in a batch


SIZES = (Size(64, 0.05, 8, 500), Size(1000, 0.01, 64, 20), Size(4000, 0.002, 64, 5))
LAYOUTS = ("coo", "csr")


@dataclass
class BesideSciPy:
    """One product, ours and SciPy's in turn."""

    name: str
    of: Contest

    def measure(self) -> Row:
        of = self.of.measure().seconds
        return Row(self.name, {"glasstorch": of["glasstorch"]}, MOST, share=of["glasstorch"] / of["scipy"])


def contests(modules: dict[str, ModuleType]) -> Iterator[BesideSciPy]:
    """The contests of this file; torch takes no part."""
    for size in SIZES:
        for layout in LAYOUTS:
            for other, factor in (("strided", _strided), (layout.upper(), _itself)):
                yield _contest(modules["glasstorch"], size, layout, other, factor)


def _contest(
    torch: Any, size: Size, layout: str, other: str, factor: Callable[[Any, Any, Size], tuple[Any, Any]]
) -> BesideSciPy:
    random = np.random.default_rng(0)
    theirs = sparse.random_array((size.rows, size.rows), density=size.part, dtype=np.float32, rng=random).asformat(
        layout
    )
    ours = _as_tensor(torch, theirs)
    right, their_right = factor(torch, (ours, theirs), size)
    name = f"{layout.upper()} @ {other}, {size.rows:,}x{size.rows:,} with {size.part:.1%} specified, to SciPy"
    runs = {"glasstorch": repeat(lambda: torch.mm(ours, right)), "scipy": repeat(lambda: theirs @ their_right)}
    return BesideSciPy(name, Contest(name, runs, size.number))


def _as_tensor(torch: Any, matrix: Any) -> Any:
    """The same matrix of ours, coalesced."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing is checked
        made = torch.tensor(matrix.toarray()).to_sparse()
        return made.coalesce() if matrix.format == "coo" else made.to_sparse_csr()


def _strided(torch: Any, matrices: Any, size: Size) -> tuple[Any, Any]:
    right = np.random.default_rng(1).standard_normal((size.rows, size.columns), np.float32)
    return torch.from_numpy(right), right


def _itself(torch: Any, matrices: Any, size: Size) -> tuple[Any, Any]:
    ours, theirs = matrices
    return ours, theirs
