"""How does a loader go through its dataset with workers?

Mirrors: torch/utils/data/dataloader.py (_MultiProcessingDataLoaderIter), torch/utils/data/_utils/signal_handling.py
Differs: each worker has a channel of its own. A batch is read from the worker whose turn it is, so none has to be put
    by; that a worker has ended is seen by its channel, and no handler of SIGCHLD is needed.

# Note [How workers end]
A worker ends when the other end of its channel is closed. That is so when the iterator has ended or is deleted, and
when the process that iterates has ended, however it did. A forked worker inherits copies of the ends that its parent
holds, those of other workers included, and closes them first.

The process that iterates sees in the same way that a worker has ended, and tells it from a worker that is slow.
Ctrl-C reaches all processes of a terminal at once: the workers end without a word.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import time
import warnings
import weakref
from collections import deque
from collections.abc import Iterable
from contextlib import contextmanager
from pickle import PicklingError
from typing import TYPE_CHECKING, Any, Final

from glasstorch.core.exception_wrapper import ExceptionWrapper
from glasstorch.data.channel import Channel, ready
from glasstorch.data.iterators import _BaseDataLoaderIter
from glasstorch.data.pin_memory import pin_memory
from glasstorch.data.reductions import register_reductions
from glasstorch.data.worker import SECONDS_BETWEEN_CHECKS, Exhausted, Restart, Task, Work, worker_loop

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS_TO_END: Final = 5.0  # for all workers together; those that take longer are terminated
_open: Final[weakref.WeakSet[Channel]] = weakref.WeakSet()  # ends in this process, which a forked one inherits

CANNOT_PICKLE = (
    "Got pickle error when attempting to start a worker Process. This might be because the worker Process arguments "
    "are not picklable. Python 3.14+ changed the multiprocessing start method in non-Mac POSIX platforms to "
    "'forkserver', which requires the worker Process arguments to be picklable. You can also try "
    "multiprocessing.set_start_method('fork')."
)


class Worker:
    """A worker as the process that iterates knows it.

    `active`: its dataset has not ended in this pass. `tasks`: those it has not answered. `answers`: received ahead.
    """

    def __init__(self, process: Any, channel: Channel, number: int) -> None:
        self.process = process
        self.channel = channel
        self.number = number
        self.active = True
        self.tasks = 0
        self.answers: deque[Any] = deque()

    def send(self, message: object) -> None:
        """Send it a message. EOFError if it has ended."""
        self.channel.send(message, self.answers)


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """A pass in which worker processes fetch the batches, some ahead of time; see Note [How workers end]."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        self._prefetch_factor = loader.prefetch_factor
        self._in_order = loader.in_order
        if self._prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self._members: list[Worker] = []
        self._numbers = itertools.count(1)  # of the passes after the first
        self._shutdown_workers = weakref.finalize(self, _end, self._members, os.getpid())
        self._shutdown_workers.atexit = False  # Python terminates the workers then
        context = loader.multiprocessing_context or multiprocessing
        work = Work(
            self._dataset_kind,
            self._dataset,
            self._auto_collation,
            self._collate_fn,
            self._drop_last,
            self._base_seed,
            loader.worker_init_fn,
            self._num_workers,
        )
        try:
            for number in range(self._num_workers):
                self._members.append(_started(context, work, number))
        except BaseException:
            self._shutdown_workers()
            raise
        self._assign_first()

    @property
    def _workers(self) -> list[Any]:
        """The processes."""
        return [worker.process for worker in self._members]

    @property
    def _is_open(self) -> bool:
        """Whether the workers have not been told to end, and none has ended."""
        return self._shutdown_workers.alive and all(worker.process.is_alive() for worker in self._members)

    def _reset(self, loader: Any) -> None:
        """Begin another pass with the same workers. Batches of the pass before that are on their way are dropped."""
        self._sampler_iter = iter(self._index_sampler)
        self._begin(loader)
        restart = Restart(next(self._numbers))
        for worker in self._members:
            self._send(worker, restart)
        for worker in self._members:
            while not _is(self._answer_of(worker), restart):
                pass
            worker.active, worker.tasks = True, 0
        self._assign_first()

    # Tasks --------------------------------------------------------------------------------------------------------

    def _assign_first(self) -> None:
        """Give each worker as many tasks as it may have at a time."""
        self._pending: deque[Worker] = deque()  # who has the tasks that are not answered, in their order
        self._turns = itertools.cycle(self._members)
        for _ in range(self._prefetch_factor * self._num_workers):
            self._assign()

    def _assign(self) -> None:
        """Give the next task, if there is one, to the worker whose turn it is."""
        try:
            index = next(self._sampler_iter)
        except StopIteration:
            return
        worker = self._next_in_turn()
        if worker is not None:
            self._send(worker, Task(index))
            worker.tasks += 1
            self._pending.append(worker)

    def _next_in_turn(self) -> Worker | None:
        """An active worker; one that has room for a task, where batches may come in any order."""
        active = sum(worker.active for worker in self._members)
        for worker in itertools.islice(self._turns, self._num_workers):
            room = self._in_order or worker.tasks < self._prefetch_factor * self._num_workers // max(active, 1)
            if worker.active and room:
                return worker
        return None

    def _send(self, worker: Worker, message: object) -> None:
        try:
            worker.send(message)
        except EOFError as error:
            raise self._ended([worker]) from error

    # Batches ------------------------------------------------------------------------------------------------------

    def _next_data(self) -> Any:
        while (worker := self._next_to_answer()) is not None:
            answer = self._answer_of(worker)
            self._pending.remove(worker)  # its first task, which this was
            worker.tasks -= 1
            worker.active = not isinstance(answer, Exhausted)
            self._assign()
            if worker.active:
                if isinstance(answer, ExceptionWrapper):
                    answer.reraise()
                return pin_memory(answer) if self._pin_memory else answer
        if not self._persistent_workers:
            self._shutdown_workers()
        raise StopIteration

    def _next_to_answer(self) -> Worker | None:
        """The worker that answers next: that of the first task, or the first to answer; None if no task is left."""
        while self._pending and not self._pending[0].active:  # its dataset has ended: it has no batch for this task
            self._pending.popleft()
        if self._in_order or not self._pending:
            return self._pending[0] if self._pending else None
        asked = {worker.channel: worker for worker in self._pending if worker.active}
        ahead = next((worker for worker in asked.values() if worker.answers), None)
        return ahead or asked[self._wait_for(asked)]

    def _answer_of(self, worker: Worker) -> Any:
        """What a worker answers next."""
        if worker.answers:
            return worker.answers.popleft()
        if worker.channel.closed:  # reading from it was interrupted
            raise self._ended([worker])
        channel = self._wait_for([worker.channel])
        try:
            return channel.receive()
        except EOFError as error:
            raise self._ended([worker]) from error

    def _wait_for(self, channels: Iterable[Channel]) -> Channel:
        """The first of some channels on which something arrives."""
        start = time.monotonic()
        watched = [*channels, *(worker.process.sentinel for worker in self._members)]
        while True:
            left = self._timeout - (time.monotonic() - start) if self._timeout > 0 else SECONDS_BETWEEN_CHECKS
            for found in ready(watched, max(0.0, min(left, SECONDS_BETWEEN_CHECKS))):
                if isinstance(found, Channel):
                    return found
            if ended := [worker for worker in self._members if not worker.process.is_alive()]:
                raise self._ended(ended)
            if self._timeout > 0 and left <= 0:
                raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")

    def _ended(self, workers: list[Worker]) -> RuntimeError:
        """The error that names the workers which ended unexpectedly; the others are told to end."""
        for worker in workers:
            worker.process.join(SECONDS_TO_END)
        pids = ", ".join(str(worker.process.pid) for worker in workers)
        reasons = "; ".join(_how_it_ended(worker) for worker in workers)
        self._pending.clear()
        self._shutdown_workers()
        return RuntimeError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly: {reasons}")


