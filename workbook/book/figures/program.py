"""Which operators does a program's graph run, in which order, and what keeps them in that order?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from workbook.book.figures.kit import Figure, text_width

if TYPE_CHECKING:
    from glasstorch.jit.alias_analysis import AliasAnalysis
    from glasstorch.jit.ir import Graph, Node, Value

TOP, LINE, PAD, BETWEEN = 26, 19, 7, 16
LANE, ROOM = 13, 12  # between two arcs beside the boxes, and between the boxes and the first
SIZE, LEAST = 13, 230
MOST = 24  # boxes that a figure holds


@dataclass(slots=True)
class Box:
    """A node, or the graph's outputs, with its lines of text and its position."""

    node: Node
    lines: list[str]
    writes: bool
    y: float = 0
    height: float = 0


@dataclass(slots=True)
class Arc:
    """A line beside the boxes from an earlier one to a later one."""

    first: int
    last: int
    lane: int = field(default=0)


def draw(graph: Graph) -> Figure:
    """The nodes from top to bottom, with uses on the right and orders that memory imposes on the left."""
    from glasstorch.jit.alias_analysis import AliasAnalysis

    aliases = AliasAnalysis(graph)
    nodes = [node for node in graph.nodes if not _is_known(node)]
    boxes = [Box(node, _lines(node), bool(aliases.writes(node))) for node in nodes]
    boxes.append(Box(graph.block.return_node, [f"return {', '.join(map(_name, graph.outputs))}"], writes=False))
    if len(boxes) > MOST:
        raise ValueError(f"a figure holds {MOST - 1} nodes, the graph has {len(boxes) - 1} besides constants; print it")
    if any(node.blocks for node in nodes):
        raise ValueError("a figure shows graphs without branches and loops, such as traces are; print this one")
    uses = in_lanes(_uses(boxes))
    orders = in_lanes(_orders(boxes, aliases))
    wide = max(LEAST, *(text_width(line, SIZE, mono=True) + 24 for box in boxes for line in box.lines))
    left = ROOM + LANE * lane_count(orders) if orders else 1
    y = float(TOP)
    for box in boxes:
        box.y, box.height = y, LINE * len(box.lines) + 2 * PAD
        y += box.height + BETWEEN
    width = left + wide + ROOM + LANE * lane_count(uses) + 2
    told = _told(graph, boxes, orders)
    figure = Figure("program", "The graph of a program", f"{told}.", width, y - BETWEEN + 1)
    figure.text(left, 14, f"takes {', '.join(map(_name, graph.inputs))}", size=12, colour="soft")
    for arc in uses:
        if arc.last == arc.first + 1:
            middle = left + wide / 2
            figure.arrow([(middle, _end(boxes[arc.first])), (middle, boxes[arc.last].y)], colour="glass")
        else:
            _draw_arc(figure, boxes, arc, left + wide, 1)
    for arc in orders:
        _draw_arc(figure, boxes, arc, left, -1)
    for box in boxes:
        last = box is boxes[-1]
        figure.box(left, box.y, wide, box.height, kind="plain" if last else "torch" if box.writes else "glass")
        for number, line in enumerate(box.lines):
            inner = len(box.lines) > 1 and number > 0
            baseline = box.y + PAD + LINE * number + 14
            figure.text(left + 12 + 12 * inner, baseline, line, size=SIZE, mono=True, bold=not inner, room=wide - 12)
    return figure


def _draw_arc(figure: Figure, boxes: Sequence[Box], arc: Arc, edge: float, side: int) -> None:
    """An arc beside the boxes: on the right (side 1) a use, on the left (side -1, dashed) an order."""
    x = edge + side * (ROOM + LANE * arc.lane)
    start, end = _end(boxes[arc.first]) - 8, boxes[arc.last].y + 8
    colour = "glass" if side == 1 else "torch"
    figure.arrow([(edge, start), (x, start), (x, end), (edge, end)], colour=colour, dashed=side == -1)


def _end(box: Box) -> float:
    return box.y + box.height


# What is drawn ----------------------------------------------------------------------------------------------------


