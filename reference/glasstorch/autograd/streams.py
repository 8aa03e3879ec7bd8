"""On which streams does a node run, and what do these wait for?

Mirrors: torch/csrc/autograd/engine.cpp (evaluate_function, exec_post_processing), input_buffer.cpp (InputBuffer::add)
Differs: a node notes the streams that were current when it was made, on all devices, and only if one was not the
    default; an event is recorded when a stream has to wait for it, not when the gradient was made.

# Note [Streams of a backward pass]
A node queues its work on the streams on which its operator ran. Before, these wait for the streams whose work makes the
gradients that it gets. After the last node the streams of the thread that called `backward` wait for those of the
leaves and of the gradients that are returned: to the caller, a pass is one more operator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from glasstorch.autograd.node import ON_THE_CALLERS_THREAD, Node, accelerator_of
from glasstorch.devices import runtime
from glasstorch.devices.stream import Stream

Place = tuple[int, int]  # a device, and the handle of a stream there


class PassStreams:
    """The streams of one pass over nodes that lie on an accelerator."""

    def __init__(self) -> None:
        self.of_caller = runtime.streams_of_thread()
        self.makers: dict[Node, set[Place]] = {}  # where the gradients are made that a node will get
        self.last: set[Place] = set()  # where those are made that the caller will see

    def made(self, grad: Any, target: Node) -> None:
        """A gradient for a node has been queued on a stream that is current now; it is about to be added to others."""
        if grad.device.type in ON_THE_CALLERS_THREAD:
            return
        index = grad.device.index
        here = index, runtime.current_stream(index)
        makers = self.makers.setdefault(target, set())
        for other in makers - {here}:
            wait(here, other)
        makers.add(here)

    @contextmanager
    def of_node(self, node: Node, grads: Sequence[Any]) -> Iterator[None]:
        """Inside, the node's streams are current, and they wait for what makes its gradients."""
        index = accelerator_of(node)
        if index is None:
            yield
            return
        before = runtime.streams_of_thread()
        runtime.use_streams((runtime.driver(), node.streams or {}))
        try:
            here = index, runtime.current_stream(index)
            for other in self.makers.pop(node, set()) - {here}:
                wait(here, other)
                keep_memory(grads, here)
            yield
        finally:
            runtime.use_streams(before)

    def seen_by_caller(self, node: Node) -> None:
        """What the running node makes, or has got, is for the caller."""
        index = accelerator_of(node)
        if index is not None:
            self.last.add((index, runtime.current_stream(index)))

    def finish(self) -> None:
        """Let the caller's streams wait for all that the caller will see."""
        for index, stream in self.last:
            here = index, self.of_caller[1].get(index, 0)
            if here[1] != stream:
                wait(here, (index, stream))


def keep_memory(grads: Sequence[Any], place: Place) -> None:
    """Let no memory of a gradient be reused before a stream has read it, though it belongs to another."""
    for grad in grads:
        if grad is not None and grad.device.index == place[0] and grad.device.type not in ON_THE_CALLERS_THREAD:
            grad.record_stream(Stream._of(place[1], place[0]))


def wait(one: Place, other: Place) -> None:
    """What is queued on one stream from now on waits for what is queued on another now."""
    Stream._of(one[1], one[0]).wait_stream(Stream._of(other[1], other[0]))
