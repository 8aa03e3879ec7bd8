"""Which nodes lie below a tensor, what does each one keep, and where do its gradients go?"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbook.book.figures.kit import Figure, text_width

if TYPE_CHECKING:
    from glasstorch import Tensor
    from glasstorch.autograd.node import Node

LEFT, TALL, GAP, BETWEEN = 8, 46, 40, 22
MOST = 30  # nodes that a figure holds


@dataclass(slots=True)
class Box:
    """A node and its place."""

    node: Node
    name: str
    below: str  # the line under the name
    level: int
    x: float = 0
    width: float = 0


def draw(root: Tensor, leaves: Mapping[str, Tensor]) -> Figure:
    """The graph, with the root on top: backward runs downwards."""
    if root.grad_fn is None:
        raise ValueError("the tensor was not computed from anything that requires grad: there is no graph below it")
    boxes = boxes_below(root.grad_fn, leaves)
    levels = in_levels(boxes)
    widest = max(sum(box.width + BETWEEN for box in level) for level in levels)
    width = max(widest + 2 * LEFT, 240)
    for level in levels:
        x = (width - sum(box.width + BETWEEN for box in level) + BETWEEN) / 2
        for box in level:
            box.x = x
            x += box.width + BETWEEN
    height = 34 + len(levels) * (TALL + GAP) - GAP + 4
    told = ". ".join(told_of(box, boxes) for box in boxes.values())
    figure = Figure("graph", "A backward graph", f"{told}.", width, height)
    first = boxes[root.grad_fn]
    figure.text(width / 2, 14, "the gradient enters here", size=12, colour="soft", anchor="middle")
    figure.arrow([(first.x + first.width / 2, 19), (first.x + first.width / 2, 33)], colour="glass")
    for box in boxes.values():
        draw_edges(figure, box, boxes)
    for box in boxes.values():
        y = top(box)
        figure.box(box.x, y, box.width, TALL, kind="pane" if is_leaf(box.node) else "glass")
        figure.text(box.x + box.width / 2, y + 19, box.name, size=13, mono=True, bold=True, anchor="middle")
        figure.text(box.x + box.width / 2, y + 37, box.below, size=12, colour="soft", anchor="middle")
    return figure


def draw_edges(figure: Figure, box: Box, boxes: Mapping[Any, Box]) -> None:
    """The arrows from one node; an edge that goes nowhere is a short dashed line."""
    edges = box.node.next_functions
    for number, (target, _) in enumerate(edges, start=1):
        start = box.x + box.width * number / (len(edges) + 1), top(box) + TALL
        if target is None:
            figure.line([start, (start[0], start[1] + 14)], dashed=True)
            figure.text(start[0], start[1] + 27, "None", size=11.5, colour="soft", anchor="middle")
            continue
        aim = boxes[target]
        arriving = [
            (other, n) for other in boxes.values() for n, (t, _) in enumerate(other.node.next_functions) if t is target
        ]
        arriving.sort(key=lambda pair: (pair[0].x, pair[1]))
        at = arriving.index((box, number - 1)) + 1
        end = aim.x + aim.width * at / (len(arriving) + 1), top(aim)
        figure.arrow(way_around(start, end, box, aim, boxes), colour="glass")


def way_around(
    start: tuple[float, float], end: tuple[float, float], box: Box, aim: Box, boxes: Mapping[Any, Box]
) -> list[tuple[float, float]]:
    """The points of an arrow; one that skips levels passes beside the boxes in between."""
    if aim.level - box.level == 1:
        return [start, end]
    between = [other for other in boxes.values() if box.level < other.level < aim.level]
    right = max(other.x + other.width for other in between) + 10
    left = min(other.x for other in between) - 10
    x = right if end[0] >= (left + right) / 2 else left
    return [start, (x, start[1] + GAP / 2), (x, end[1] - GAP / 2), end]


def top(box: Box) -> float:
    """Where a box begins."""
    return 34 + box.level * (TALL + GAP)


def is_leaf(node: Node) -> bool:
    """Whether the node is the end of a way: it adds to a leaf's gradient."""
    return node.name() == "AccumulateGrad"


def boxes_below(first: Node, leaves: Mapping[str, Tensor]) -> dict[Any, Box]:
    """A box for each node, each a level below all nodes that lead to it."""
    boxes: dict[Any, Box] = {}
    waiting: dict[Any, int] = {}
    nodes = [first]
    for node in nodes:
        for target, _ in node.next_functions:
            if target is not None:
                waiting[target] = waiting.get(target, 0) + 1
                if target not in nodes:
                    nodes.append(target)
        if len(nodes) > MOST:
            raise ValueError(f"a figure holds {MOST} nodes, this graph has more")
    levels = {first: 0}
    ready = [first]
    while ready:
        node = ready.pop(0)
        boxes[node] = boxed(node, levels[node], leaves)
        for target, _ in node.next_functions:
            if target is not None:
                levels[target] = max(levels.get(target, 0), levels[node] + 1)
                waiting[target] -= 1
                if not waiting[target]:
                    ready.append(target)
    return boxes


def boxed(node: Node, level: int, leaves: Mapping[str, Tensor]) -> Box:
    """A node with the words that it shows."""
    name = node.name()
    if is_leaf(node):
        variable: Any = getattr(node, "variable")  # noqa: B009  (only this kind of node has one)
        called = next((name for name, leaf in leaves.items() if leaf is variable), None)
        below = f"adds to {called}.grad" if called else f"a leaf of sizes {tuple(variable.shape)}"
    else:
        kept = kept_by(node)
        below = f"keeps {', '.join(kept)}" if kept else "keeps no tensor"
    width = max(text_width(name, 13, mono=True), text_width(below, 12)) + 20
    return Box(node, name, below, level, width=width)


def kept_by(node: Node) -> list[str]:
    """The names of the tensors that a node has saved for its formula."""
    names = [name for name in type(node).__annotations__ if name.startswith("saved_")]
    return [name.removeprefix("saved_") for name in names if getattr(node, name, None) is not None]


def in_levels(boxes: Mapping[Any, Box]) -> list[list[Box]]:
    """The boxes level by level, each level ordered by where its arrows come from."""
    levels: list[list[Box]] = [[] for _ in range(1 + max(box.level for box in boxes.values()))]
    for box in boxes.values():
        levels[box.level].append(box)
    for above, level in itertools.pairwise(levels):
        order = {id(box): place for place, box in enumerate(above)}

        def centre(box: Box, order: dict[int, int] = order) -> float:
            sources = [
                order[id(other)] + number / 10
                for other in boxes.values()
                if id(other) in order
                for number, (target, _) in enumerate(other.node.next_functions)
                if target is box.node
            ]
            return sum(sources) / len(sources)

        level.sort(key=centre)
    return levels


def told_of(box: Box, boxes: Mapping[Any, Box]) -> str:
    """One node in words."""
    if is_leaf(box.node):
        return f"{box.name} {box.below}"
    ways = [boxes[target].name if target is not None else "nowhere" for target, _ in box.node.next_functions]
    return f"{box.name} {box.below} and leads to {' and '.join(ways) or 'nothing'}"