def _uses(boxes: Sequence[Box]) -> list[Arc]:
    """From each node to those that use its results."""
    place = {box.node: number for number, box in enumerate(boxes)}
    pairs = {(place[v.node], here) for here, box in enumerate(boxes) for v in box.node.inputs if v.node in place}
    return [Arc(first, last) for first, last in sorted(pairs)]


def _orders(boxes: Sequence[Box], aliases: AliasAnalysis) -> list[Arc]:
    """From each node to those that must come after it because of memory, unless that follows from other arcs."""
    behind: list[set[int]] = []  # for each box those that it must stay behind
    found = []
    uses = _uses(boxes)
    for last, later in enumerate(boxes):
        earlier = {arc.first for arc in uses if arc.last == last}
        reached = earlier.union(*(behind[first] for first in earlier))
        for first in reversed(range(last)):
            one, other = boxes[first].node, later.node
            if first not in reached and (_clash(one, other, aliases) or _clash(other, one, aliases)):
                found.append(Arc(first, last))
                reached |= {first} | behind[first]
        behind.append(reached)
    return found


def _clash(writer: Node, other: Node, aliases: AliasAnalysis) -> bool:
    return any(not aliases.writes(writer).isdisjoint(aliases.places(v)) for v in (*other.inputs, *other.outputs))


def in_lanes(arcs: list[Arc]) -> list[Arc]:
    """The arcs with their lanes: arcs in one lane never overlap, and short arcs stay near the boxes."""
    done: list[Arc] = []
    for arc in sorted(arcs, key=lambda arc: (arc.last - arc.first, arc.first)):
        beside = {other.lane for other in done if other.first < arc.last and arc.first < other.last}
        arc.lane = next(lane for lane in range(len(arcs)) if lane not in beside)
        done.append(arc)
    return sorted(arcs, key=lambda arc: (arc.first, arc.last))


def lane_count(arcs: Sequence[Arc]) -> int:
    return max((arc.lane + 1 for arc in arcs), default=0)


# In words ---------------------------------------------------------------------------------------------------------


def _is_known(node: Node) -> bool:
    """Whether the node only makes a constant, which is shown where it is used."""
    from glasstorch.jit.constants import UNKNOWN, known

    return len(node.outputs) == 1 and known(node.output) is not UNKNOWN


def _lines(node: Node) -> list[str]:
    """`%5 = mul(%2, 3)`; below it, for a group, the same of each node in it."""
    given = ", ".join(_name(value) for value in _told_inputs(node))
    results = ", ".join(map(_name, node.outputs))
    lines = [f"{results} = {node.kind.partition('::')[2]}({given})"]
    inner: Any = node.attributes.get("Subgraph")
    if inner is not None:
        lines += [line for each in inner.nodes if not _is_known(each) for line in _lines(each)]
    return lines


def _told_inputs(node: Node) -> list[Value]:
    """The inputs without trailing defaults."""
    from glasstorch.jit.constants import known

    schema = node.maybe_schema()
    inputs = list(node.inputs)
    while schema is not None and len(inputs) > 1:
        declared = schema.arguments[len(inputs) - 1]
        if declared.default is None or known(inputs[-1]) != declared.default_value:
            break
        inputs.pop()
    return inputs


def _name(value: Value) -> str:
    """The name of a value; for a short constant, the constant itself."""
    from glasstorch.jit.constants import UNKNOWN, known

    held: Any = known(value)
    if held is UNKNOWN:
        return f"%{value.debug_name}"
    if hasattr(held, "item"):
        return f"{held.item():.4g}" if held.numel() == 1 else "a tensor"
    return repr(held)


def _told(graph: Graph, boxes: Sequence[Box], orders: Sequence[Arc]) -> str:
    """The description of the figure."""
    words = [f"It takes {', '.join(map(_name, graph.inputs))}"]
    for box in boxes:
        head, *inner = box.lines
        said = f"{head}, one loop of {'; '.join(inner)}" if inner else head
        words.append(f"{said}, writes to memory" if box.writes else said)
    for arc in orders:
        earlier, later = (boxes[number].lines[0] for number in (arc.first, arc.last))
        words.append(f"Because of memory {later} stays behind {earlier}")
    return ". ".join(words)
