"""In which order do nodes run, and how do gradients travel between them?

Mirrors: torch/csrc/autograd/engine.cpp (Engine::execute, compute_dependencies, evaluate_function, validate_outputs),
    graph_task.h, input_buffer.cpp (InputBuffer::add)
Differs: everything runs in the calling thread, as PyTorch's CPU work does; one object holds what PyTorch splits into
    GraphTask, NodeTask and InputBuffer.

The traversal is iterative: a chain of 100,000 nodes needs no deeper stack than one of two.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Collection, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from glasstorch.autograd import anomaly_mode
from glasstorch.autograd.input_buffer import accumulate, other_references
from glasstorch.autograd.modes import grad_mode
from glasstorch.autograd.node import Edge, Metadata, Node
from glasstorch.core.device import CPU
from glasstorch.core.errors import AutogradError
from glasstorch.core.geometry import is_expandable_to
from glasstorch.dispatch.record import recorder
from glasstorch.operators.direct import on_tensor

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

sum_over, real = on_tensor("sum.dim_IntList"), on_tensor("real")


_numbers = itertools.count()
running: ContextVar[GraphTask | None] = ContextVar("graph_task", default=None)


class GraphTask:
    """One backward pass over the graph below some roots."""

    def __init__(
        self, roots: Sequence[Edge], keep_graph: bool, captures: Sequence[Edge] | None, only: Sequence[Edge] | None
    ) -> None:
        self.keep_graph = keep_graph
        self.number = next(_numbers)
        self.outer = running.get()  # the backward pass whose node started this one
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
        return self.needed is None or node in self.needed or node in self.captures

    def push(self, node: Node) -> None:
        self.pushed += 1
        heapq.heappush(self.ready, (-node.sequence_nr, self.pushed, node))

    def add(self, node: Node, input_nr: int, grad: Any) -> None:
        """Accumulate a gradient at one input of a node."""
        buffer = self.buffers.get(node)
        if buffer is None:
            buffer = self.buffers[node] = [None] * len(node.metadata)
        if buffer[input_nr] is None:
            buffer[input_nr] = grad
        else:
            others = other_references(buffer, input_nr)
            buffer[input_nr] = accumulate(buffer[input_nr], grad, others=others, grad_mode=grad_mode.get())

    def run(self) -> None:  # hot path: benchmarks/eager.py
        """Run nodes as they become ready until none is left."""
        watching = anomaly_mode.is_anomaly_enabled()
        profiled = recorder.get()
        dependencies, buffers, needed = self.dependencies, self.buffers, self.needed
        keep_graph, ready = self.keep_graph, self.ready
        alone: Node | None = None  # the only ready node, while the heap is empty: a chain never touches the heap
        while alone is not None or ready:
            node = alone if alone is not None else heapq.heappop(ready)[2]
            alone = None
            if profiled is not None:
                evaluation = profiled.evaluation(node)
            grads = buffers.pop(node, None) or [None] * len(node.metadata)
            if needed is not None:
                self.capture(node, grads)
                if node not in needed:
                    if profiled is not None:
                        profiled.end(evaluation)
                    continue
            hooks = node.hooks
            if watching:
                anomaly_mode.running.set(node)
            if hooks is not None:
                grads = hooks.before_node(hooks.on_arrival(grads))
            apply = node.apply if profiled is None else profiled.applying(node)
            # A list of our own: delivered gradients are removed, so that only their buffer holds them.
            results = [*apply(grads)]
            if not keep_graph:
                node.release_variables()
            if hooks is not None:
                results = [*hooks.after_node(results, grads)]
            if watching:
                anomaly_mode.check_nan(node, results)
            del grads
            edges = node.next_edges
            if len(results) != len(edges):
                raise AutogradError(
                    f"Function {node.name()} returned an incorrect number of gradients (expected {len(edges)}, got "
                    f"{len(results)})"
                )
            for i, edge in enumerate(edges):
                if edge is None:
                    continue
                target, input_nr = edge
                grad, results[i] = results[i], None
                if grad is not None:
                    metadata = target.metadata
                    wanted = metadata[input_nr]
                    if wanted is not None and (
                        grad._shape != wanted[0]
                        or grad.dtype is not wanted[1]
                        or (CPU if (storage := grad._storage) is None else storage.device) is not wanted[2]
                    ):
                        grad = validated(grad, wanted, node, i)
                    if target not in buffers and len(metadata) == 1:
                        buffers[target] = [grad]
                    else:
                        self.add(target, input_nr, grad)
                waiting = dependencies[target] = dependencies[target] - 1
                if not waiting:
                    if alone is None and not ready:
                        alone = target
                    else:
                        if alone is not None:
                            self.push(alone)
                            alone = None
                        self.push(target)
            grad, results = None, []  # only the buffers hold gradients now: AccumulateGrad may keep one as it is
            if profiled is not None:
                profiled.end(evaluation)

    def capture(self, node: Node, grads: list[Any]) -> None:
        """Keep those of a node's gradients that autograd.grad will return.

        If the node itself does not run, its tensors' hooks run first. Otherwise they run later, with the node, and the
        gradient from before the hooks is returned, as in PyTorch.
        """
        positions = self.captures.get(node, ())
        assert self.needed is not None
        if positions and node.hooks is not None and node not in self.needed:
            grads = node.hooks.on_arrival(grads)
        for position, input_nr in positions:
            self.captured[position] = grads[input_nr]


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
    seen = {node for node, _ in roots}
    stack = list(seen)
    while stack:
        for edge in stack.pop().next_edges:
            if edge is not None:
                node = edge[0]
                dependencies[node] = dependencies.get(node, 0) + 1
                if node not in seen:
                    seen.add(node)
                    stack.append(node)
    return dependencies


def nodes_leading_to(roots: Sequence[Edge], targets: Collection[Node]) -> set[Node]:
    """The nodes from which some target can be reached; a target itself only if another lies behind it."""
    needed: set[Node] = set()
    done: set[Node] = set()
    stack: list[tuple[Node, bool]] = [(node, False) for node, _ in roots]
    while stack:
        node, children_done = stack.pop()
        if children_done:
            if any(edge is not None and (edge[0] in needed or edge[0] in targets) for edge in node.next_edges):
                needed.add(node)
        elif node not in done:
            done.add(node)
            stack.append((node, True))
            stack += [(edge[0], False) for edge in node.next_edges if edge is not None]
    return needed


def validated(grad: Tensor, wanted: Metadata, node: Node, index: int) -> Tensor:
    """A gradient fitted to its destination: summed over broadcast dimensions and cast; AutogradError if it cannot be.

    A 0-dim gradient is also moved to the device.

    Mirrors: validate_outputs in engine.cpp, which calls at::sum_to.
    """
    shape, dtype, device = wanted
    if grad._shape != shape:
        if not is_expandable_to(shape, grad._shape):
            raise AutogradError(
                f"Function {node.name()} returned an invalid gradient at index {index} - got {list(grad._shape)} but "
                f"expected shape compatible with {list(shape)}"
            )
        grad = sum_to(grad, shape)
    if grad.dtype is not dtype:
        if grad.dtype.is_complex and not dtype.is_complex:
            grad = real(grad)  # a real input has a real gradient; the imaginary part is dropped (handle_r_to_c)
        grad = grad.to(dtype)
    if grad.device is not device:
        if shape:
            raise AutogradError(
                f"Function {node.name()} returned an invalid gradient at index {index} - expected device {device} but "
                f"got {grad.device}"
            )
        grad = grad.to(device)  # a 0-dim CPU tensor may be an operand on any device
    return grad


def sum_to(tensor: Tensor, shape: tuple[int, ...]) -> Tensor:
    """The sum over the dimensions that broadcasting `shape` to the tensor's shape added or expanded."""
    added = len(tensor._shape) - len(shape)
    if tensor._shape[added:] != shape:
        repeated = [added + i for i, size in enumerate(shape) if size == 1 and tensor._shape[added + i] != 1]
        tensor = sum_over(tensor, repeated, True, None)
    return sum_over(tensor, list(range(added)), False, None) if added else tensor


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
    for (node, input_nr), gradient in zip(roots, gradients, strict=True):
        task.add(node, input_nr, gradient)
    for node in {node: None for node, _ in roots}:
        if not task.dependencies.get(node):
            task.push(node)
    token, task_token = grad_mode.set(create_graph), running.set(task)
    outer = anomaly_mode.running.set(None)
    profiled = recorder.get()
    opened = 0 if profiled is None else len(profiled.open)
    try:
        task.run()
        for callback in task.callbacks:
            callback()
    except Exception:
        if profiled is not None:
            profiled.end_beyond(opened)
        culprit = anomaly_mode.running.get()
        if culprit is not None:
            anomaly_mode.tell(culprit)
        raise
    finally:
        anomaly_mode.running.reset(outer)
        running.reset(task_token)
        grad_mode.reset(token)
    return task.captured
