"""In which order do nodes run, and how do gradients travel between them?

Mirrors: torch/csrc/autograd/engine.cpp (Engine::execute, compute_dependencies, evaluate_function, validate_outputs),
    graph_task.h, input_buffer.cpp (InputBuffer::add), input_metadata.cpp (maybe_reduce)
Differs: one object holds what PyTorch splits into GraphTask, NodeTask and InputBuffer; the threads are in a file of
    their own, `device_threads`, and a pass whose nodes all lie on the CPU has none but the caller's.

The traversal is iterative: a chain of a million nodes needs no deeper stack than one of two.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from glasstorch.autograd import anomaly_mode
from glasstorch.autograd.device_threads import SharedPass, drive, of_thread
from glasstorch.autograd.input_buffer import accumulate, other_references
from glasstorch.autograd.modes import grad_mode, multithreading
from glasstorch.autograd.node import Edge, Metadata, Node, accelerator_of, only_wanted, wanted_at
from glasstorch.autograd.streams import PassStreams
from glasstorch.calls.overloaded import librarys_code, users_code
from glasstorch.core.device import CPU
from glasstorch.core.errors import AutogradError
from glasstorch.core.geometry import is_expandable_to
from glasstorch.devices import runtime
from glasstorch.dispatch.record import recorder
from glasstorch.operators.direct import on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

sum_over, real = on_tensor("sum.dim_IntList"), on_tensor("real")


_numbers = itertools.count()
running: ContextVar[GraphTask | None] = ContextVar("graph_task", default=None)


class GraphTask:
    """One backward pass over the graph below some roots."""

    shared: SharedPass | None = None  # where several threads run its nodes: Note [Threads of devices]
    streams: PassStreams | None = None  # where some nodes lie on an accelerator
    lock: AbstractContextManager[Any] = nullcontext()  # then held while counts and buffers change
    current: Node | None = None  # the node that runs, where one thread runs all
    failed: Node | None = None  # the node that raised an error

    def __init__(
        self, roots: Sequence[Edge], keep_graph: bool, captures: Sequence[Edge] | None, only: Sequence[Edge] | None
    ) -> None:
        self.keep_graph = keep_graph
        self.number = next(_numbers)
        self.outer = running.get()  # the backward pass whose node started this one
        self.depth: int = 0 if self.outer is None else self.outer.depth + 1
        self.dependencies = compute_dependencies(roots)
        self.roots = {node for node, _ in roots}
        self.callbacks: list[Callable[[], None]] = []  # called after the last node
        self.buffers: dict[Node, list[Any]] = {}  # gradients that have arrived at a node, one slot for each input
        self.ready: list[tuple[int, int, Node]] = []  # a heap: latest sequence number first
        self.pushed = 0
        # autograd.grad: which gradients to return. backward(inputs=): which nodes to run. And the nodes leading there.
        self.captures: dict[Node, list[tuple[int, int]]] = {}
        self.captured: list[Any] = [None] * len(captures or ())
        self.needed: set[Node] | None = None
        if captures is not None:
            for position, (node, input_nr) in enumerate(captures):
                self.captures.setdefault(node, []).append((position, input_nr))
            self.needed = nodes_leading_to(roots, self.captures.keys())
        elif only is not None:
            targets = {node for node, _ in only}
            self.needed = nodes_leading_to(roots, targets) | targets

    def reaches(self, node: Node) -> bool:
        """Whether a gradient will arrive at the node, so that its tensors' hooks are called."""
        if node not in self.dependencies and node not in self.roots:
            return False
        return self.delivers_to(node)

    def delivers_to(self, node: Node) -> bool:
        """Whether a gradient for the node is wanted: it must run, or its gradient is to be returned."""
        return self.needed is None or node in self.needed or node in self.captures

    def push(self, node: Node) -> None:
        """Put a node that is ready into the queue."""
        if self.shared is not None:
            self.shared.push(node)
            return
        self.pushed += 1
        heapq.heappush(self.ready, (-node.sequence_nr, self.pushed, node))

    def add(self, node: Node, input_nr: int, grad: Any) -> None:
        """Accumulate a gradient at one input of a node."""
        if self.streams is not None:
            self.streams.made(grad, node)
        buffer = self.buffers.get(node)
        if buffer is None:
            buffer = self.buffers[node] = [None] * len(node.input_metadata)
        if buffer[input_nr] is None:
            buffer[input_nr] = grad
        else:
            others = other_references(buffer, input_nr)
            buffer[input_nr] = accumulate(buffer[input_nr], grad, others=others, grad_mode=grad_mode.get())

    def start(self, roots: Sequence[Edge], gradients: Sequence[Any]) -> None:
        """Put the gradients into the roots, and those that wait for nothing else into the queue."""
        for i, ((node, input_nr), gradient) in enumerate(zip(roots, gradients, strict=True)):
            wanted = node.input_metadata[input_nr]
            grad = gradient if wanted is None else validated(gradient, wanted, i)
            if len(roots) == 1 or self.delivers_to(node):
                self.add(node, input_nr, grad)
        for node in [*self.buffers]:
            if not self.dependencies.get(node):
                self.push(node)

    def run_all(self, roots: Sequence[Edge], gradients: Sequence[Any]) -> None:
        """Run the pass to its end, in this thread and in those of accelerators."""
        nodes = itertools.chain(self.roots, self.dependencies)
        if runtime.is_initialized() and any(accelerator_of(node) is not None for node in nodes):
            self.streams = PassStreams()
            if multithreading.get():
                self.shared = SharedPass(self)
                self.lock = self.shared.lock
        self.start(roots, gradients)
        drive(self)
        if self.streams is not None:
            self.streams.finish()
        if self.buffers:
            raise AutogradError("could not compute gradients for some functions")

    # One node ---------------------------------------------------------------------------------------------------

    def evaluate(self, node: Node) -> None:
        """Run a node with what has arrived for it, and deliver what it gives."""
        profiled, mode = recorder.get(), grad_mode.get()
        record = None if profiled is None else profiled.evaluation(node)
        token = anomaly_mode.running.set(node)
        self.current = node
        try:
            with self.lock:
                grads = self.buffers.pop(node, None) or [None] * len(node.input_metadata)
            with nullcontext() if self.streams is None else self.streams.of_node(node, grads):
                if self.needed is not None:
                    self.capture(node, grads)
                if self.needed is None or node in self.needed:
                    self.deliver(node, self.applied(node, grads))
                if self.streams is not None and (node in self.captures or not node.next_edges):
                    self.streams.seen_by_caller(node)
        except BaseException:
            if self.failed is None:
                self.failed = node
            raise
        finally:
            anomaly_mode.running.reset(token)
            grad_mode.set(mode)  # which a hook may have changed
            if profiled is not None and record is not None:
                profiled.end(record)

    def applied(self, node: Node, grads: list[Any]) -> list[Any]:
        """What the node makes of its gradients, with its hooks, each fitted to where it goes."""
        hooks, profiled = node.hooks, recorder.get()
        if hooks is not None:
            with users_code():
                grads = hooks.before_node(hooks.on_arrival(grads))
        apply = node.apply if profiled is None else profiled.applying(node)
        results = fitted(node, [*apply(grads)])
        if hooks is not None:
            if self.needed is not None and not node.of_user:  # hooks are given None where no gradient is wanted
                results = [
                    result if edge is not None and self.delivers_to(edge[0]) else None
                    for result, edge in zip(results, node.next_edges, strict=True)
                ]
            with users_code():
                results = [*hooks.after_node(results, grads)]
        if not self.keep_graph:
            node.release_variables()
        if anomaly_mode.is_anomaly_enabled():
            anomaly_mode.check_nan(node, results)
        return results

    def deliver(self, node: Node, results: list[Any]) -> None:
        """Hand each gradient on, and queue the nodes that had waited for it alone."""
        with self.lock:
            for i, edge in enumerate(node.next_edges):
                if edge is None:
                    continue
                target, input_nr = edge
                grad, results[i] = results[i], None  # only the buffer holds it: AccumulateGrad may keep it as it is
                if grad is not None and self.delivers_to(target):
                    self.add(target, input_nr, grad)
                waiting = self.dependencies[target] = self.dependencies[target] - 1
                if waiting < 0:
                    raise AutogradError(f"dependency not found for {target.name()}")
                if not waiting and self.delivers_to(target):
                    self.push(target)

    # All nodes --------------------------------------------------------------------------------------------------

    def run(self) -> None:  # hot path: benchmarks/eager.py
        """Run nodes as they become ready until none is left, as `evaluate` does one at a time.

        A node with hooks is left to `evaluate`. So are all nodes of a pass that is recorded, checked for NaN or runs on
        an accelerator.
        """
        ready, buffers, dependencies, keep_graph = self.ready, self.buffers, self.dependencies, self.keep_graph
        watched = anomaly_mode.is_anomaly_enabled() or recorder.get() is not None or self.streams is not None
        needed, captures = self.needed, self.captures
        alone: Node | None = None  # the only ready node, while the heap is empty: a chain never touches the heap
        while alone is not None or ready:
            node = alone if alone is not None else heapq.heappop(ready)[2]
            alone = None
            if watched or node.hooks is not None:
                self.evaluate(node)
                continue
            self.current = node
            grads = buffers.pop(node, None) or [None] * len(node.input_metadata)
            if needed is not None:
                if node in captures:
                    self.capture(node, grads)
                if node not in needed:
                    continue
            # A list of our own: delivered gradients are removed, so that only their buffer holds them.
            results = [*node.apply(grads)]
            if not keep_graph:
                node.release_variables()
            del grads
            edges = node.next_edges
            if len(results) != len(edges):
                fitted(node, results)  # raises
            for i, edge in enumerate(edges):
                if edge is None:
                    continue
                target, input_nr = edge
                grad, results[i] = results[i], None
                wanted_there = needed is None or target in needed or target in captures
                if grad is not None and wanted_there:
                    metadata = target.input_metadata
                    wanted = metadata[input_nr]
                    if wanted is not None and (
                        grad._shape != wanted[0]
                        or grad.dtype is not wanted[1]
                        or (CPU if (storage := grad._storage) is None else storage.device) is not wanted[2]
                    ):
                        grad = validated(grad, wanted, i, node)
                    if target not in buffers and len(metadata) == 1:
                        buffers[target] = [grad]
                    else:
                        self.add(target, input_nr, grad)
                waiting = dependencies[target] = dependencies[target] - 1
                if not waiting and wanted_there:
                    if alone is None and not ready:
                        alone = target
                    else:
                        if alone is not None:
                            self.push(alone)
                            alone = None
                        self.push(target)
                elif waiting < 0:
                    raise AutogradError(f"dependency not found for {target.name()}")
            grad, results = None, []  # only the buffers hold gradients now: AccumulateGrad may keep one as it is

    def capture(self, node: Node, grads: list[Any]) -> None:
        """Keep those of a node's gradients that autograd.grad will return.

        If the node itself does not run, its tensors' hooks run first. Otherwise they run later, with the node, and the
        gradient from before the hooks is returned, as in PyTorch.
        """
        positions = self.captures.get(node, ())
        assert self.needed is not None
        if node.hooks is not None and node not in self.needed:
            with users_code():
                grads = node.hooks.on_arrival(grads)
        for position, input_nr in positions:
            self.captured[position] = grads[input_nr]


