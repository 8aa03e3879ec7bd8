"""A heap of tuples in the order of the task, under a condition: each push notifies, and a pop that finds none waits."""

import heapq

from glasstorch.autograd.device_threads import ReadyQueue, SharedPass
from glasstorch.autograd.node import Node

NOBODY = float("inf")  # deeper than any pass


def push(queue: ReadyQueue, shared: SharedPass, node: Node) -> None:
    """Put a node of a pass into the queue, and wake a waiting thread."""
    _put(queue, shared.task.depth, node.sequence_nr, shared, node)


def wake(queue: ReadyQueue) -> None:
    """Wake the thread that waits here, without a node for it."""
    _put(queue, NOBODY, 0, None, None)


def _put(queue: ReadyQueue, depth: float, number: int, shared: SharedPass | None, node: Node | None) -> None:
    with queue.changed:
        entry = (-depth, -number, next(queue.numbers), shared, node)
        heapq.heappush(queue.heap, entry)
        queue.changed.notify()


def pop(queue: ReadyQueue) -> tuple[SharedPass | None, Node | None]:
    """The pass and the node that come next; None for both after a `wake`."""
    with queue.changed:
        while not queue.heap:
            queue.changed.wait()
        entry = heapq.heappop(queue.heap)
    return entry[-2:]
