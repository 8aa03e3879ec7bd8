"""Which calls does a graph of FX make, in which order, and which results do they use?"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbook.book.figures.kit import Figure, text_width
from workbook.book.figures.program import BETWEEN, LANE, LEAST, LINE, PAD, ROOM, SIZE, TOP, Arc, in_lanes, lane_count

if TYPE_CHECKING:
    from glasstorch.fx import Graph, Node

MOST = 28  # boxes that a figure holds
HEIGHT = LINE + 2 * PAD
WIDEST = 52  # characters in a box


@dataclass(slots=True, frozen=True)
class Box:
    """A node with its line of text."""

    node: Node
    line: str
    is_marked: bool


def draw(graph: Graph, marked: Collection[Node] = (), meaning: str = "") -> Figure:
    """The nodes from top to bottom, with their uses on the right. Marked ones have the second colour and a meaning."""
    boxes = [Box(node, line_of(node), node in marked) for node in graph.nodes if node.op != "placeholder"]
    if len(boxes) > MOST:
        raise ValueError(f"a figure holds {MOST - 1} nodes, the graph has {len(boxes) - 1} besides inputs; print it")
    uses = in_lanes(_uses(boxes))
    wide = max(LEAST, *(text_width(box.line, SIZE, mono=True) + 24 for box in boxes))
    left, right = 1.0, ROOM + LANE * lane_count(uses) + 2
    inputs = ", ".join(node.name for node in graph.nodes if node.op == "placeholder")
    height = TOP + len(boxes) * (HEIGHT + BETWEEN) - BETWEEN + 1
    figure = Figure("nodes", "A graph of FX", f"{_description(inputs, boxes, meaning)}.", left + wide + right, height)
    figure.text(left, 14, f"takes {inputs}", size=12, colour="soft")
    tops = [TOP + place * (HEIGHT + BETWEEN) for place in range(len(boxes))]
    for arc in uses:
        colour = "torch" if boxes[arc.last].is_marked and not boxes[arc.first].is_marked else "glass"
        if arc.last == arc.first + 1:
            middle = left + wide / 2
            figure.arrow([(middle, tops[arc.first] + HEIGHT), (middle, tops[arc.last])], colour=colour)
        else:
            x, edge = left + wide + ROOM + LANE * arc.lane, left + wide
            start, end = tops[arc.first] + HEIGHT - 8, tops[arc.last] + 8
            figure.arrow([(edge, start), (x, start), (x, end), (edge, end)], colour=colour)
    for box, top in zip(boxes, tops, strict=True):
        kind = "plain" if box.node.op == "output" else "torch" if box.is_marked else "glass"
        figure.box(left, top, wide, HEIGHT, kind=kind)
        figure.text(left + 12, top + PAD + 14, box.line, size=SIZE, mono=True, bold=True, room=wide - 12)
    return figure


def line_of(node: Node) -> str:
    """One step as Python would write it: `conv = self.conv(x)`, `relu = bn.relu()`, `mm = mm(x, w)`."""
    given = [repr(value) for value in node.args] + [f"{name}={value!r}" for name, value in node.kwargs.items()]
    if node.op == "output":
        line = f"return {given[0]}"
    elif node.op == "get_attr":
        line = f"{node.name} = self.{node.target}"
    elif node.op == "call_module":
        line = f"{node.name} = self.{node.target}({', '.join(given)})"
    elif node.op == "call_method":
        line = f"{node.name} = {given[0]}.{node.target}({', '.join(given[1:])})"
    else:
        line = f"{node.name} = {_called(node.target)}({', '.join(given)})"
    return line if len(line) <= WIDEST else f"{line[: WIDEST - 1]}…"


def _called(target: Any) -> str:
    """The name of a function; of an operator, the name without its overload."""
    return str(getattr(target, "_opname", None) or target.__name__).strip("_")


def _uses(boxes: Sequence[Box]) -> list[Arc]:
    """From each node to those that use its result."""
    place = {box.node: number for number, box in enumerate(boxes)}
    pairs = {(place[one], here) for here, box in enumerate(boxes) for one in box.node.all_input_nodes if one in place}
    return [Arc(first, last) for first, last in sorted(pairs)]


def _description(inputs: str, boxes: Sequence[Box], meaning: str) -> str:
    return ". ".join([f"It takes {inputs}", *(box.line + f", {meaning}" * box.is_marked for box in boxes)])
