"""Do several threads compute what one does, and is nobody left behind?"""

from __future__ import annotations

import os
import threading
import time
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch.core import parallel
from glasstorch.kernels.cpu.fast.pointwise import threads
from glasstorch.kernels.cpu.fast.pointwise.threads import parts_of, share
from glasstorch.kernels.cpu.fast.thresholds import TWO_THREADS_FROM


@pytest.fixture(autouse=True)
def four_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_chosen", 4)


def test_a_large_loop_over_rows_of_memory_alike_is_shared() -> None:
    large, number = np.zeros(TWO_THREADS_FROM * 4, np.float32), np.zeros((), np.float32)
    assert parts_of(large, (large, number)) == 4
    assert parts_of(large[: TWO_THREADS_FROM + 5], (large[: TWO_THREADS_FROM + 5],)) == 2
    assert parts_of(large[:-1][: TWO_THREADS_FROM - 1], ()) == 1
    square = large.reshape(-1, 1024)
    assert parts_of(square, (square,)) == 4
    assert parts_of(square, (square.T.copy().T,)) == 1
    assert parts_of(square, (square[0],)) == 1
    parallel._chosen = 1
    assert parts_of(large, (large,)) == 1


def test_every_element_is_in_one_part_and_the_caller_takes_the_first() -> None:
    out, seen = np.zeros((3, 1001)), []

    def part(out: Any, x: Any, number: Any) -> None:
        seen.append((threading.current_thread() is threading.main_thread(), out.size))
        np.add(out, x + number, out=out)

    share(part, out, (np.arange(3003.0).reshape(3, 1001), np.array(0.5)), 4)
    np.testing.assert_array_equal(out.reshape(-1), np.arange(3003.0) + 0.5)
    assert sum(size for _, size in seen) == 3003
    assert [size for here, size in seen if here] == [768]
    assert len(seen) == 4


def test_an_error_is_raised_when_all_have_finished() -> None:
    done = []

    def part(out: Any) -> None:
        if not out[0]:
            raise ZeroDivisionError("the first")
        time.sleep(0.05)
        done.append(out.size)

    numbers = np.arange(1000)
    with pytest.raises(ZeroDivisionError, match="the first"):
        share(part, numbers, (), 3)
    assert len(done) == 2
    with pytest.raises(ZeroDivisionError, match="the first"):
        share(part, numbers - 512, (), 2)  # in the other thread


@pytest.mark.parametrize("name", ["exp", "sigmoid", "neg"])
def test_threads_change_no_bit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = glasstorch.randn(TWO_THREADS_FROM * 2 + 77)
    shared = getattr(x, name)()
    monkeypatch.setattr(parallel, "_chosen", 1)
    assert glasstorch.equal(shared, getattr(x, name)())


def test_a_division_by_zero_in_another_thread_is_refused() -> None:
    x = glasstorch.ones(TWO_THREADS_FROM * 2, dtype=glasstorch.int64)
    y = x.clone()
    y[-1] = 0
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        x % y


def test_numpy_s_settings_stay_out_of_the_threads() -> None:
    x = glasstorch.full((TWO_THREADS_FROM * 2,), 1e38)
    with np.errstate(all="raise"):
        assert (x * x)[-1].item() == float("inf")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own() -> None:
    x = glasstorch.ones(TWO_THREADS_FROM * 2)
    (x + x).sum()  # starts the threads
    assert threads._helpers is not None
    child = os.fork()
    if not child:
        os._exit(0 if threads._helpers is None and (x + x)[-1].item() == 2.0 else 1)
    assert os.waitpid(child, 0)[1] == 0
