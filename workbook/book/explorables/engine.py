"""Which passes of the backward engine can a reader play, and what is shown of them?

The library runs each program with each way to call `backward`; `recorded_pass.py` notes the steps.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypedDict

import glasstorch
from glasstorch.autograd.accumulate_grad import AccumulateGrad
from glasstorch.autograd.node import Node
from workbook.book.explorables.recorded_pass import Saved, Step, recording, run, slots_of
from workbook.book.figures.graph import (
    TALL,
    Box,
    draw_edges,
    in_levels,
    is_leaf,
    levels_below,
    targets_of,
    top,
    ways_from,
)
from workbook.book.figures.kit import Figure, total

WIDTH, ACROSS, BETWEEN = 340, 152, 20  # of a graph, of a node, and between nodes side by side
SHOWN, SHOWN_STEP = "leaves", 5  # the moment that the figure without a script shows


class Program(NamedTuple):
    """A program that records a graph below `y`."""

    title: str
    about: str
    lines: tuple[str, ...]


PROGRAMS = {
    "chain": Program(
        "A chain",
        "One way from y to w. Each node waits for a single delivery, and the queue never holds two nodes.",
        ("w = torch.tensor(2.0, requires_grad=True)", "a = w * 3", "b = a ** 2", "y = -b"),
    ),
    "meeting": Program(
        "Gradients that meet",
        "b is used three times. Its node holds a gradient early, and still has to wait for the last delivery.",
        ("w = torch.tensor(1.0, requires_grad=True)", "b = w * 2", "c = b * b", "y = c + b"),
    ),
    "leaves": Program(
        "Two leaves",
        "An accumulator and another node become ready in the same step. Watch which of them goes first.",
        (
            "w = torch.tensor(2.0, requires_grad=True)",
            "v = torch.tensor(5.0, requires_grad=True)",
            "a = w * 3",
            "b = a * v",
            "y = a + b",
        ),
    ),
    "latest": Program(
        "Latest first",
        "The nodes of b and c are ready together. The order in which they were made decides.",
        ("w = torch.tensor(1.0, requires_grad=True)", "a = w * 2", "b = w * 3", "c = a * 4", "y = b + c"),
    ),
    "hook": Program(
        "A hook",
        "Two gradients meet at b. The hook is called once, with their sum, and what it returns takes its place.",
        (
            "w = torch.tensor(1.0, requires_grad=True)",
            "b = w * 2",
            "b.register_hook(lambda grad: grad * 10)",
            "y = b * b",
        ),
    ),
}
CALLS = {
    "freed": ("y.backward()", "y.backward()"),
    "kept": ("y.backward(retain_graph=True)", "y.backward()"),
}


class Drawn(TypedDict):
    """A node as it is drawn."""

    name: str  # of its tensor
    kind: str  # of the node
    leaf: bool
    made: int  # its position in the order in which the nodes were made, from 1; 0 for an accumulator
    line: int  # of the program, that made it
    x: float
    y: float
    edges: list[dict[str, Any]]  # the node each edge leads to (None: nowhere), and the points of the arrow
    saved: list[Saved]  # before the first pass


def data() -> dict[str, Any]:
    """Everything that the explorable shows: for each program its graph, and the steps of each way to run it."""
    return {
        "width": WIDTH,
        "node": [ACROSS, TALL],
        "programs": [
            {
                "key": key,
                "title": program.title,
                "about": program.about,
                "lines": list(program.lines),
                **recorded(program),
            }
            for key, program in PROGRAMS.items()
        ],
        "calls": {key: list(lines) for key, lines in CALLS.items()},
    }


def recorded(program: Program) -> dict[str, Any]:
    """The graph of a program, and its runs."""
    boxes = list(laid_out(built(program)[1]).values())
    return {
        "height": max(top(box) for box in boxes) + TALL + 4,
        "nodes": drawn(program, boxes),
        "runs": {key: [compact(step) for step in steps_of(program, calls)] for key, calls in CALLS.items()},
    }


def compact(step: Step) -> dict[str, Any]:
    """A step without what says nothing; of each node only whether it still has what it saved, since it frees all."""
    short = {key: value for key, value in step.items() if value not in (None, "", [])}
    return short | {"saved": [number for number, saved in enumerate(step["saved"]) if saved]}


def steps_of(program: Program, calls: tuple[str, ...]) -> list[Step]:
    """Run a program, and then the calls; returns what the engine did."""
    values, names = built(program)
    leaves = {name: value for name, value in values.items() if isinstance(value, glasstorch.Tensor) and value.is_leaf}
    with recording(names, leaves) as recorder:
        for call in calls:
            run(recorder, call, values)
    return recorder.steps


def built(program: Program) -> tuple[dict[str, Any], dict[Node, str]]:
    """Run a program; returns its variables, and the nodes below `y`, each with the name of its tensor."""
    values: dict[str, Any] = {"torch": glasstorch}
    for line in program.lines:
        exec(line, values)
    tensors = {name: value for name, value in values.items() if isinstance(value, glasstorch.Tensor)}

    def name_of(node: Node) -> str:
        variable = node.variable if isinstance(node, AccumulateGrad) else None
        return next(
            name
            for name, tensor in tensors.items()
            if (tensor.grad_fn is node if variable is None else tensor is variable)
        )

    return values, {node: name_of(node) for node in levels_below(tensors["y"].grad_fn)}


def laid_out(names: dict[Node, str]) -> dict[Node, Box]:
    """The boxes of a graph, level by level."""
    boxes = {
        node: Box(node, names[node], type(node).__name__, level, width=ACROSS, targets=targets_of(node))
        for node, level in levels_below(next(iter(names))).items()
    }
    for level in in_levels(boxes):
        x = (WIDTH - total(box.width + BETWEEN for box in level) + BETWEEN) / 2
        for box in level:
            box.x = x
            x += box.width + BETWEEN
    return boxes


def drawn(program: Program, boxes: list[Box]) -> list[Drawn]:
    """The nodes for the page."""
    by_node: dict[Any, Box] = {box.node: box for box in boxes}
    order = sorted(box.node.sequence_nr for box in boxes if not is_leaf(box.node))
    nodes = list(by_node)
    found = []
    for box in boxes:
        ways = dict(ways_from(box, by_node))
        edges = [
            {
                "to": None if target is None else nodes.index(target),
                "way": [[round(x, 1), round(y, 1)] for x, y in ways.get(index, [])],
            }
            for index, (target, _) in enumerate(box.node.next_functions)
        ]
        line = next(i for i, text in enumerate(program.lines) if text.startswith(f"{box.name} ="))
        made = 0 if is_leaf(box.node) else 1 + order.index(box.node.sequence_nr)
        found.append(
            Drawn(
                name=box.name,
                kind=box.below,
                leaf=is_leaf(box.node),
                made=made,
                line=line,
                x=box.x,
                y=top(box),
                edges=edges,
                saved=slots_of(box.node),
            )
        )
    return found


def figure() -> Figure:
    """One moment of a pass, where nothing can be played."""
    program = PROGRAMS[SHOWN]
    step = steps_of(program, CALLS["freed"])[SHOWN_STEP]
    boxes: dict[Any, Box] = dict(laid_out(built(program)[1]))
    order = list(boxes)
    told = []
    drawing = Figure(
        "explorable-engine", "A moment of a backward pass", "", WIDTH, max(map(top, boxes.values())) + TALL + 62
    )
    for box in boxes.values():
        draw_edges(drawing, box, boxes)
    for box in boxes.values():
        number = order.index(box.node)
        held, waits = [grad for grad in step["buffers"][number] if grad is not None], step["counts"][number]
        ready = number in step["ready"]
        state = "has run" if waits == 0 and not ready else "is ready" if ready else f"waits for {waits}"
        below = f"holds {', '.join(held)}, {state}" if held else state
        drawing.box(box.x, top(box), box.width, TALL, kind="glass" if ready else "plain" if waits else "pane")
        middle = box.x + box.width / 2
        drawing.text(
            middle, top(box) + 19, f"{box.name} {box.below}", size=12, mono=True, anchor="middle", room=box.width
        )
        drawing.text(middle, top(box) + 37, below, size=12, colour="soft", anchor="middle")
        told.append(f"{box.name} {box.below}: {below}")
    queue = ", ".join(list(boxes.values())[number].name for number in step["ready"])
    y = drawing.height - 38
    drawing.text(WIDTH / 2, y, f"in the queue: {queue or 'nothing'}", size=12.5, anchor="middle", bold=True)
    drawing.text(
        WIDTH / 2, y + 22, f"saved for the nodes: {step['kept']} bytes", size=12.5, anchor="middle", colour="soft"
    )
    drawing.description = f"{'. '.join(told)}. In the queue: {queue or 'nothing'}."
    return drawing