def queue_callback(callback: Callable[[], None]) -> None:
    """Call a function when the pass that is running has run its last node."""
    task = running.get()
    if task is None:
        raise AutogradError("Final callbacks can only be installed during backward pass.")
    task.callbacks.append(callback)


def current_node() -> Node | None:
    """The node that is running; None outside of a pass."""
    task = running.get()
    if task is None:
        return None
    return task.current if task.shared is None else of_thread.node


def current_graph_task_id() -> int:
    """The number of the backward pass that is running, which no other has; -1 outside of one."""
    task = running.get()
    return -1 if task is None else task.number


def is_checkpoint_valid() -> bool:
    """Whether a node may start a backward pass of its own: not if only some gradients are computed, here or above."""
    task = running.get()
    while task is not None:
        if task.needed is not None:
            return False
        task = task.outer
    return True


def compute_dependencies(roots: Sequence[Edge]) -> dict[Node, int]:
    """For every node reachable from the roots, how many edges lead to it: it is ready when each has delivered."""
    dependencies: dict[Node, int] = {}
    starts = {node for node, _ in roots}
    stack = list(starts)
    while stack:
        for edge in stack.pop().next_edges:
            if edge is None:
                continue
            node = edge[0]
            if node in dependencies:
                dependencies[node] += 1
            else:  # seen for the first time, unless it is a root
                dependencies[node] = 1
                if node not in starts:
                    stack.append(node)
    return dependencies


