"""Which kernels did a call pass through, and which keys did it skip? The hops of a trace."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from workbook.book.figures.kit import Figure
from workbook.book.places import named_at

if TYPE_CHECKING:
    from glasstorch.dispatch.trace import Hop, Trace

WIDTH, INDENT = 430, 22
BOX, GAP, SKIPPED, HEAD = 46, 18, 20, 30
MOST = 24  # hops that a figure holds


def draw(trace: Trace) -> Figure:
    """One box for each hop; a call that a kernel made is indented. The box of a kernel of the library stands for it."""
    if not 0 < len(trace) <= MOST:
        raise ValueError(f"a figure holds 1 to {MOST} hops, the trace has {len(trace)}; print it instead")
    told = ". ".join(described(hop) for hop in trace)
    figure = Figure("hops", "The hops of a call", f"{told}.", WIDTH, 0)
    y = 0.0
    before: Hop | None = None
    for hop in trace:
        x = INDENT * outer(trace, hop)
        if before is None or before.operator != hop.operator or hop.depth <= before.depth:
            y += HEAD if before is None else HEAD + 8
            figure.text(x, y - 10, hop.operator, size=13, mono=True, bold=True, room=WIDTH - x)
        else:
            figure.arrow([(x + 26, y), (x + 26, y + GAP + (SKIPPED if hop.skipped else 0))], colour="glass")
            y += GAP
        if hop.skipped:
            names = ", ".join(key.name for key in hop.skipped)
            figure.text(x + 42, y + 8, f"fallthrough at {names}", size=12, colour="soft", room=WIDTH - x - 42)
            y += SKIPPED
        with figure.stands_for(named_at(hop.where)):
            figure.box(x, y, WIDTH - 1 - x, BOX, kind="glass")
            figure.text(x + 12, y + 19, hop.key.name, size=13, mono=True, bold=True)
            figure.text(WIDTH - 12, y + 19, hop.rule, size=12, colour="soft", anchor="end")
            figure.text(x + 12, y + 37, place(hop.where), size=11.5, mono=True, colour="glass", room=WIDTH - x - 24)
        y += BOX
        before = hop
    figure.height = y + 1
    return figure


def outer(trace: Trace, hop: Hop) -> int:
    """The number of calls that enclose this one; the hops of one call are inside each other, but do not count."""
    at = next(i for i, other in enumerate(trace) if other is hop)
    depth, calls, operator = hop.depth, 0, hop.operator
    for other in reversed(trace[:at]):
        if other.depth < depth:
            depth = other.depth
            if other.operator != operator:
                calls, operator = calls + 1, other.operator
    return calls


def place(where: str) -> str:
    """The file of a kernel: in the library, in the notebook, or elsewhere by its name."""
    file = where.rpartition(":")[0]
    if file.startswith("Cell "):
        return "a cell of this notebook"
    return PurePath(file).name if PurePath(file).is_absolute() else file


def described(hop: Hop) -> str:
    """The description of one hop."""
    passed = f", fallthrough at {' and '.join(key.name for key in hop.skipped)}" if hop.skipped else ""
    return f"{hop.operator} at {hop.key.name} ({hop.rule}) in {place(hop.where)}{passed}"
