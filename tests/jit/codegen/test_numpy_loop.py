"""Does NumPy run a loop without temporaries of full size, in as few scratch arrays as it needs?"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core.dtype import float32, float64
from glasstorch.jit import fuser
from glasstorch.jit.codegen.numpy_loop import BLOCK, NumpyLoop
from glasstorch.jit.codegen.program import Constant, Loop, Step
from tests.jit.codegen.groups import group_of


def loop_of(*steps: Step, writes: tuple[int, ...] = ()) -> Loop:
    return Loop((), steps, (0,), writes or (steps[-1].slot,))


CHAIN = loop_of(
    Step("mul", (0, 0), 1, float32),
    Step("exp", (1,), 2, float32),
    Step("add", (2, Constant(1.0, float32)), 3, float32),
    Step("neg", (3,), 4, float32),
)


def test_the_text_has_a_line_for_each_step() -> None:
    loop = NumpyLoop(CHAIN, [float32] * 5)
    assert loop.source == (
        "def body(in0, out4, s0):\n    mul(in0, in0, out=s0)\n    exp(s0, out=s0)\n    add(s0, c0, out=s0)\n"
        "    neg(out4, s0)\n"
    )
    assert loop.scratch == [float32]


def test_what_is_needed_later_is_not_written_over() -> None:
    steps = (Step("exp", (0,), 1, float32), Step("neg", (1,), 2, float32), Step("mul", (1, 2), 3, float32))
    assert NumpyLoop(loop_of(*steps), [float32] * 4).source == (
        "def body(in0, out3, s0, s1):\n    exp(in0, out=s0)\n    neg(s1, s0)\n    mul(s0, s1, out=out3)\n"
    )


def test_a_dtype_has_scratch_arrays_of_its_own() -> None:
    steps = (Step("exp", (0,), 1, float32), Step("cast", (1,), 2, float64), Step("neg", (2,), 3, float64))
    assert NumpyLoop(loop_of(*steps), [float32, float32, float64, float64]).scratch == [float32, float64]


def test_a_result_that_a_step_reads_is_read_where_it_is_written() -> None:
    steps = (Step("exp", (0,), 1, float32), Step("neg", (1,), 2, float32))
    assert NumpyLoop(loop_of(*steps, writes=(1, 2)), [float32] * 3).source == (
        "def body(in0, out1, out2):\n    exp(in0, out=out1)\n    neg(out2, out1)\n"
    )


@pytest.mark.parametrize(
    "sizes", [(5,), (BLOCK,), (BLOCK + 1,), (3, BLOCK), (BLOCK, 3), (7, 5, BLOCK // 16), (2, BLOCK + 5), (40, 30, 20)]
)
def test_every_block_is_computed(sizes: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).normal(size=sizes).astype(np.float32)
    out = np.full(sizes, np.nan, np.float32)
    NumpyLoop(CHAIN, [float32] * 5)(sizes, [x, out])
    assert np.array_equal(out, -(np.exp(x * x) + np.float32(1)))


def chain(x: Any) -> Any:
    return ((x * x).exp() + 1).neg().sigmoid()


def test_no_temporary_has_full_size() -> None:
    x = glasstorch.zeros(1_000_000)
    with fuser("numpy"):
        group = group_of(chain, glasstorch.zeros(3))
    group(x)
    assert peak(lambda: group(x)) < x.nbytes + 4 * BLOCK * 4
    assert peak(lambda: chain(x)) > 2 * x.nbytes


def peak(run: Callable[[], object]) -> int:
    """The most bytes that are in use at once while something runs."""
    glasstorch.core.allocator.cpu_allocator.empty_cache()
    tracemalloc.start()
    try:
        kept = run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        del kept
