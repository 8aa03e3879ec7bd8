# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 04.16 The ready queue
#
# Each thread of the engine has one queue. Any thread that makes a node ready
# pushes it there. The thread to which the queue belongs pops one node after
# the other, and sleeps while there is none.
#
# Nodes of several passes may wait in a queue at once. They come out in this
# order:
#
# 1. nodes of the pass that is nested deepest, `shared.task.depth`;
# 2. of these, the one with the highest `node.sequence_nr`;
# 3. of nodes that are equal in both, the one that came first.
#
# A thread may sleep here although its pass has ended in another thread. `wake`
# makes its `pop` return (None, None), before any node.
#
# You need three members of a queue: `queue.heap`, which begins as an empty
# list; `queue.changed`, a `threading.Condition`; and `queue.numbers`, from
# which `next` takes 0, 1, 2 and so on. You decide what goes into the list. As
# several threads use it, it may change only while `queue.changed` is held.
#
# In PyTorch the queue is `ReadyQueue` in `engine.h`. The tests of the library
# run it with simulated devices, for which they need g++.

# %%
from glasstorch.autograd.device_threads import ReadyQueue, SharedPass
from glasstorch.autograd.node import Node


def push(queue: ReadyQueue, shared: SharedPass, node: Node) -> None:
    """Put a node of a pass into the queue, and wake a waiting thread."""
    raise NotImplementedError


def wake(queue: ReadyQueue) -> None:
    """Wake the thread that waits here, without a node for it."""
    raise NotImplementedError


def pop(queue: ReadyQueue) -> tuple[SharedPass | None, Node | None]:
    """The pass and the node that come next; None for both after a `wake`.

    Waits until there is an entry, without using the processor.

    >>> from types import SimpleNamespace
    >>> queue = ReadyQueue()
    >>> one_pass = SimpleNamespace(task=SimpleNamespace(depth=0))
    >>> nested = SimpleNamespace(task=SimpleNamespace(depth=1))
    >>> early = SimpleNamespace(sequence_nr=3)
    >>> late = SimpleNamespace(sequence_nr=8)
    >>> push(queue, one_pass, late)
    >>> push(queue, nested, early)
    >>> push(queue, nested, late)
    >>> pop(queue) == (nested, late), pop(queue) == (nested, early)
    (True, True)
    >>> wake(queue)
    >>> pop(queue), pop(queue) == (one_pass, late)
    ((None, None), True)
    """
    raise NotImplementedError


# %% [markdown]
# When you have something, save the file and run
# `.venv/bin/workbook check 04.16`. An unfinished answer is fine: the report
# says what to look at next. `.venv/bin/workbook hint 04.16` gives a hint, and
# `.venv/bin/workbook lab 04.16` opens a sheet for experiments.
