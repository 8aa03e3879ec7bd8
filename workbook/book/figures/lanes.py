"""What may run at the same time, and what has to wait?

Each lane is a queue, a thread, a stream or a worker, and goes from top to bottom. A step stands below the step before
it in its lane and below every step for which it waits, and no lower: steps beside each other may run at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence

from workbook.book.figures.kit import Figure, text_width

SIZE, HEAD, BOX, BETWEEN, PAD = 12.5, 26, 26, 18, 12
LEAST = 96  # of a lane's width
GAP = 28  # between lanes
MOST_LANES, MOST_ROWS = 5, 24


def draw(steps: Sequence[tuple[str, str]], waits: Sequence[tuple[int, int]]) -> Figure:
    """The steps, each a lane and what is done, in an order in which they could run one after the other.

    A wait is a pair of numbers of steps, counted from 0: the second waits for the first.
    """
    lanes = list(dict.fromkeys(lane for lane, _ in steps))
    _check(steps, waits, lanes)
    rows = _rows(steps, waits)
    widths = [
        max([LEAST, *(text_width(text, SIZE) + 2 * PAD for lane, text in [*steps, (one, one)] if lane == one)])
        for one in lanes
    ]
    edges = [sum(widths[:place]) + GAP * place for place in range(len(lanes))]
    pitch = BOX + BETWEEN
    height = HEAD + pitch * (max(rows) + 1) - BETWEEN + 1
    told = "; ".join(f"{lane}: {', then '.join(text for one, text in steps if one == lane)}" for lane in lanes)
    after = "".join(f" {steps[last][1]} waits for {steps[first][1]}." for first, last in waits)
    figure = Figure("lanes", "What runs where, and what waits", f"{told}.{after}", edges[-1] + widths[-1], height)
    for lane, edge, width in zip(lanes, edges, widths, strict=True):
        middle = edge + width / 2
        figure.text(middle, 14, lane, size=SIZE, anchor="middle", bold=True)
        figure.line([(middle, HEAD - 4), (middle, height)], colour="hair")
    places = []
    for (lane, _), row in zip(steps, rows, strict=True):
        number = lanes.index(lane)
        places.append((edges[number], HEAD + pitch * row, widths[number]))
    waiting = {last for _, last in waits}
    for number, ((_, text), (x, y, width)) in enumerate(zip(steps, places, strict=True)):
        figure.label(x, y, width, BOX, text, kind="torch" if number in waiting else "glass", size=SIZE)
    for first, last in waits:
        (x, y, width), (to_x, to_y, to_width) = places[first], places[last]
        start, end = (x + width, to_x) if to_x > x else (x, to_x + to_width)
        figure.arrow([(start, y + BOX / 2), (end, to_y + BOX / 2)], colour="torch")
    return figure


def _check(steps: Sequence[tuple[str, str]], waits: Sequence[tuple[int, int]], lanes: Sequence[str]) -> None:
    if not steps or len(lanes) > MOST_LANES:
        raise ValueError(f"a figure holds 1 to {MOST_LANES} lanes, these steps have {len(lanes)}: {', '.join(lanes)}")
    for first, last in waits:
        if not 0 <= first < last < len(steps):
            raise ValueError(
                f"step {last} cannot wait for step {first}: of {len(steps)} steps it waits for an earlier one"
            )
        if steps[first][0] == steps[last][0]:
            raise ValueError(
                f"steps {first} and {last} are both of {steps[first][0]}, where the order is given already"
            )


def _rows(steps: Sequence[tuple[str, str]], waits: Sequence[tuple[int, int]]) -> list[int]:
    """The row of each step: the first one below all those that come before it."""
    rows: list[int] = []
    for number, (lane, _) in enumerate(steps):
        before = [place for place in range(number) if steps[place][0] == lane][-1:]
        before += [first for first, last in waits if last == number]
        rows.append(max((rows[place] + 1 for place in before), default=0))
    if max(rows) >= MOST_ROWS:
        raise ValueError(f"a figure holds {MOST_ROWS} rows, these steps need {max(rows) + 1}")
    return rows
