"""What does a worker of a loader do?

Mirrors: torch/utils/data/_utils/worker.py
Differs: tasks and batches go through one channel, in order. A batch that cannot be pickled is an error of the program,
    where PyTorch waits for it for ever.
"""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from glasstorch.core import parallel
from glasstorch.core.exception_wrapper import ExceptionWrapper
from glasstorch.core.random.generator import default_generator, seed_devices
from glasstorch.data.channel import Channel, ready
from glasstorch.data.fetch import _DatasetKind
from glasstorch.data.worker_info import WorkerInfo, set_worker_info

SECONDS_BETWEEN_CHECKS: Final = 5.0  # how often one process checks that the other is still there
WORD: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Work:
    """What a worker is started with."""

    dataset_kind: int
    dataset: Any
    auto_collation: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool
    base_seed: int
    worker_init_fn: Callable[[int], None] | None
    num_workers: int

    def fetcher(self) -> Any:
        """A new fetcher, with which an iterable dataset starts from its beginning."""
        return _DatasetKind.create_fetcher(
            self.dataset_kind, self.dataset, self.auto_collation, self.collate_fn, self.drop_last
        )


class Task:
    """The indices of a batch, or the index of a sample, that a worker is to fetch."""

    __slots__ = ("index",)

    def __init__(self, index: Any) -> None:
        self.index = index

    def __reduce__(self) -> tuple[Any, ...]:
        return Task, (self.index,)


@dataclass(frozen=True, slots=True)
class Restart:
    """A task that begins another pass, by its number; the worker answers with it."""

    number: int


class Exhausted:
    """An answer: the iterable dataset of the worker has ended."""


def seed_everything(base_seed: int, worker_id: int) -> None:
    """Seed the random numbers of the library, of Python and of NumPy for a worker."""
    seed = base_seed + worker_id
    random.seed(seed)
    default_generator.manual_seed(seed)
    seed_devices(seed)
    np.random.seed(numpy_seed(base_seed, worker_id))  # noqa: NPY002  # programs draw from this one


def numpy_seed(base_seed: int, worker_id: int) -> Any:
    """Four words for NumPy's generator, which would repeat Python's numbers if it had the same seed."""
    return np.random.SeedSequence([worker_id, base_seed & WORD, base_seed >> 32, 0]).generate_state(4)


def worker_loop(channel: Channel, inherited: list[Channel], work: Work, worker_id: int) -> None:
    """Answer tasks until the other end of the channel is closed. Runs in a process of its own.

    `inherited` are the parent's ends of channels, of which a forked process has copies. It must close them: while it
    holds them, workers would not notice that the parent has ended. SIGINT is blocked in a new worker until this
    function unblocks it.
    """
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        for other in inherited:
            other.close()
        parallel.set_num_threads(1)
        seed_everything(work.base_seed, worker_id)
        set_worker_info(WorkerInfo(worker_id, work.num_workers, work.base_seed + worker_id, work.dataset))
        with suppress(EOFError):
            _answer(channel, work, worker_id)
    except KeyboardInterrupt:
        pass  # the process that iterates gets it too, and tells the user
    finally:
        channel.close()


def _answer(channel: Channel, work: Work, worker_id: int) -> None:
    """Answer tasks. EOFError when the other end is closed."""
    where = f"in DataLoader worker process {worker_id}"
    fetcher, failed = None, None
    try:
        if work.worker_init_fn is not None:
            work.worker_init_fn(worker_id)
        fetcher = work.fetcher()
    except Exception:  # noqa: BLE001  # the user's code may raise anything, and the process that iterates raises it again
        failed = ExceptionWrapper(where=where)
    parent = os.getppid()
    while os.getppid() == parent:
        if not ready([channel], SECONDS_BETWEEN_CHECKS):
            continue
        task = channel.receive()
        if isinstance(task, Restart):
            answer: Any = task
            try:
                fetcher, failed = work.fetcher(), None
            except Exception:  # noqa: BLE001  # as above
                failed = ExceptionWrapper(where=where)
        elif failed is not None:
            answer = failed
        else:
            answer = _fetched(fetcher, task.index, work.dataset_kind, where)
        try:
            channel.send(answer)
        except EOFError:
            raise
        except Exception:  # noqa: BLE001  # what the batch holds decides which
            channel.send(ExceptionWrapper(where=f"{where}, which could not send a batch"))
        answer = None  # its memory is needed no more


def _fetched(fetcher: Any, index: Any, kind: int, where: str) -> Any:
    """The batch, or what stands for it: that the dataset has ended, or an error."""
    try:
        return fetcher.fetch(index)
    except StopIteration:
        return Exhausted() if kind == _DatasetKind.Iterable else ExceptionWrapper(where=where)
    except Exception:  # noqa: BLE001  # as above
        return ExceptionWrapper(where=where)