def nodes_leading_to(roots: Sequence[Edge], targets: Collection[Node]) -> set[Node]:
    """The nodes from which some target can be reached; a target itself only if another lies behind it."""
    needed: set[Node] = set()
    for node in reversed(sorted_below(roots)):
        if any(edge is not None and (edge[0] in needed or edge[0] in targets) for edge in node.next_edges):
            needed.add(node)
    return needed


def sorted_below(roots: Sequence[Edge]) -> list[Node]:
    """The nodes that can be reached from the roots, with these, each before all those that its edges lead to."""
    done: set[Node] = set()
    below_first: list[Node] = []
    stack: list[tuple[Node, bool]] = [(node, False) for node, _ in roots]
    while stack:
        node, all_below_done = stack.pop()
        if all_below_done:
            below_first.append(node)
        elif node not in done:
            done.add(node)
            stack.append((node, True))
            stack += [(edge[0], False) for edge in node.next_edges if edge is not None]
    return below_first[::-1]


def fitted(node: Node, results: list[Any]) -> list[Any]:
    """What a node gave, each part fitted to where it goes; AutogradError if it cannot be."""
    edges = node.next_edges
    if len(results) != len(edges):
        raise AutogradError(
            f"Function {node.name()} returned an invalid number of gradients - expected {len(edges)}, but got "
            f"{len(results)}"
        )
    for i, (edge, grad) in enumerate(zip(edges, results, strict=True)):
        if edge is not None and grad is not None and (wanted := edge[0].input_metadata[edge[1]]) is not None:
            results[i] = validated(grad, wanted, i, node)
    return results


