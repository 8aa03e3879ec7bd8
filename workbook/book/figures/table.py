"""Which kernel does each key of an operator's dispatch table lead to?

A row for each key that was asked for, the highest on top, as a call looks through them: what the entry holds and the
file that registered it. An entry without a kernel, and one that passes a call on, look different from the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from workbook.book.figures.hops import place as file_of
from workbook.book.figures.kit import Figure, text_width

SIZE, SMALL, ROW, GAP, PAD = 12.5, 11.5, 40, 6, 10
MOST = 14
ENTRY = re.compile(r"^(?P<key>\w+): (?P<rest>.*?)(?: \[(?P<kind>[\w ]+)\])?$", re.MULTILINE)
PLACE = re.compile(r"registered at (?P<where>.+?:\d+)")
NO_KERNEL = "no kernel"


class Entry(NamedTuple):
    """An entry of a table."""

    key: str
    kind: str  # in PyTorch's words, such as kernel, math kernel, backend fallback
    file: str  # that registered it; empty where the entry holds no kernel


def entries(operator: str, keys: Sequence[str]) -> list[Entry]:
    """The entries of an operator, `aten::add.Tensor`, at some keys, the highest first."""
    from glasstorch import _C
    from glasstorch.core.keys import DispatchKey, key_set_of

    found = {entry["key"]: entry for entry in ENTRY.finditer(_C._dispatch_dump_table(operator))}
    ordered = sorted(keys, key=lambda key: key_set_of(DispatchKey[key]), reverse=True)
    table = []
    for key in ordered:
        entry = found.get(key)
        place = None if entry is None else PLACE.search(entry["rest"])
        kind = NO_KERNEL if entry is None else entry["kind"] or entry["rest"]
        table.append(Entry(key, kind, file_of(place["where"]) if place else ""))
    return table


def draw(operator: str, keys: Sequence[str]) -> Figure:
    """The table at these keys."""
    if not 0 < len(keys) <= MOST:
        raise ValueError(f"a figure holds 1 to {MOST} keys, got {len(keys)}; print the table instead")
    table = entries(operator, keys)
    left = max(text_width(entry.key, SIZE, mono=True) for entry in table) + 2 * PAD
    inside = max(max(text_width(entry.kind, SIZE), text_width(entry.file, SMALL, mono=True)) for entry in table)
    told = "; ".join(f"{one.key}: {one.kind}" + (f", {one.file}" if one.file else "") for one in table)
    width = left + inside + 2 * PAD + 1
    figure = Figure("table", f"The dispatch table of {operator}", f"{told}.", width, ROW * len(table) - GAP + 1)
    for row, entry in enumerate(table):
        y = ROW * row
        own, empty = entry.kind == "kernel", not entry.file
        figure.text(0, y + 21, entry.key, size=SIZE, mono=True)
        kind = "plain" if empty else "glass" if own else "pane"
        figure.box(left, y, inside + 2 * PAD, ROW - GAP, kind=kind, dashed=empty)
        figure.text(left + PAD, y + (21 if empty else 15), entry.kind, size=SIZE)
        if entry.file:
            figure.text(left + PAD, y + 29, entry.file, size=SMALL, mono=True, colour="soft")
    return figure
