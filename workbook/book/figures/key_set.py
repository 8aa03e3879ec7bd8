"""Which keys does a call have, which sets do they come from, and to which key does the call go?

Rows are functionalities, the highest on top; columns are backends, the highest on the right. So a call goes to the
upper right corner, if the functionality there has a key on each backend.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_

from workbook.book.figures.kit import Figure, text_width

LABEL, KEY, GIVERS = 12.5, 12.5, 11.5  # sizes of text
ROW, HEAD, GAP, PAD = 46, 34, 6, 10
MOST_ROWS, MOST_COLUMNS = 12, 4
NO_SET = "no set"  # below a key that the union has and none of the sets


def draw(sets: Mapping[str, int]) -> Figure:
    """The keys of the union of some sets; under each key the names of the sets that have it."""
    from glasstorch.core.keys import BACKENDS, FUNCTIONALITIES, PER_BACKEND, DispatchKey, highest_key, key_set_of

    def is_on(place: int) -> bool:
        return bool(keys >> place & 1)

    keys = reduce(or_, sets.values(), 0)
    first = len(BACKENDS)
    columns = [backend for place, backend in enumerate(BACKENDS) if is_on(place)]
    rows = [name for place, name in reversed([*enumerate(FUNCTIONALITIES, start=first)]) if is_on(place)]
    if not 0 < len(rows) <= MOST_ROWS or len(columns) > MOST_COLUMNS:
        raise ValueError(
            f"a figure holds 1 to {MOST_ROWS} functionalities on at most {MOST_COLUMNS} backends, these sets have "
            f"{len(rows)} on {len(columns)}; print them instead"
        )

    def givers(key: DispatchKey) -> str:
        wanted = key_set_of(key)
        return ", ".join(name for name, given in sets.items() if given & wanted == wanted) or NO_SET

    cells = {
        row: [DispatchKey[PER_BACKEND[row] + column] for column in columns]
        if row in PER_BACKEND
        else [DispatchKey[row]]
        for row in rows
    }
    goes_to = highest_key(keys)
    left = max(text_width(row, LABEL) for row in rows) + 2 * PAD
    inside = (
        max(text_width(key.name, KEY, mono=True), text_width(givers(key), GIVERS)) for row in rows for key in cells[row]
    )
    width = max([*inside, 80.0]) + 2 * PAD
    across = max(len(columns), 1) * (width + GAP) - GAP
    told = "; ".join(f"{row}: {', '.join(f'{key.name} from {givers(key)}' for key in cells[row])}" for row in rows)
    figure = Figure("keys", "The keys of a call", f"It goes to {goes_to.name}. {told}.", left + across + 1, 0)
    for i, column in enumerate(columns):
        middle = left + i * (width + GAP) + width / 2
        figure.text(middle, 13, column, size=LABEL, anchor="middle", room=width)
        figure.text(middle, 27, f"bit {BACKENDS.index(column)}", size=GIVERS, colour="soft", anchor="middle")
    y: float = HEAD
    for row in rows:
        figure.text(0, y + 19, row, size=LABEL)
        figure.text(0, y + 35, f"bit {first + FUNCTIONALITIES.index(row)}", size=GIVERS, colour="soft")
        room = width if row in PER_BACKEND else across
        for i, key in enumerate(cells[row]):
            x = left + i * (width + GAP)
            by = givers(key)
            kind = "torch" if key is goes_to else "pane" if by == NO_SET else "glass"
            figure.box(x, y, room, ROW - GAP, kind=kind, dashed=by == NO_SET)
            figure.text(x + PAD, y + 17, key.name, size=KEY, mono=True, bold=key is goes_to)
            figure.text(x + PAD, y + 32, by, size=GIVERS, colour="soft")
        y += ROW
    figure.height = y - GAP + 1
    return figure
