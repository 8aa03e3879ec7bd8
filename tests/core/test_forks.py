"""Does a forked process find the library's locks free, whatever other threads were doing?"""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable
from typing import Any

import pytest

import glasstorch
from glasstorch.core import storage
from glasstorch.core.allocator import LARGE, cpu_allocator
from glasstorch.core.random.generator import default_generator

USES: list[tuple[Any, Callable[[], object]]] = [
    (cpu_allocator.lock, lambda: glasstorch.empty(2 * LARGE)),
    (storage._making_lazy, lambda: glasstorch.ones(2)._lazy_clone()),
    (default_generator.stream._lock, lambda: glasstorch.rand(2)),
]


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="the system cannot fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize(("lock", "use"), USES, ids=["allocator", "lazy copies", "generator"])
def test_a_lock_that_another_thread_holds_is_free_in_a_forked_process(lock: Any, use: Callable[[], object]) -> None:
    held, forking = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            held.set()
            forking.wait(0.3)  # nobody sets it: forking waits for the lock

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    process = multiprocessing.get_context("fork").Process(target=use)
    process.start()
    process.join(60)
    code = process.exitcode
    process.kill()
    thread.join()
    assert code == 0
