"""Which random calls reach the fast ways of sorting and selecting?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import glasstorch as torch
from glasstorch import Tensor
from tests.kernels.cpu.fast.calls.drawing import laid_out, one_of, sizes_of
from tests.kernels.cpu.fast.held import Call

DTYPES = ("float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8")


def lines(rng: np.random.Generator, total: int, dtypes: tuple[str, ...] = DTYPES) -> tuple[Tensor, int]:
    """A tensor with few or many equal elements, NaN and infinities, now and then without any; and a dimension."""
    shape = sizes_of(rng, total, int(rng.integers(1, 4)))
    dim = int(rng.integers(len(shape)))
    if not rng.integers(15):
        shape[(dim + 1) % len(shape)] = 0
    dtype = one_of(rng, dtypes)
    x = laid_out(rng, shape, dtype, one_of(rng, [0, 0.001, 0.1]))
    if x.dtype.is_floating_point and rng.integers(2):
        x = (x * one_of(rng, [1, 10])).round()
    elif dtype == "int64" and rng.integers(2):
        x = x * 2**55  # too far apart for an index in the same 64 bits
    return x, dim - one_of(rng, [0, len(shape)])


def sorting(rng: np.random.Generator) -> Call:
    x, dim = lines(rng, one_of(rng, [50, 5_000, 80_000]), (*DTYPES, "bool"))
    descending = bool(rng.integers(2))
    if rng.integers(4):
        return Call(torch.sort, (x,), {"dim": dim, "descending": descending, "stable": bool(rng.integers(2))})
    return Call(torch.argsort, (x, dim, descending))


def selection(over: str) -> Callable[[np.random.Generator], Call]:
    """Calls of one operator, on small tensors, whose equal elements are PyTorch's, and on large ones."""

    def draw(rng: np.random.Generator) -> Call:
        x, dim = lines(rng, one_of(rng, [40, 1_000, 10_000, 80_000]))
        size = x.shape[dim]
        rest: tuple[Any, ...] = (dim,)
        if over == "topk":
            k = one_of(rng, [0, 1, size // 70, size // 10, size])
            rest = (min(k, size), dim, bool(rng.integers(2)), bool(rng.integers(2)))
        elif over == "kthvalue":
            rest = (int(rng.integers(1, size + 1)) if size else 1, dim)
        function = one_of(rng, [torch.median, torch.nanmedian]) if over == "median" else getattr(torch, over)
        return Call(function, (x, *rest))

    return draw


CALLS = {
    "cpu.sorting.sort.sorted_indices": sorting,
    "cpu.sorting.sort.picked": selection("mode"),
    "cpu.sorting.sort.picked_along": sorting,
    "aten::sort.stable": sorting,
    "cpu.sorting.selecting.kth_indices": selection("kthvalue"),
    "cpu.sorting.selecting.middle_indices": selection("median"),
    "cpu.sorting.selecting.first_indices": selection("topk"),
}
