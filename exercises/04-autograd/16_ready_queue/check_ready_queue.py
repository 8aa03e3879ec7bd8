"""Does the queue return nodes in the right order, wake a waiting thread, and change only while it is locked?

The library's tests that the exercise carries run on simulated devices (`use_simulator`).
"""

import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from glasstorch.autograd.device_threads import ReadyQueue
from workbook.exercises.asking import Ask, Came, expect

LAST = 2**64 - 1  # of an accumulator
PATIENCE = 5.0  # seconds to wait for a thread that should go on
WOKEN = (None, None)  # what pop returns after a wake
IMPATIENCE = 0.1  # seconds to wait for a thread that should not go on
SMALL = (  # of each node that is pushed, in turn: the depth of its pass, and its number
    ((0, 3), (0, 8)),
    ((0, 8), (0, 3)),
    ((0, 8), (1, 3)),
    ((1, 3), (0, 8)),
    ((0, LAST), (1, 3), (0, 9), (1, 5)),
    ((0, LAST), (0, LAST), (0, LAST)),
    ((2, 7), (2, 7), (2, 9), (2, 7)),
)
RANDOM = 20  # more, of twelve nodes each


class Labelled:
    """A pass or a node with the given members, and a label that is shown. Two of them cannot be compared."""

    def __init__(self, label: str, **members: object) -> None:
        self.__dict__.update(members)
        self.label = label

    def __repr__(self) -> str:
        return self.label


class Watched(threading.Condition):
    """A condition that records when a thread waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.waiting = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        """Wait, as a condition does."""
        self.waiting.set()
        return super().wait(timeout)

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        """Wait, as a condition does."""
        while not predicate():
            self.wait(timeout)
        return True


class Other(threading.Thread):
    """Another thread that calls one function of the answer."""

    def __init__(self, ask: Ask, name: str, *given: object) -> None:
        super().__init__(daemon=True)
        ask.get(name)
        self.ask, self.function, self.given = ask, name, given
        self.came: Came | None = None
        self.start()

    def run(self) -> None:
        """Call it."""
        self.came = self.ask(self.function, *self.given)

    def outcome(self) -> object:
        """The outcome of the call, as soon as there is one; a sentence if there is none in time."""
        self.join(PATIENCE)
        return "the thread still waits" if self.came is None else self.came


@contextlib.contextmanager
def waiting(ask: Ask) -> Iterator[tuple[Any, Other]]:
    """An empty queue and a thread that pops from it; afterwards the thread is released in any case."""
    queue = ReadyQueue()
    queue.changed = Watched()
    other = Other(ask, "pop", queue)
    try:
        yield queue, other
    finally:
        with queue.changed:
            queue.heap.append(((0,), None, None))
            queue.changed.notify_all()


def node(depth: int, number: int, place: int = 0) -> tuple[Labelled, Labelled]:
    """A pass of this depth, and a node with this number."""
    shared = Labelled(f"pass {place}", task=SimpleNamespace(depth=depth))
    return shared, Labelled(f"node {place}", sequence_nr=number)


def cases() -> Iterator[Sequence[tuple[int, int]]]:
    """The small cases, and some that are drawn at random, the same in every run."""
    yield from SMALL
    draw = random.Random("04.16")
    for _ in range(RANDOM):
        yield [(draw.randrange(3), draw.choice((1, 2, 3, 4, LAST))) for _ in range(12)]


def call(ask: Ask, name: str, *given: object) -> object:
    """What a function of the answer returns; refuses the answer if it raises."""
    return ask(name, *given).value


def emptied(ask: Ask, queue: Any, count: int) -> list[object]:
    """This number of nodes in the order in which they come out, each with its pass, as text."""
    return [str(call(ask, "pop", queue)) for _ in range(count)]


def test_the_order(ask: Ask) -> None:
    """the order in which nodes come out"""
    for given in cases():
        queue = ReadyQueue()
        for place, (depth, number) in enumerate(given):
            call(ask, "push", queue, *node(depth, number, place))
        order = sorted(range(len(given)), key=lambda place: (-given[place][0], -given[place][1], place))
        asked = f"the order of nodes that were pushed with (depth, number) {', '.join(map(str, given))}"
        because = "the deepest pass comes first, then the highest number, then the node that was pushed first"
        accepted = [f"(pass {place}, node {place})" for place in order]
        expect(emptied(ask, queue, len(given)), accepted, asked=asked, because=because)


def test_wake_comes_first(ask: Ask) -> None:
    """which of three pops return (None, None), after two pushes and two wakes"""
    queue = ReadyQueue()
    call(ask, "push", queue, *node(9, LAST))
    call(ask, "wake", queue)
    call(ask, "push", queue, *node(70, LAST))
    call(ask, "wake", queue)
    because = "the pass of a woken thread has ended, and the thread must not run a node of another pass first"
    came = [call(ask, "pop", queue) == WOKEN for _ in range(3)]
    asked = "for each of three pops, after two pushes and two wakes, whether it returns (None, None)"
    expect(came, [True, True, False], asked=asked, because=because)


def test_a_thread_waits(ask: Ask) -> None:
    """whether a thread waits for queue.changed if the queue is empty, and what it gets afterwards"""
    for wakes in (False, True):
        with waiting(ask) as (queue, other):
            asked = "whether a thread that finds an empty queue waits for queue.changed"
            because = "a thread in queue.changed.wait() sleeps until it is notified, and needs no processor meanwhile"
            expect(queue.changed.waiting.wait(PATIENCE), True, asked=asked, because=because)
            pushed = node(0, 1)
            call(ask, *("wake", queue) if wakes else ("push", queue, *pushed))
            asked = f"what a waiting thread gets after a {'wake' if wakes else 'push'}"
            because = "a function that puts an entry into the heap has to notify a waiting thread"
            expect(other.outcome(), WOKEN if wakes else pushed, asked=asked, because=because)


def test_another_thread_was_faster(ask: Ask) -> None:
    """what a waiting thread gets if another thread takes the node for which it was woken"""
    with waiting(ask) as (queue, other):
        queue.changed.waiting.wait(PATIENCE)
        with queue.changed:  # the other thread is notified, and cannot go on yet
            call(ask, "push", queue, *node(0, 1, 1))
            call(ask, "pop", queue)
            queue.changed.waiting.clear()
        end = time.monotonic() + PATIENCE
        while other.is_alive() and time.monotonic() < end and not queue.changed.waiting.wait(IMPATIENCE):
            pass  # the other thread has not gone on yet
        second = node(0, 1, 2)
        call(ask, "push", queue, *second)
        because = "a thread that was notified has to look at the heap again, and may have to wait again"
        expect(other.outcome(), second, because=because)


def test_the_heap_is_left_alone(ask: Ask) -> None:
    """whether the heap changes while another thread holds queue.changed"""
    for name, given in (("push", node(0, 2)), ("wake", ()), ("pop", ())):
        queue = ReadyQueue()
        call(ask, "push", queue, *node(0, 1))
        with queue.changed:
            before = len(queue.heap)
            Other(ask, name, queue, *given).join(IMPATIENCE)
            because = "if two threads change a heap at once it loses its order, so hold queue.changed"
            asked = f"the length of the heap during a {name}, while another thread holds queue.changed"
            expect(len(queue.heap), before, asked=asked, because=because)