def validated(grad: Tensor, wanted: Metadata, index: int, node: Node | None = None) -> Tensor:
    """A gradient fitted to its destination: summed over broadcast dimensions and cast; AutogradError if it cannot be.

    A 0-dim gradient is also moved to the device. Without a node it is one that the caller of `backward` gave.

    Mirrors: validate_outputs in engine.cpp, which calls at::sum_to.
    """
    shape, dtype, device = wanted
    invalid = f"{'' if node is None else f'Function {node.name()} returned an '}invalid gradient at index {index} - "
    if grad._shape != shape:
        if not is_expandable_to(shape, grad._shape):
            raise AutogradError(f"{invalid}got {list(grad._shape)} but expected shape compatible with {list(shape)}")
        grad = sum_to(grad, shape)
    if dtype is not None and grad.dtype is not dtype:  # None where the leaf's `grad_dtype` is: any is right
        if grad.dtype.is_complex and not dtype.is_complex and node is not None and not node.of_user:
            grad = real(grad)  # a real input has a real gradient; the imaginary part is dropped (handle_r_to_c)
        if not grad.dtype.is_floating_point and grad.dtype.is_complex != dtype.is_complex:
            raise AutogradError(
                "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but "
                "got false.  (Could this error message be improved?  If so, please report an enhancement request to "
                "PyTorch.)"
            )
        grad = grad.to(dtype)
    if grad.device is not device:
        if shape:
            raise AutogradError(f"{invalid}expected device {device} but got {grad.device}")
        grad = grad.to(device)  # a 0-dim CPU tensor may be an operand on any device
    return grad


def sum_to(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The sum over the dimensions that broadcasting `shape` to the tensor's shape added or expanded."""
    added = len(tensor._shape) - len(shape)
    repeated = [added + i for i, size in enumerate(shape) if size == 1 and tensor._shape[added + i] != 1]
    if dims := [*range(added), *repeated]:
        tensor = sum_over(tensor, dims, True, None)
    return tensor.view(shape) if added else tensor


def execute(
    roots: Sequence[Edge],
    gradients: Sequence[Any],
    keep_graph: bool,
    create_graph: bool,
    captures: Sequence[Edge] | None = None,
    only: Sequence[Edge] | None = None,
) -> list[Any]:
    """Run the graph, with these gradients at the roots.

    The gradients of leaves are added to their `.grad`: those of all leaves, or only those in `only`. With `captures`,
    no `.grad` changes: the gradients that arrive at those edges are returned, None where none did.
    """
    task = GraphTask(roots, keep_graph, captures, only)
    mode, outer, watched = grad_mode.set(create_graph), running.set(task), anomaly_mode.running.set(None)
    try:
        with librarys_code():
            if task.needed is None and wanted_at.get() is None:
                task.run_all(roots, gradients)
            else:
                with only_wanted(None if task.needed is None else task.delivers_to):
                    task.run_all(roots, gradients)
        for callback in task.callbacks:  # which may add more
            callback()
    except Exception:
        if task.failed is not None and anomaly_mode.is_anomaly_enabled():
            anomaly_mode.tell(task.failed)
        raise
    finally:
        task.shared = None  # which holds the task
        anomaly_mode.running.reset(watched)
        running.reset(outer)
        grad_mode.reset(mode)
    return task.captured
