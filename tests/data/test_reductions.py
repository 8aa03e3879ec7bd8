"""Do tensors reach other processes as shared memory, and is it freed when all are done?"""

from __future__ import annotations

import io
import os
import time
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch import multiprocessing as mp


def answer(questions: Any, answers: Any, written: Any) -> None:
    """What the other process does: writes into what it has, and returns what it gets, changed."""
    written[0] = 99
    while (got := questions.get()) is not None:
        for tensor in got:
            tensor += 1
        answers.put(got)


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_write_in_one_process_is_seen_in_the_other(method: str) -> None:
    if method not in mp.get_all_start_methods():
        method = "spawn"
    context = mp.get_context(method)
    questions, answers = context.Queue(), context.Queue()
    written = glasstorch.zeros(3).share_memory_()
    process = context.Process(target=answer, args=(questions, answers, written), daemon=True)
    process.start()
    x = glasstorch.arange(6.0).view(2, 3).t()
    parameter = glasstorch.nn.Parameter(glasstorch.zeros(2))
    questions.put([x, x[2:], parameter.data])
    first, second, third = answers.get(timeout=600)
    questions.put(None)
    process.join(60)
    assert process.exitcode == 0
    assert written.tolist() == [99, 0, 0]
    assert x.tolist() == [[1, 4], [2, 5], [4, 7]]
    assert (first.tolist(), first.stride()) == (x.tolist(), (1, 3))
    assert first.untyped_storage() is second.untyped_storage() is x.untyped_storage()  # it came home
    assert third.tolist() == parameter.tolist() == [1, 1]


def sent(value: Any) -> Any:
    """A value after a way through the pickler that queues use, in this process."""
    stream = io.BytesIO()
    ForkingPickler(stream, 5).dump(value)
    return ForkingPickler.loads(stream.getvalue())


def test_what_is_no_matter_of_memory_travels_too() -> None:
    leaf = sent(glasstorch.nn.Parameter(glasstorch.ones(2)))
    assert (type(leaf), leaf.requires_grad, leaf.is_shared()) == (glasstorch.nn.Parameter, True, True)
    assert sent(glasstorch.empty(0, 3)).shape == (0, 3)
    meta = sent(glasstorch.empty(1 << 40, device="meta"))
    assert (meta.is_meta, meta.shape) == (True, (1 << 40,))
    assert sent(glasstorch.tensor([1 + 2j]).conj()).tolist() == [1 - 2j]


def test_what_was_computed_with_a_gradient_is_refused() -> None:
    y = glasstorch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor which requires_grad"):
        sent(y)
    assert sent(y.detach()).tolist() == [2, 2]


def test_an_array_over_the_old_memory_is_left_behind() -> None:
    x = glasstorch.zeros(2)
    array = x.numpy()
    y = sent(x)
    y += 1
    assert (x.tolist(), array.tolist()) == ([1, 1], [0, 0])
    assert x.numpy().tolist() == [1, 1]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="the system does not list open files")
def test_sending_leaves_nothing_open() -> None:
    sent(glasstorch.ones(1000))
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        x = glasstorch.ones(1000)
        assert np.all(sent(x).numpy() == 1)
        del x
    end = time.monotonic() + 600  # the thread that hands descriptors over closes its own a moment later
    while (still := len(os.listdir("/proc/self/fd"))) > before and time.monotonic() < end:
        time.sleep(0.01)
    assert still <= before
