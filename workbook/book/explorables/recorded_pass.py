"""What does the library's engine do, step by step, while it runs a backward pass?

The engine runs as it is. While `recording` is active, its `GraphTask` is a subclass whose counts and buffers report
each change, and the `apply` and `release_variables` of the program's nodes report what goes in and out. Nothing here
decides which node runs, adds a gradient or frees a tensor: the steps are what was observed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypedDict

from glasstorch.autograd import engine
from glasstorch.autograd.accumulate_grad import AccumulateGrad
from glasstorch.autograd.node import Node
from glasstorch.core.errors import AutogradError

Saved = tuple[str, str, int]  # a slot of a node, the value in it, and its bytes


class Step(TypedDict):
    """A step of the engine, and what it had noted after it. Nodes are numbers, in the order of their names."""

    kind: str  # "call", "count", "start", "run", "deliver", "done", "fail"
    told: str  # the step in words
    node: int | None  # the node that runs or has run
    edge: int | None  # of that node, along which a gradient was delivered
    given: str  # what the node got, when it runs
    counts: list[int | None]  # for each node: how many deliveries it waits for; None outside of a pass
    buffers: list[list[str | None]]  # for each node: what has arrived at each of its inputs
    ready: list[int]  # in the order in which the queue gives them out
    saved: list[list[Saved]]  # for each node
    kept: int  # the bytes of all that is saved, each tensor counted once
    grads: dict[str, str]  # of the leaves


@dataclass(slots=True)
class Recorder:
    """The steps of the passes over the nodes of a program; `names` gives each node's tensor."""

    names: Mapping[Node, str]
    leaves: Mapping[str, Any]
    steps: list[Step] = field(default_factory=list)
    task: RecordedTask | None = None
    queued: list[tuple[int, int, Node]] = field(default_factory=list)  # those that wait, with the queue's own order
    last: tuple[Node, Sequence[Any]] | None = None  # the node that ran last, and its results
    delivered: int = -1  # the last edge of it along which a gradient went
    open: tuple[str, str, Node | None, int | None, str] | None = None  # a step whose end has not been seen

    def begin(self, kind: str, told: str, node: Node | None = None, edge: int | None = None, given: str = "") -> None:
        """Begin a step; it is noted, with the state that it leads to, when the next one begins."""
        self.settle()
        self.open = (kind, told, node, edge, given)

    def settle(self) -> None:
        """Note the step that is open, with the state as it is now."""
        if self.open is None:
            return
        kind, told, node, edge, given = self.open
        self.open = None
        task, nodes = self.task, list(self.names)
        roots = set() if task is None else task.roots
        saved = [saved_by(each) for each in nodes]
        step = Step(
            kind=kind,
            told=told,
            node=None if node is None else nodes.index(node),
            edge=edge,
            given=given,
            counts=[
                None if task is None else task.dependencies.get(each, 0 if each in roots else None) for each in nodes
            ],
            buffers=[[] if task is None else [written(grad) for grad in task.buffers.get(each, [])] for each in nodes],
            ready=[nodes.index(entry[2]) for entry in sorted(self.queued, key=lambda entry: entry[:2])],
            saved=[slots_of(each) for each in nodes],
            kept=sum({tensor.data_ptr(): tensor.nbytes for kept in saved for _, tensor in kept}.values()),
            grads={name: str(written(leaf.grad)) for name, leaf in self.leaves.items()},
        )
        self.steps.append(step)

    def called(self, node: Node) -> str:
        """A node as the steps name it."""
        name = self.names[node]
        return f"the accumulator of {name}" if isinstance(node, AccumulateGrad) else f"the node of {name}"

    def joined(self, node: Node) -> None:
        """A node has become ready."""
        self.queued.append((-node.sequence_nr, len(self.steps), node))

    def popped(self, node: Node, grads: Sequence[Any]) -> None:
        """The engine takes a node from the queue, and its buffer."""
        given = ", ".join(str(written(grad)) for grad in grads)
        self.begin("run", f"{self.called(node)} runs with {given}", node, given=given)
        self.queued = [entry for entry in self.queued if entry[2] is not node]

    def applied(self, node: Node, grads: Sequence[Any], results: Sequence[Any]) -> None:
        """A node has been applied."""
        assert self.open is not None, "a node is applied after it was taken from the queue"
        kind, _, _, _, arrived = self.open
        given = ", ".join(str(written(grad)) for grad in grads)
        told = f"{self.called(node)} runs with {given}"
        if given != arrived:
            told += f", which a hook made of {arrived}"
        if isinstance(node, AccumulateGrad):
            name = self.names[node]
            told += f": {name}.grad is now {written(self.leaves[name].grad)}"
        elif results:
            told += f", and gives {' and '.join('nothing' if part is None else str(written(part)) for part in results)}"
        self.open = (kind, told, node, None, given)
        self.last, self.delivered = (node, [written(part) for part in results]), -1

    def released(self, node: Node) -> None:
        """The engine has told a node to let go of what it saved."""
        assert self.open is not None, "a node is told after it was applied"
        kind, told, taken, edge, given = self.open
        self.open = (kind, f"{told}; what it had saved is freed", taken, edge, given)

    def counted_down(self, target: Node, waits: int) -> None:
        """A gradient has been delivered along an edge of the node that ran last."""
        assert self.last is not None, "a node has run before its gradients are delivered"
        assert self.task is not None, "a pass begins with its counts"
        node, results = self.last
        edges = node.next_edges
        self.delivered = next(i for i, edge in enumerate(edges) if i > self.delivered and edge is not None)
        part = results[self.delivered]
        held = ", ".join(str(written(grad)) for grad in self.task.buffers.get(target, []))
        told = f"{part or 'nothing'} goes to {self.called(target)}, which now holds {held or 'nothing'}"
        told += f" and waits for {waits} more" if waits else " and is ready: it joins the queue"
        self.begin("deliver", told, node, self.delivered)
        if not waits:
            self.joined(target)


