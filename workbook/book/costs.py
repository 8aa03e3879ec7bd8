"""What does a program's gradient cost: which operators does the pass call, and what does the graph keep until then?

Nothing is timed: the table counts operators, floating-point operations and bytes, and is the same on every machine.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from workbook.book.showing import Shown, display

if TYPE_CHECKING:
    from glasstorch import Tensor
    from glasstorch.utils.flop_counter import FlopCounterMode

Node = Any
SUMS = "(gradients that meet)"  # the operators that the engine calls between two nodes
HEADER = ("node", "nodes", "bytes kept", "the pass calls")


class Cost(NamedTuple):
    """What a program costs with its gradient, below autograd."""

    forward: Counter[str]  # operators, by name
    nodes: Counter[str]  # in the order in which the program made them
    kept: Counter[str]  # by the kind of node: bytes that live on only because a node of this kind has saved them
    backward: dict[str, Counter[str]]  # by the kind of node: the operators that the pass calls
    flops: tuple[int, int]  # of products of matrices and of convolutions, forward and backward


def show_cost(program: Callable[..., Tensor], *arguments: Any) -> None:
    """Run a program and its backward pass once, and show what each kind of node keeps and calls.

    `program(*arguments)` returns a tensor; the gradient that enters is made of ones, and no `.grad` is changed. A
    storage counts for the first node that has saved it, and not at all if it belongs to an argument or to a leaf.
    The operators are those that a TorchDispatchMode sees, in PyTorch as here: under a mode, a result that a node saves
    goes through `detach`, and gradients that meet are never added in place.

    TypeError if the program returns anything but a tensor of glasstorch.
    """
    cost = cost_of(program, *arguments)
    name = getattr(program, "__name__", type(program).__name__)
    about = "the program" if name == "<lambda>" else name
    display(Shown("quote calls", f"What the gradient of {about} costs", (("text", "\n".join(lines_of(cost))),)))


def cost_of(program: Callable[..., Tensor], *arguments: Any) -> Cost:
    """Run a program and its backward pass, and count."""
    import glasstorch
    from glasstorch.autograd.engine import sorted_below
    from glasstorch.utils import _pytree as pytree

    forward: Counter[str] = Counter()
    with counting(lambda: forward) as flops:
        result = program(*arguments)
    if not isinstance(result, glasstorch.Tensor):
        raise TypeError(
            f"show_cost: the program returned {type(result).__name__}\n  accepted: a program that returns a tensor"
        )
    nodes = sorted_below([] if result.grad_fn is None else [(result.grad_fn, result.output_nr)])
    leaves = [node.variable for node in nodes if hasattr(node, "variable")]
    steps = sorted((node for node in nodes if not hasattr(node, "variable")), key=lambda node: node._sequence_nr())
    given = [value for value in pytree.tree_leaves(arguments) if isinstance(value, glasstorch.Tensor)]
    kept = bytes_kept(steps, [*leaves, *given])
    backward, flops_back = operators_of_pass(result, steps, leaves) if leaves else ({}, 0)
    return Cost(forward, Counter(map(kind_of, steps)), kept, backward, (flops.get_total_flops(), flops_back))


@contextmanager
def counting(into: Callable[[], Counter[str]]) -> Iterator[FlopCounterMode]:
    """Count operators in a `with` block, in what `into` returns at that moment, and floating-point operations."""
    from glasstorch.utils._python_dispatch import TorchDispatchMode
    from glasstorch.utils.flop_counter import FlopCounterMode

    class Counting(TorchDispatchMode):
        def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            into()[function.qualified_overload.partition(".")[0]] += 1
            return function(*args, **(kwargs or {}))

    with FlopCounterMode(display=False) as flops, Counting():
        yield flops


def kind_of(node: Node) -> str:
    """The name of a node's class."""
    return type(node).__name__


def bytes_kept(steps: list[Node], held: list[Tensor]) -> Counter[str]:
    """For each kind of node, the bytes of the storages that its nodes have saved, and that are not held anyway."""
    seen = {storage_of(tensor) for tensor in held}
    kept: Counter[str] = Counter()
    for node in steps:
        for tensor in saved_by(node):
            if storage_of(tensor) not in seen:
                seen.add(storage_of(tensor))
                kept[kind_of(node)] += tensor.untyped_storage().nbytes()
    return kept


def storage_of(tensor: Tensor) -> int:
    """What two tensors of one storage have in common."""
    return int(tensor.untyped_storage().data_ptr())


def saved_by(node: Node) -> Iterator[Tensor]:
    """The tensors that a node keeps alive; where hooks have packed one, those in what they made of it."""
    import glasstorch
    from glasstorch.utils import _pytree as pytree

    slots = [getattr(node, name) for name in dir(node) if name.startswith("_raw_saved_")]
    for saved in pytree.tree_leaves([*slots, getattr(node, "saved", [])]):  # the latter of a custom Function
        kept = getattr(saved, "tensor", None)
        for value in pytree.tree_leaves(getattr(kept, "value", kept)):
            if isinstance(value, glasstorch.Tensor):
                yield value


def operators_of_pass(result: Tensor, steps: list[Node], leaves: list[Tensor]) -> tuple[dict[str, Counter[str]], int]:
    """The operators that a pass calls, by the kind of node; and its floating-point operations."""
    import glasstorch

    backward: dict[str, Counter[str]] = {kind: Counter() for kind in [*map(kind_of, steps), SUMS]}
    running = [SUMS]

    def begins(node: Node) -> Any:
        return node.register_prehook(lambda grads: running.append(kind_of(node)))

    def ends(node: Node) -> Any:
        return node.register_hook(lambda inputs, outputs: running.append(SUMS))

    ones = glasstorch.ones_like(result)
    handles = [hook(node) for node in steps for hook in (begins, ends)]
    try:
        with counting(lambda: backward[running[-1]]) as flops:
            glasstorch.autograd.grad(result, leaves, ones)
    finally:
        for handle in handles:
            handle.remove()
    return backward, flops.get_total_flops()


def lines_of(cost: Cost) -> list[str]:
    """The table, and the sums below it."""
    rows = [
        (
            kind,
            f"{cost.nodes[kind] or ''}",
            f"{cost.kept[kind]:,}" if cost.nodes[kind] else "",
            calls_of(cost.backward[kind]),
        )
        for kind in cost.backward
        if cost.nodes[kind] or cost.backward[kind]
    ]
    lines = table([HEADER, *rows]) if rows else ["no node was recorded"]
    called = sum((calls.total() for calls in cost.backward.values()), 0)
    lines += [
        "",
        f"forward:   {counted(cost.forward.total(), 'operator')}, {counted(cost.flops[0], 'FLOP')}",
        f"backward:  {counted(called, 'operator')}, {counted(cost.flops[1], 'FLOP')}",
        f"kept:      {counted(cost.kept.total(), 'byte')} besides arguments and leaves",
        "Counted by a mode: under one, saved results go through detach, and no gradient is added in place.",
    ]
    return lines


def calls_of(calls: Counter[str]) -> str:
    """Operators with their numbers, in the order of their first calls."""
    return ", ".join(name if times == 1 else f"{times} {name}" for name, times in calls.items())


def counted(number: int, word: str) -> str:
    """A number with its noun.

    >>> counted(1, "byte"), counted(2048, "byte")
    ('1 byte', '2,048 bytes')
    """
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def table(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows in columns; numbers stand on the right."""
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEADER))]
    right = {1, 2}
    return [
        "  ".join(
            cell.rjust(width) if place in right else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