def _is(answer: object, restart: Restart) -> bool:
    """Whether an answer belongs to this task, and not to a task of a pass that was interrupted at its start."""
    return isinstance(answer, Restart) and answer == restart


def _started(context: Any, work: Work, number: int) -> Worker:
    """A worker that has been started."""
    mine, theirs = Channel.pair()
    _open.add(mine)
    forks = context.get_start_method() == "fork"
    if not forks:
        register_reductions()  # the dataset is pickled, and its tensors go through shared memory
    arguments = (theirs, list(_open) if forks else [], work, number)
    process = context.Process(target=worker_loop, args=arguments, daemon=True)
    try:
        with _interrupts_blocked():
            process.start()
    except BaseException as error:
        mine.close()
        if process.pid is not None:  # Ctrl-C came while it was started
            process.join(SECONDS_TO_END)
        if isinstance(error, TypeError | AttributeError | PicklingError):
            warnings.warn(CANNOT_PICKLE, stacklevel=5)
        raise
    finally:
        theirs.close()
    return Worker(process, mine, number)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block Ctrl-C in processes that are started in the block; a worker unblocks it when it is ready.

    If this process has other threads, it still receives it: the system delivers it to any thread that does not block
    it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _how_it_ended(worker: Worker) -> str:
    code = worker.process.exitcode
    name = f"worker {worker.number} (pid {worker.process.pid})"
    if code is None:
        return f"{name} has closed its connection"
    if code >= 0:
        return (
            f"{name} exited with exit code {code}. Details are lost due to multiprocessing. Rerunning with "
            f"num_workers=0 may give better error trace."
        )
    text = f"{name} is killed by signal: {signal.strsignal(-code)}."
    if -code == signal.SIGBUS:
        text += (
            " It is possible that dataloader's workers are out of shared memory. Please try to raise your shared "
            "memory limit."
        )
    return text


def _end(workers: list[Worker], owner: int) -> None:
    """Tell workers to end, and wait until they have; those that take too long are terminated."""
    for worker in workers:
        worker.channel.close()
    if os.getpid() != owner:  # a copy in a forked process, whose children they are not
        return
    deadline = time.monotonic() + SECONDS_TO_END
    for worker in workers:
        worker.process.join(max(0.0, deadline - time.monotonic()))
    for stop in ("terminate", "kill"):
        for worker in workers:
            if worker.process.is_alive():
                getattr(worker.process, stop)()
                worker.process.join(SECONDS_TO_END)
