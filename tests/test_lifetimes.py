"""Does memory live exactly as long as its users, whatever they are and in whichever order they go?

Tensors, views, arrays of NumPy, capsules, lazy clones, shared memory and copies come and go at random, each with a mark
that only its owner writes. A mark that changed means that memory was given to somebody else too early. In the end
nothing may be left: no object, no byte in use, no open file.
"""

from __future__ import annotations

import gc
import os
import pickle
import random
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import glasstorch
from glasstorch import Tensor
from glasstorch.core.allocator import LARGE, Block, cpu_allocator
from glasstorch.core.shared_memory import SharedMemory
from glasstorch.core.storage import LazyCopy, UntypedStorage
from glasstorch.outside_data.dlpack import Lent

COUNTED = (Tensor, UntypedStorage, Block, Lent, LazyCopy, SharedMemory)
DTYPES = (glasstorch.uint8, glasstorch.int32, glasstorch.float32, glasstorch.float64)
KEPT = 40  # at most so many things are alive in one worker


class Worker:
    """Holds things of one memory or another, and knows the mark that each must have."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.held: list[tuple[Any, int]] = []  # a tensor or an array, and its mark in every element
        self.done: Counter[str] = Counter()

    def work(self, operations: int) -> None:
        """Do so many random things, then let everything go."""
        names = list(OPERATIONS)
        weights = [WEIGHTS.get(name, 10) for name in names]
        for name in self.random.choices(names, weights, k=operations):
            if len(self.held) >= KEPT:
                self.free()
            OPERATIONS[name](self)
            self.done[name] += 1
        while self.held:
            self.free()

    def free(self) -> None:
        """Let go of one thing, whose mark must be what it was."""
        thing, mark = self.held.pop(self.random.randrange(len(self.held)))
        check(thing, mark)

    def keep(self, thing: Any, mark: int) -> None:
        self.held.append((thing, mark))

    def tensor(self) -> tuple[Tensor, int]:
        """A tensor that is held, or a new one."""
        for _ in range(4):
            if self.held:
                thing, mark = self.random.choice(self.held)
                if isinstance(thing, Tensor):
                    return thing, mark
        return self.fresh(self.random.randrange(1, 60))

    def fresh(self, count: int) -> tuple[Tensor, int]:
        mark = self.random.randrange(1, 120)
        made = glasstorch.empty(count, dtype=self.random.choice(DTYPES)).fill_(mark)
        self.keep(made, mark)
        return made, mark

    # What can happen ---------------------------------------------------------------------------------------------

    def small(self) -> None:
        self.fresh(self.random.randrange(0, 200))

    def large(self) -> None:
        self.fresh(LARGE // 8 + self.random.randrange(4) * 10_000)

    def view(self) -> None:
        tensor, mark = self.tensor()
        length = tensor.shape[0]
        self.keep(tensor[self.random.randrange(length + 1) :: self.random.randrange(1, 4)], mark)

    def matrix(self) -> None:
        tensor, mark = self.tensor()
        half = tensor.shape[0] // 2
        self.keep(tensor[: 2 * half].view(2, half).t().reshape(-1) if half else tensor, mark)

    def shown(self) -> None:
        tensor, mark = self.tensor()
        self.keep(tensor.numpy(), mark)

    def capsule(self) -> None:
        tensor, mark = self.tensor()
        self.keep(np.from_dlpack(tensor), mark)

    def taken(self) -> None:
        mark = self.random.randrange(1, 120)
        array = np.full(self.random.randrange(1, 50), mark, np.int32)
        take = (glasstorch.from_numpy, glasstorch.from_dlpack, glasstorch.asarray)
        self.keep(self.random.choice(take)(array), mark)

    def buffer(self) -> None:
        mark = self.random.randrange(1, 120)
        data = bytearray([mark]) * self.random.randrange(1, 50)
        self.keep(glasstorch.frombuffer(data, dtype=glasstorch.uint8), mark)

    def copied(self) -> None:
        tensor, mark = self.tensor()
        self.keep(tensor.clone() if self.random.random() < 0.8 else pickle.loads(pickle.dumps(tensor)), mark)

    def lazy(self) -> None:
        tensor, mark = self.tensor()
        self.keep(tensor._lazy_clone(), mark)

    def lazily_written(self) -> None:
        tensor, mark = self.tensor()
        other = tensor._lazy_clone()
        new = self.random.randrange(1, 120)
        self.keep(other.fill_(new), new)
        check(tensor, mark)

    def rewritten(self) -> None:
        mark = self.random.randrange(1, 120)
        made = glasstorch.empty(self.random.randrange(1, 50)).fill_(mark)
        first = made._lazy_clone()
        made.fill_(mark + 1)
        self.keep(first, mark)
        self.keep(made, mark + 1)

    def resized(self) -> None:
        mark = self.random.randrange(1, 120)
        made = glasstorch.empty(8).fill_(mark)
        made.resize_(self.random.randrange(1, 8))
        self.keep(made, mark)
        grown = glasstorch.empty(4).fill_(mark).resize_(400).fill_(mark)
        self.keep(grown, mark)

    def set(self) -> None:
        tensor, mark = self.tensor()
        other = glasstorch.empty(3, dtype=tensor.dtype)
        self.keep(other.set_(tensor), mark)

    def shared(self) -> None:
        mark = self.random.randrange(1, 120)
        self.keep(glasstorch.empty(20).fill_(mark).share_memory_(), mark)

    def dropped(self) -> None:
        if self.held:
            self.free()


def check(thing: Any, mark: int) -> None:
    array = thing.detach().array() if isinstance(thing, Tensor) else thing
    seen = array[:: max(1, array.size // 50)] if array.ndim == 1 else array
    wrong = seen[seen != mark]
    assert not wrong.size, f"{type(thing).__name__} of {array.size} elements has lost its mark {mark}: {array}"


OPERATIONS: dict[str, Callable[[Worker], None]] = {
    name: function
    for name, function in vars(Worker).items()
    if not name.startswith("_") and name not in ("work", "free", "keep", "tensor", "fresh")
}
WEIGHTS = {"large": 1, "shared": 1, "small": 25, "view": 25, "dropped": 25}


def alive() -> Counter[str]:
    """How many objects there are that hold memory, by class."""
    gc.collect()
    return Counter(type(thing).__name__ for thing in gc.get_objects() if type(thing) in COUNTED)


def open_files() -> int:
    folder = Path("/proc/self/fd")
    return len(os.listdir(folder)) if folder.is_dir() else 0


def run(threads: int, operations: int) -> None:
    """So many operations in each of so many threads; nothing may be left of them."""
    before, in_use, files = alive(), cpu_allocator.bytes_in_use, open_files()
    workers = [Worker(seed) for seed in range(threads)]
    failures: list[Exception] = []
    finished: list[int] = []

    def guarded(worker: Worker) -> None:
        try:
            worker.work(operations)
        except (AssertionError, RuntimeError, ValueError, MemoryError, BufferError) as error:
            failures.append(error)
        else:
            finished.append(threading.get_ident())

    running = [threading.Thread(target=guarded, args=(worker,)) for worker in workers]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert not failures, failures[0]
    assert len(finished) == threads
    assert all(set(worker.done) == set(OPERATIONS) for worker in workers), "something was never done"
    del workers
    assert alive() == before
    assert (cpu_allocator.bytes_in_use, open_files()) == (in_use, files)
    pooled = sum(block.nbytes for kept in cpu_allocator.free.values() for block in kept)
    assert cpu_allocator.bytes_cached == pooled


def test_nothing_is_overwritten_and_nothing_is_left() -> None:
    run(1, 20_000)


def test_the_same_holds_with_eight_threads() -> None:
    run(8, 2_000)


@pytest.mark.slow
def test_nothing_is_left_of_a_million_operations() -> None:
    run(1, 1_000_000)


@pytest.mark.slow
def test_nothing_is_left_of_a_million_operations_in_eight_threads() -> None:
    run(8, 125_000)