class Counts(dict[Node, int]):
    """The counts of a pass, which report each change."""

    def __init__(self, counts: Mapping[Node, int], recorder: Recorder) -> None:
        super().__init__(counts)
        self.recorder = recorder

    def __setitem__(self, node: Node, waits: int) -> None:
        super().__setitem__(node, waits)
        self.recorder.counted_down(node, waits)


class Buffers(dict[Node, list[Any]]):
    """The buffers of a pass, which report what is taken out; a step ends before they change."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder

    def __setitem__(self, node: Node, grads: list[Any]) -> None:
        self.recorder.settle()
        super().__setitem__(node, grads)

    def pop(self, node: Node, *default: Any) -> Any:
        self.recorder.settle()
        grads = super().pop(node, *default)
        self.recorder.popped(node, grads or [])
        return grads


class RecordedTask(engine.GraphTask):
    """A pass that is observed; `recorder` is set by `recording`."""

    recorder: Recorder

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        recorder = self.recorder
        recorder.settle()
        recorder.task = self
        self.dependencies, self.buffers = Counts(self.dependencies, recorder), Buffers(recorder)
        counted = sum(self.dependencies.values())
        recorder.begin(
            "count", f"the engine counts the {counted} edges below the root: for each node, those that lead to it"
        )

    def add(self, node: Node, input_nr: int, grad: Any) -> None:
        self.recorder.settle()
        super().add(node, input_nr, grad)

    def push(self, node: Node) -> None:
        super().push(node)
        recorder = self.recorder
        if node in self.roots:  # others have been noted when their count came to 0
            grad = written(self.buffers[node][0])
            recorder.begin(
                "start", f"the gradient {grad} is put into the buffer of {recorder.called(node)}, which is ready"
            )
            recorder.joined(node)


@contextmanager
def recording(names: Mapping[Node, str], leaves: Mapping[str, Any]) -> Iterator[Recorder]:
    """Observe the passes over these nodes, which are all that the passes will meet."""
    recorder = Recorder(names, leaves)
    module: Any = engine
    plain, module.GraphTask = module.GraphTask, type("GraphTask", (RecordedTask,), {"recorder": recorder})
    for node in names:
        observe(node, recorder)
    try:
        yield recorder
    finally:
        module.GraphTask = plain
        for node in names:
            del node.apply, node.release_variables


def observe(node: Any, recorder: Recorder) -> None:
    """Let a node report when it is applied, and when it lets go of what it saved."""
    apply, release = node.apply, node.release_variables

    def applied(grads: Any) -> Any:
        results = apply(grads)
        recorder.applied(node, grads, results)
        return results

    def released() -> None:
        had = bool(saved_by(node))
        release()
        if had:
            recorder.released(node)

    node.apply, node.release_variables = applied, released


def run(recorder: Recorder, call: str, values: dict[str, Any]) -> None:
    """Run a line of the program that starts a pass, and note how it ended."""
    recorder.task, recorder.queued = None, []
    recorder.begin("call", f"{call} is called")
    try:
        exec(call, values)
    except AutogradError as error:
        said = str(error).split("(")[0].strip()
        node = None if recorder.open is None else recorder.open[2]
        recorder.open = None
        recorder.begin(
            "fail",
            f"{'' if node is None else recorder.called(node) + ' is to run, and '}the engine raises: {said}",
            node,
        )
    else:
        grads = ", ".join(f"{name}.grad is {written(leaf.grad)}" for name, leaf in recorder.leaves.items())
        recorder.begin("done", f"nothing is ready any more: the pass is over. {grads}")
    recorder.settle()


def slots_of(node: Node) -> list[Saved]:
    """What a node has saved, in words."""
    return [(name, str(written(tensor)), tensor.nbytes) for name, tensor in saved_by(node)]


def saved_by(node: Node) -> list[tuple[str, Any]]:
    """The tensors that a node has saved, each with the name of its slot."""
    slots = [
        name
        for kind in type(node).__mro__
        for name in getattr(kind, "__annotations__", ())
        if name.startswith("saved_")
    ]
    found = [(slot.removeprefix("saved_"), getattr(node, slot, None)) for slot in slots]
    return [(name, saved.tensor) for name, saved in found if saved is not None]


def written(tensor: Any) -> str | None:
    """The value of a tensor with one element; None for None."""
    return None if tensor is None else f"{tensor.item():g}"
