"""Which thread runs a node, and what happens where passes are nested too deep for one?

Mirrors: torch/csrc/autograd/engine.h (ReadyQueue, MAX_DEPTH), engine.cpp (thread_main, start_device_threads,
    reentrant_thread_init, add_thread_pool_task, execute_with_graph_task)
Differs: a device's thread starts when the first node comes for it; the thread that began a pass runs its callbacks; a
    failed pass ends when what was queued of it has been skipped.

# Note [Threads of devices]
A node runs in the thread of the device on which its gradients lie, and nodes of the CPU in the thread that called
`backward`. Each thread has a queue, at which it waits, and passes share the queues: of all nodes there, those of the
innermost pass come first, and of these the latest. A thread never blocks for the end of a pass. It goes on taking nodes
from its queue, of whichever pass, until its own pass is over. So a node may begin a pass of its own
whose nodes need the very thread that runs it.

Each such pass is one more Python call deep in the stack. The one after MAX_DEPTH is driven by another thread, with the
queue of the one that waits for it.

A node sees the modes of the thread that called `backward`: it runs in a copy of its context. What it changes there is
gone when the next node runs.
"""

from __future__ import annotations

import heapq
import math
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import count
from typing import Any, Protocol

from glasstorch.autograd.node import Node, accelerator_of
from glasstorch.core.errors import AutogradError
from glasstorch.devices import runtime

MAX_DEPTH = 60  # passes within passes in one thread


class Pass(Protocol):
    """What this file needs of a backward pass."""

    @property
    def depth(self) -> int:
        """In how many passes it is nested."""

    @property
    def shared(self) -> SharedPass | None: ...

    def evaluate(self, node: Node) -> None:
        """Run a node, and deliver what it gives."""

    def run(self) -> None:
        """Run all nodes in this thread."""


class ReadyQueue:
    """Nodes that are ready, of several passes; a thread waits here for the next."""

    def __init__(self) -> None:
        self.heap: list[Any] = []
        self.changed = threading.Condition()  # held while the heap changes; who waits for a node is notified
        self.numbers = count()  # one for each that comes, in turn

    def push(self, shared: SharedPass, node: Node) -> None:
        """Put a node of a pass into the queue."""
        place = (-shared.task.depth, -node.sequence_nr, next(self.numbers))
        with self.changed:
            heapq.heappush(self.heap, (place, shared, node))
            self.changed.notify()

    def wake(self) -> None:
        """Let the thread that waits here look whether its pass is over."""
        with self.changed:
            heapq.heappush(self.heap, ((-math.inf, 0, next(self.numbers)), None, None))
            self.changed.notify()

    def pop(self) -> tuple[SharedPass | None, Node | None]:
        """The node that is to run next, and its pass; None for both where the thread was only woken.

        Waits until there is something.
        """
        with self.changed:
            while not self.heap:
                self.changed.wait()
            _, shared, node = heapq.heappop(self.heap)
        return shared, node


class _Thread(threading.local):
    """What a thread knows of the passes that it drives."""

    depth = 0  # how many of them, one within the other
    device: int | None = None  # whose thread it is
    node: Node | None = None  # of a shared pass, the node that runs

    def __init__(self) -> None:
        self.queue = ReadyQueue()


of_thread = _Thread()


class SharedPass:
    """A pass whose nodes run in several threads; `lock` is held while its counts and buffers change."""

    def __init__(self, task: Pass) -> None:
        self.task = task
        self.lock = threading.RLock()
        self.outstanding = 0  # nodes that are queued or run
        self.error: BaseException | None = None  # the first
        self.queue = of_thread.queue  # of the thread that waits for the end
        self.context = copy_context()

    def push(self, node: Node) -> None:
        """Queue a node at the thread that is to run it."""
        index = accelerator_of(node)
        queue = self.queue if index is None else queue_of(index)
        with self.lock:
            self.outstanding += 1
        queue.push(self, node)

    def run(self, node: Node) -> None:
        """Run a node, unless the pass has failed; its error is kept for the thread that waits."""
        if self.error is None:
            before, of_thread.node = of_thread.node, node
            try:
                if of_thread.device is not None:
                    runtime.set_device(of_thread.device)
                self.context.copy().run(self.task.evaluate, node)
            except BaseException as error:  # noqa: BLE001  # whatever it is: the caller gets it
                self.fail(error)
            finally:
                of_thread.node = before
        with self.lock:
            self.outstanding -= 1
            over = not self.outstanding
        if over and self.queue is not of_thread.queue:
            self.queue.wake()

    def fail(self, error: BaseException) -> None:
        """Keep an error for the thread that waits; the first one counts."""
        if self.error is None:
            self.error = error

    def finish(self) -> None:
        """Run what comes to this thread until all nodes of the pass have run; raise what one of them has raised."""
        while self.outstanding:
            step(of_thread.queue)
        error, self.error = self.error, None
        if error is not None:
            try:
                raise error
            finally:
                del error  # its traceback holds this frame


def step(queue: ReadyQueue) -> None:
    """Run the next node of a queue, of whichever pass."""
    shared, node = queue.pop()
    if shared is not None and node is not None:
        shared.run(node)


# Driving a pass -------------------------------------------------------------------------------------------------


def drive(task: Pass) -> None:
    """Run a pass to its end: in this thread or, where too many are nested in it, in another while this one waits."""
    if _threads.lost:
        raise AutogradError(
            "Unable to handle autograd's threading in combination with fork-based multiprocessing. See "
            "https://github.com/pytorch/pytorch/wiki/Autograd-and-Fork"
        )
    if of_thread.depth > MAX_DEPTH:
        place = of_thread.queue, of_thread.device, runtime.streams_of_thread()
        _threads.pool().submit(copy_context().run, _drive_for, place, task).result()
        return
    of_thread.depth += 1
    try:
        if task.shared is None:
            task.run()
        else:
            task.shared.finish()
    finally:
        of_thread.depth -= 1


def _drive_for(place: tuple[ReadyQueue, int | None, Any], task: Pass) -> None:
    """Run a pass in a thread of the pool, in place of the thread that waits."""
    of_thread.queue, of_thread.device, streams = place
    runtime.use_streams(streams)
    drive(task)


# Threads --------------------------------------------------------------------------------------------------------


class _Threads:
    """The threads that the engine has started: one for each device, and a pool for passes nested too deep."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.queues: dict[int, ReadyQueue] = {}
        self.executor: ThreadPoolExecutor | None = None
        self.lost = False  # whether this is a process that was forked from one with such threads

    def pool(self) -> ThreadPoolExecutor:
        """A pool that starts a thread whenever all of its threads wait."""
        with self.lock:
            if self.executor is None:
                self.executor = ThreadPoolExecutor(max_workers=1 << 16, thread_name_prefix="pt_autograd")
            return self.executor

    def queue_of(self, index: int) -> ReadyQueue:
        """The queue of a device, at which its thread waits."""
        with self.lock:
            if index not in self.queues:
                queue = self.queues[index] = ReadyQueue()
                threading.Thread(target=_serve, args=(index, queue), name=f"pt_autograd_{index}", daemon=True).start()
            return self.queues[index]

    def forked(self) -> None:
        """In the child process: the threads are gone."""
        self.lost = self.lost or bool(self.queues) or self.executor is not None


def _serve(index: int, queue: ReadyQueue) -> None:
    """Run what comes for a device, as long as the process lives."""
    of_thread.device, of_thread.queue = index, queue
    while True:
        step(queue)


_threads = _Threads()
queue_of = _threads.queue_of
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_threads.forked)
