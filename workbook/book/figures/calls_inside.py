"""Which calls lie inside which? The events of a profile, as a flame graph that grows to the right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from workbook.book.figures.kit import Figure, text_width

if TYPE_CHECKING:
    from glasstorch.profiler import profile

ROW, SIZE, PAD, MARK = 20, 11.5, 6, 22
MOST = 64  # rows that a figure holds
FUNCTION, BACKWARD, BLOCK = 0, 1, 7  # scopes of events
KINDS = {FUNCTION: "glass", BACKWARD: "torch", BLOCK: "pane"}
LEFT_OUT = "[memory]"


class Box(NamedTuple):
    """One event: where it stands, counted in rows and in levels, and which node it made or is the step of."""

    event: Any
    level: int
    first: int
    rows: int
    node: int | None


def draw(recorded: profile) -> Figure:
    """A box for each event, as high as the rows of those inside it; an event without any is one row high.

    Time runs downwards, but the height says how many calls there are, not how long they took. A number behind a
    forward call and a backward step says that the call made the node whose step it is.
    """
    found = list(boxes([event for event in recorded.events() if event.name != LEFT_OUT]))
    rows = max((box.first + box.rows for box in found), default=0)
    if not 0 < rows <= MOST:
        raise ValueError(f"a figure holds 1 to {MOST} rows, the profile has {rows}; print its events instead")
    levels = range(1 + max(box.level for box in found))
    widths = [max(width_of(box) for box in found if box.level == level) for level in levels]
    left = [float(sum(widths[:level])) for level in levels]
    told = "; ".join(
        f"{box.event.name} inside {box.event.cpu_parent.name}" if box.level else box.event.name for box in found
    )
    figure = Figure("calls-inside", "Which calls lie inside which", f"{told}.", sum(widths) + 1, rows * ROW + 1)
    for box in found:
        x, y, kind = left[box.level], box.first * ROW, KINDS[box.event.scope]
        width = widths[box.level]
        figure.box(x, y, width, box.rows * ROW, kind=kind, radius=2)
        figure.text(x + PAD, y + 14, shortened(box.event.name), size=SIZE, mono=True, bold=box.event.scope == BLOCK)
        if box.node is not None:
            figure.text(x + width - PAD, y + 14, str(box.node), size=SIZE, colour="torch", anchor="end", bold=True)
    return figure


def boxes(events: Sequence[Any]) -> Iterator[Box]:
    """The events in the order of time, each before those inside it."""
    nodes = nodes_of(events)

    def below(event: Any, level: int, first: int) -> Iterator[Box]:
        inside = [child for child in event.cpu_children if child.name != LEFT_OUT]
        yield Box(event, level, first, rows_of(event), nodes.get(id(event)))
        for child in inside:
            yield from below(child, level + 1, first)
            first += rows_of(child)

    first = 0
    for event in events:
        if event.cpu_parent is None:
            yield from below(event, 0, first)
            first += rows_of(event)


def rows_of(event: Any) -> int:
    """How many events inside this one have none inside them; at least 1."""
    return max(1, sum(rows_of(child) for child in event.cpu_children if child.name != LEFT_OUT))


def nodes_of(events: Sequence[Any]) -> dict[int, int]:
    """The node of each forward call that made one whose step was recorded, and of that step: by the event's id.

    Nodes are counted from 1, as they were made.
    """
    made = {(event.thread, event.sequence_nr): event for event in events if not event.fwd_thread}
    steps = [
        event
        for event in events
        if event.scope == BACKWARD and event.sequence_nr >= 0 and (event.fwd_thread, event.sequence_nr) in made
    ]
    numbers = {key: n for n, key in enumerate(sorted({(one.fwd_thread, one.sequence_nr) for one in steps}), 1)}
    ends = {id(made[key]): number for key, number in numbers.items()}
    return ends | {id(step): numbers[step.fwd_thread, step.sequence_nr] for step in steps}


def width_of(box: Box) -> float:
    """The width that the box's text needs."""
    return text_width(shortened(box.event.name), SIZE, mono=True) + 2 * PAD + (MARK if box.node is not None else 0)


def shortened(name: str) -> str:
    """An event's name without what a reader knows already.

    >>> shortened("aten::add"), shortened("Optimizer.step#SGD.step")
    ('add', 'SGD.step')
    >>> shortened("autograd::engine::evaluate_function: AddBackward0")  # the node stands in the box inside
    'evaluate_function'
    """
    if name.startswith("Optimizer."):
        return name.rpartition("#")[2]
    return name.partition(": ")[0].rpartition("::")[2]
