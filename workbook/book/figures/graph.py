"""Which nodes lie below a tensor, what does each one keep, and where do its gradients go?"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbook.book.figures.folding import Folded, folded
from workbook.book.figures.kit import Figure, text_width, total

if TYPE_CHECKING:
    from glasstorch import Tensor
    from glasstorch.autograd.node import Node

LEFT, TALL, GAP, BETWEEN, FOOT = 8, 46, 40, 22, 30
MOST, ACROSS = 30, 8  # nodes that a figure holds, in all and side by side
LIMIT = 200  # as many as a caller may ask for
NOTHING: Mapping[Node, Folded] = {}  # of a graph with no part that repeats


@dataclass(slots=True)
class Box:
    """A node and its position."""

    node: Any  # of the graph, or what stands for several
    name: str
    below: str  # the line under the name
    level: int
    x: float = 0
    width: float = 0
    targets: list[Any] = field(default_factory=list)  # where its edges lead


def draw(root: Tensor, leaves: Mapping[str, Tensor], most: int = MOST) -> Figure:
    """The graph with the root at the top: backward runs downwards.

    A part that repeats is drawn once. Of what is still a large graph, the nodes nearest the root are drawn.
    """
    if not 1 <= most <= LIMIT:
        raise ValueError(f"a graph of {most} boxes cannot be drawn\n  accepted: 1 to {LIMIT}")
    if root.grad_fn is None:
        why = "it is a leaf" if root.requires_grad else "nothing that it was computed from requires grad"
        raise ValueError(
            f"there is no graph below this tensor: {why}\n"
            "  accepted: the result of operators on a tensor that requires grad, such as a loss"
        )
    whole = levels_below(root.grad_fn)
    instead = folded(whole) if len(whole) > most else {}
    every = levels_below(root.grad_fn, instead=instead) if instead else whole
    drawn = levels_below(root.grad_fn, kept_nodes(every, instead, most), instead)
    boxes = {node: boxed(node, level, leaves, instead) for node, level in drawn.items()}
    left_out = len(every) - len(boxes)
    levels = in_levels(boxes)
    widest = max(total(box.width + BETWEEN for box in level) for level in levels)
    width = max(widest + 2 * LEFT, 240)
    for level in levels:
        x = (width - total(box.width + BETWEEN for box in level) + BETWEEN) / 2
        for box in level:
            box.x = x
            x += box.width + BETWEEN
    loose = any(target not in boxes for box in levels[-1] for target in box.targets)
    height = 34 + len(levels) * (TALL + GAP) - GAP + 4 + FOOT * loose + 20 * bool(left_out)
    told = [told_of(box, boxes) for box in boxes.values()]
    rest = f"{left_out:,} more node{'s' * (left_out != 1)} not drawn"
    if left_out:
        told.append(f"There {'are' if left_out != 1 else 'is'} {rest}")
    figure = Figure("graph", "A backward graph", f"{'. '.join(told)}.", width, height)
    first = boxes[root.grad_fn]
    figure.text(width / 2, 14, "the gradient enters here", size=12, colour="soft", anchor="middle")
    figure.arrow([(first.x + first.width / 2, 19), (first.x + first.width / 2, 33)], colour="glass")
    for box in boxes.values():
        draw_edges(figure, box, boxes)
    for box in boxes.values():
        draw_ends(figure, box, boxes)
    for box in boxes.values():
        y = top(box)
        with figure.stands_for(defined_by(box.node)):
            figure.box(box.x, y, box.width, TALL, kind="pane" if is_leaf(box.node) else "glass")
            figure.text(box.x + box.width / 2, y + 19, box.name, size=13, mono=True, bold=True, anchor="middle")
            figure.text(box.x + box.width / 2, y + 37, box.below, size=12, colour="soft", anchor="middle")
    if left_out:
        figure.text(width / 2, height - 6, rest, size=12, colour="soft", anchor="middle")
    return figure


def draw_edges(figure: Figure, box: Box, boxes: Mapping[Any, Box]) -> None:
    """The arrows from one node to the other drawn nodes."""
    for _, way in ways_from(box, boxes):
        figure.arrow(way, colour="glass")


def ways_from(box: Box, boxes: Mapping[Any, Box]) -> Iterator[tuple[int, list[tuple[float, float]]]]:
    """The edges of a node that lead to drawn nodes: the position of each, from 0, and the points of its arrow."""
    for number, target in enumerate(box.targets, start=1):
        if target not in boxes:
            continue
        start = edge_start(box, number)
        aim = boxes[target]
        arriving = [(other, n) for other in boxes.values() for n, t in enumerate(other.targets) if t is target]
        arriving.sort(key=lambda pair: (pair[0].x, pair[1]))
        at = arriving.index((box, number - 1)) + 1
        end = aim.x + aim.width * at / (len(arriving) + 1), top(aim)
        yield number - 1, way_around(start, end, box, aim, boxes)


def draw_ends(figure: Figure, box: Box, boxes: Mapping[Any, Box]) -> None:
    """A short dashed line for an edge that goes nowhere, and for a row of edges to nodes that are not drawn."""
    targets = box.targets
    for number, target in enumerate(targets, start=1):
        if target in boxes or (target is not None and number > 1 and targets[number - 2] not in (None, *boxes)):
            continue
        x, y = edge_start(box, number)
        figure.line([(x, y), (x, y + 14)], dashed=True)
        word = "None" if target is None else "..."
        figure.text(x, y + 27, word, size=11.5, colour="soft", anchor="middle", halo=True)


def edge_start(box: Box, number: int) -> tuple[float, float]:
    """The point at which the edge with this number (from 1) leaves its node."""
    return box.x + box.width * number / (len(box.targets) + 1), top(box) + TALL


def way_around(
    start: tuple[float, float], end: tuple[float, float], box: Box, aim: Box, boxes: Mapping[Any, Box]
) -> list[tuple[float, float]]:
    """The points of an arrow; if it skips levels, it passes beside the boxes between them."""
    if aim.level - box.level == 1:
        return [start, end]
    between = [other for other in boxes.values() if box.level < other.level < aim.level]
    right = max(other.x + other.width for other in between) + 10
    left = min(other.x for other in between) - 10
    x = right if end[0] >= (left + right) / 2 else left
    return [start, (x, start[1] + GAP / 2), (x, end[1] - GAP / 2), end]


def top(box: Box) -> float:
    """The upper edge of a box."""
    return 34 + box.level * (TALL + GAP)


def targets_of(node: Any, instead: Mapping[Node, Folded] = NOTHING) -> list[Any]:
    """The nodes to which a node's edges lead, or what is drawn in the place of those."""
    return [instead.get(target, target) for target, _ in node.next_functions]


