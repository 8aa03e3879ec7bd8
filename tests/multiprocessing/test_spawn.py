"""Does one function run in several processes, and does its error come back?"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from typing import Any

import pytest

from glasstorch import multiprocessing as mp
from glasstorch.multiprocessing.spawn import ProcessException


def fill(i: int, shared: Any) -> None:
    shared[i] = i + 1


def fail_in_the_second(i: int) -> None:
    if i == 1:
        raise ValueError("the second process")


def exit_in_the_second(i: int) -> None:
    if i == 1:
        sys.exit(5)


def be_killed(i: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def wait_until_stopped(i: int) -> None:
    if i == 0:
        raise ValueError("the first process")
    signal.pause()


def join(context: mp.ProcessContext) -> None:
    while not context.join():
        pass


def test_processes_share_the_tensors_that_they_are_given() -> None:
    import glasstorch as torch

    shared = torch.zeros(3).share_memory_()
    assert mp.spawn(fill, args=(shared,), nprocs=3) is None
    assert shared.tolist() == [1, 2, 3]


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_an_error_is_raised_with_the_traceback_of_its_process(start: str) -> None:
    with pytest.raises(mp.ProcessRaisedException) as raised:
        mp.start_processes(fail_in_the_second, nprocs=2, start_method=start)
    assert raised.value.error_index == 1
    assert "-- Process 1 terminated with the following error:" in str(raised.value)
    assert "ValueError: the second process" in str(raised.value)
    assert "in fail_in_the_second" in str(raised.value)


def test_an_exit_and_a_signal_are_told() -> None:
    with pytest.raises(mp.ProcessExitedException, match="process 1 terminated with exit code 5") as raised:
        mp.start_processes(exit_in_the_second, nprocs=2, start_method="fork")
    assert (raised.value.exit_code, raised.value.signal_name) == (5, None)
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with signal SIGKILL") as raised:
        mp.start_processes(be_killed, nprocs=1, start_method="fork")
    assert raised.value.signal_name == "SIGKILL"


def test_the_others_are_stopped_where_one_fails() -> None:
    context = mp.start_processes(wait_until_stopped, nprocs=2, join=False, start_method="fork")
    assert context is not None
    assert len(context.pids()) == 2
    with pytest.raises(mp.ProcessRaisedException, match="the first process"):
        join(context)
    assert [process.is_alive() for process in context.processes] == [False, False]


def test_a_context_is_joined_as_its_processes_end() -> None:
    context = mp.start_processes(fail_in_the_second, nprocs=1, join=False, start_method="fork")
    assert context is not None
    join(context)
    assert context.join() is True


def test_the_exceptions_can_be_pickled() -> None:
    for error in (
        mp.ProcessRaisedException("text", 1, 2),
        mp.ProcessExitedException("text", 1, 2, exit_code=5, signal_name="SIGTERM"),
    ):
        back = pickle.loads(pickle.dumps(error))
        assert isinstance(back, ProcessException)
        assert (str(back), back.error_index, back.pid) == ("text", 1, 2)


def test_another_start_method_is_warned_of() -> None:
    with pytest.warns(FutureWarning, match="only supports start_method=spawn"):
        mp.spawn(fail_in_the_second, nprocs=1, start_method="fork")
