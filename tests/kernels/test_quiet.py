"""Does computing with NumPy stay silent, and does it leave the user's settings alone?"""

from __future__ import annotations

import threading

import numpy as np
import pytest

import glasstorch
from glasstorch.kernels.quiet import idle, quietly

HUGE = np.full(4, 3e38, np.float32)


def test_a_loop_that_overflows_warns_nobody() -> None:
    assert np.isinf(quietly(np.add, HUGE, HUGE)).all()


def test_the_settings_outside_are_those_of_before() -> None:
    with np.errstate(over="raise", invalid="warn"):
        before = np.geterr()
        quietly(np.add, HUGE, HUGE)
        assert np.geterr() == before
        with pytest.raises(FloatingPointError, match="overflow"):
            np.add(HUGE, HUGE)


def test_operators_do_not_raise_where_the_user_asked_numpy_to() -> None:
    with np.errstate(all="raise"):
        x = glasstorch.tensor([1.0, -1.0, 0.0, 3e38])
        assert (x / 0).tolist() == [float("inf"), float("-inf"), pytest.approx(float("nan"), nan_ok=True), float("inf")]
        assert (x * 1e300).tolist()[0] == float("inf")
        assert [value != value for value in x.log().tolist()] == [False, True, False, False]
        x.mul_(x).mul_(x)
        assert x.tolist()[3] == float("inf")


def test_a_call_inside_a_call_finds_another_context() -> None:
    def outer() -> float:
        return float(quietly(np.add, HUGE, HUGE)[0])

    assert quietly(outer) == float("inf")


def test_an_exception_loses_one_context_and_the_next_call_works() -> None:
    count = len(idle)
    with pytest.raises(ZeroDivisionError):
        quietly(lambda: 1 // 0)
    assert len(idle) == max(count - 1, 0)
    assert quietly(np.add, HUGE, HUGE)[0] == float("inf")
    assert len(idle) >= 1


def test_threads_compute_at_the_same_time() -> None:
    barrier = threading.Barrier(4)
    results: list[float] = []

    def meet_inside() -> float:
        barrier.wait(timeout=600)  # only passes if all four are inside at once
        return float(np.add(HUGE, HUGE)[0])

    threads = [threading.Thread(target=lambda: results.append(quietly(meet_inside))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [float("inf")] * 4