def is_leaf(node: Node | Folded) -> bool:
    """Whether the node accumulates a leaf's gradient, where backward ends."""
    return node.name() == "torch::autograd::AccumulateGrad"


def defined_by(node: Node | Folded) -> str:
    """The dotted name of the library's class that says how a node runs; empty for a Function that a reader wrote."""
    kind = getattr(type(node), "_forward_cls", type(node))  # of the node of a custom Function, the Function
    name = f"{kind.__module__}.{kind.__qualname__}"
    return name if name.startswith("glasstorch.") and "<" not in name else ""


def levels_below(
    first: Node, among: Container[Any] | None = None, instead: Mapping[Node, Folded] = NOTHING
) -> dict[Any, int]:
    """Every node of the graph (or those `among` it) with its level, in the order of levels.

    A node's level is below those of all nodes that lead to it.
    """

    def targets(node: Any) -> list[Any]:
        found = [target for target in targets_of(node, instead) if target is not None]
        return found if among is None else [target for target in found if target in among]

    waiting: dict[Any, int] = {first: 0}
    nodes: list[Any] = [first]
    for node in nodes:
        for target in targets(node):
            if target not in waiting:
                waiting[target] = 0
                nodes.append(target)
            waiting[target] += 1
    levels: dict[Any, int] = {first: 0}
    ready: list[Any] = [first]
    for node in ready:
        for target in targets(node):
            levels[target] = max(levels.get(target, 0), levels[node] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return {node: levels[node] for node in sorted(ready, key=levels.__getitem__)}


def kept_nodes(levels: Mapping[Any, int], instead: Mapping[Node, Folded] = NOTHING, most: int = MOST) -> set[Any]:
    """The nodes to draw: level by level, as many as fit into a figure, each reachable from another one."""
    kept: set[Any] = set()
    led_to: set[Any] = set()
    across: dict[int, int] = {}
    for node, level in levels.items():
        if len(kept) < most and across.get(level, 0) < ACROSS and (node in led_to or not kept):
            kept.add(node)
            led_to.update(target for target in targets_of(node, instead) if target is not None)
            across[level] = across.get(level, 0) + 1
    return kept


def boxed(
    node: Node | Folded, level: int, leaves: Mapping[str, Tensor], instead: Mapping[Node, Folded] = NOTHING
) -> Box:
    """A node with its text."""
    name = type(node).__name__ if is_leaf(node) else node.name()
    if isinstance(node, Folded):
        below = f"{node.size:,} nodes, leaves not counted"
    elif is_leaf(node):
        variable: Any = getattr(node, "variable")  # noqa: B009  (only this kind of node has one)
        called = next((name for name, leaf in leaves.items() if leaf is variable), None)
        below = f"adds to {called}.grad" if called else f"a leaf of sizes {tuple(variable.shape)}"
    else:
        below = kept_by(node)
    width = max(text_width(name, 13, mono=True), text_width(below, 12)) + 20
    return Box(node, name, below, level, width=width, targets=targets_of(node, instead))


def kept_by(node: Node) -> str:
    """What a node has saved for its formula: the names of tensors, or how many a custom Function saved."""
    slots = [name for name in type(node).__annotations__ if name.startswith("saved_")]
    mine = getattr(node, "saved", None)  # of a custom Function
    if node.released and (slots or hasattr(node, "saved")):
        return "has released what it kept"
    if mine:
        return f"keeps {len(mine)} tensor{'s' * (len(mine) != 1)}"
    names = [name.removeprefix("saved_") for name in slots if getattr(node, name, None) not in (None, [])]
    return f"keeps {', '.join(names)}" if names else "keeps no tensor"


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
                for number, target in enumerate(other.targets)
                if target is box.node
            ]
            return total(sources) / len(sources)

        level.sort(key=centre)
    return levels


def told_of(box: Box, boxes: Mapping[Any, Box]) -> str:
    """The description of one node."""
    if is_leaf(box.node):
        return f"{box.name} {box.below}"
    ways = ["nowhere" if target is None else boxes[target].name for target in box.targets if target in (None, *boxes)]
    if missing := sum(target not in (None, *boxes) for target in box.targets):
        ways.append(f"{missing} node{'s' * (missing != 1)} not drawn")
    return f"{box.name} {box.below} and leads to {' and '.join(ways) or 'nothing'}"
