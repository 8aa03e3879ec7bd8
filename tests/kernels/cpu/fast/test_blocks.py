"""Is an array processed in pieces that cover it once, and does no operator make full-size temporaries?"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.allocator import cpu_allocator
from glasstorch.kernels.cpu.fast import thresholds
from glasstorch.kernels.cpu.fast.blocks import reduce_in_pieces, strips

random = np.random.default_rng(0)
VALUES = random.standard_normal((2048, 1024)).astype(np.float32)


def add(array: Any, dims: tuple[int, ...]) -> Any:
    return np.add.reduce(array, dims, keepdims=True)


@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 2), (0, 1, 2), ()])
@pytest.mark.parametrize("shape", [(3, 4, 40_000), (40_000, 4, 3), (50, 60, 70), (1, 200_000, 1), (2, 3, 4), (0, 3, 4)])
def test_pieces_cover_an_array_once(shape: tuple[int, ...], dims: tuple[int, ...]) -> None:
    array = random.integers(-9, 9, shape)
    for view in (array, array.transpose(2, 0, 1), array[:, ::-1, ::2]):
        for keepdim in (False, True):
            total = reduce_in_pieces(add, add, view, dims, keepdim)
            assert np.array_equal(total, np.add.reduce(view, dims, keepdims=keepdim))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("shape", [(3, 4, 40_000), (40_000, 4, 3), (50, 60, 70), (300_000, 1, 1), (5, 0, 2)])
def test_strips_hold_whole_lines_and_cover_an_array_once(shape: tuple[int, ...], axis: int) -> None:
    count = np.zeros(shape, np.int64)
    for view in (count, count.T):
        for strip in strips(view, axis):
            part = view[strip]
            assert part.shape[axis] == view.shape[axis]
            assert part.size <= max(thresholds.STRIP, part.shape[axis])
            part += 1
    assert (count == 2).all()


def spans(array: Any) -> int:
    """How many bytes lie from the first to the last byte of an array."""
    low, high = np.lib.array_utils.byte_bounds(array)
    return high - low


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_pieces_and_strips_lie_together_in_memory(order: tuple[int, ...]) -> None:
    array = np.zeros((50, 64, 70)).transpose(order)

    def seen(piece: Any, dims: tuple[int, ...]) -> Any:
        assert spans(piece) == piece.nbytes
        return add(piece, dims)

    reduce_in_pieces(seen, add, array, (0, 1, 2), False)
    fastest = order.index(2)
    for strip in strips(array, fastest):
        assert spans(array[strip]) == array[strip].nbytes


# Temporaries ----------------------------------------------------------------------------------------------------


def temporary_bytes(call: Callable[[], Any]) -> int:
    """The most bytes that lived during a call, less those of its results."""
    keep, cpu_allocator.keep = cpu_allocator.keep, 0
    cpu_allocator.empty_cache()
    tracemalloc.start()
    try:
        result = call()
        left, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        cpu_allocator.keep = keep
    del result
    return peak - left


EVERY = ((), (0,), (1,))
LINES = ((0,), (1,))
HALVES = "float16 bfloat16"
CALLS: list[tuple[str, str, Callable[[Any], Any]]] = [
    (f"{name} {dtype} {arguments}", dtype, lambda x, name=name, given=arguments: getattr(glasstorch, name)(x, *given))
    for names, dtypes, every in (
        ("sum mean nansum amax amin max", HALVES, EVERY),
        ("aminmax hash_tensor", HALVES, ((),)),
        ("argmax", HALVES, LINES),
        ("sum", "bool int32", EVERY),
        ("nansum mean nanmean amax var std hash_tensor", "float32", EVERY),
        ("norm", f"{HALVES} float32", tuple((p, *dim) for p in (0, 1, 2, 3, np.inf) for dim in EVERY)),
        ("logcumsumexp cummax median nanmedian mode cumsum cumprod sort", "float32", LINES),
        ("kthvalue topk", f"{HALVES} float32", ((5, 0), (5, 1))),
    )
    for name in names.split()
    for dtype in dtypes.split()
    for arguments in every
] + [
    ("var of a transposed tensor", "float32", lambda x: x.t().var()),
    *((f"sum of wide rows of {half}", half, lambda x: x.view(64, -1).sum(0)) for half in HALVES.split()),
    ("frexp", "float32", glasstorch.frexp),
    ("sort of a transposed tensor", "float32", lambda x: x.t().sort(1)),
    ("roll", "float32", lambda x: x.roll((3, 5, 1), (0, 1, 0))),
    *((f"softmax {half}", half, lambda x: x.softmax(1)) for half in HALVES.split()),
    *((f"log_softmax {half}", half, lambda x: x.log_softmax(1)) for half in HALVES.split()),
    ("renorm", "float32", lambda x: x.renorm(3, 1, 1.0)),
    ("masked.mean", "float32", glasstorch.masked.mean),
]


@pytest.mark.parametrize(("dtype", "call"), [c[1:] for c in CALLS], ids=[c[0] for c in CALLS])
def test_nothing_as_large_as_the_input_is_made_beside_the_result(dtype: str, call: Callable[[Any], Any]) -> None:
    x = glasstorch.from_numpy(VALUES).to(getattr(glasstorch, dtype))
    call(x[:8])  # what is made once
    assert temporary_bytes(lambda: call(x)) < VALUES.nbytes // 2
