"""Into which blocks has the CUDA allocator split its segments, and who holds them?

A segment is a strip, and so are its blocks in it, by address. Addresses differ from run to run, so none is shown, and
segments are ordered by what they look like. A block is as wide as its text; the width that is left goes to the blocks
by their sizes. So it is not to scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from workbook.book.figures.kit import Figure, text_width, total

if TYPE_CHECKING:
    from glasstorch.devices.snapshot import BlockInfo, SegmentInfo

WIDTH = 640
TALL, HEAD, NAMES, SPACE = 32, 24, 18, 14  # a block; the line above a segment; a line below it; between two segments
TEXT, NAME = 12.5, 11.5  # sizes of text
MOST_SEGMENTS, MOST_BLOCKS = 10, 30
# How each state is drawn: the kind of box, and the words for it.
STATES = {
    "active_allocated": ("glass", "in use"),
    "active_pending_free": ("torch", "waits for a stream"),
    "inactive": ("plain", "free"),
}


def draw(segments: Sequence[SegmentInfo], holders: Mapping[str, tuple[int, int]]) -> Figure:
    """One strip for each segment of a snapshot.

    `holders` are names with a device and an address: each is written below the block that the address lies in.
    """
    ordered = sorted(segments, key=appearance)
    drawn, notes = ordered[:MOST_SEGMENTS], []
    if not ordered:
        notes.append("no segment: the allocator has no memory from the driver")
    if len(ordered) > len(drawn):
        notes.append(f"{len(ordered) - len(drawn)} of {len(ordered)} segments not drawn")
    strips = [(segment, rows_of(segment["blocks"][:MOST_BLOCKS], segment["device"], holders)) for segment in drawn]
    height = 26 + sum(HEAD + len(rows) * (TALL + NAMES) + SPACE for _, rows in strips) + 22 * len(notes)
    said = [told_of(segment, holders) for segment in drawn]
    figure = Figure("memory-map", "Memory of the CUDA allocator", "; ".join([*said, *notes]) + ".", WIDTH, height)
    legend(figure)
    y: float = 26
    for segment, rows in strips:
        figure.text(1, y + HEAD - 8, head_of(segment), size=TEXT, bold=True, room=WIDTH)
        y += HEAD
        for row in rows:
            x: float = 0
            for block, names, width in row:
                kind, _ = STATES[block["state"]]
                figure.box(x, y, width, TALL, kind=kind, dashed=block["state"] != "active_allocated")
                colour = kind if kind != "plain" else "soft"
                middle = x + width / 2
                figure.text(middle, y + 20.5, size_of(block["size"]), size=TEXT, colour=colour, anchor="middle")
                if names:
                    figure.text(middle, y + TALL + 13, names, size=NAME, anchor="middle", mono=True, room=width)
                x += width
            y += TALL + NAMES
        y += SPACE
    for note in notes:
        figure.text(1, y + 12, note, size=TEXT, colour="soft", room=WIDTH)
        y += 22
    return figure


def appearance(segment: SegmentInfo) -> tuple[object, ...]:
    """The order of segments, which does not differ from run to run."""
    blocks = [(block["size"], block["state"]) for block in segment["blocks"]]
    return segment["device"], segment["segment_type"] == "large", segment["stream"], segment["total_size"], blocks


def legend(figure: Figure) -> None:
    """Explain the three kinds of box."""
    x: float = 1
    for state, (kind, words) in STATES.items():
        figure.box(x, 2, 16, 14, kind=kind, dashed=state != "active_allocated", radius=2)
        figure.text(x + 22, 13, words, size=NAME, colour="soft")
        x += 22 + text_width(words, NAME) + 22


def rows_of(
    blocks: Sequence[BlockInfo], device: int, holders: Mapping[str, tuple[int, int]]
) -> list[list[tuple[BlockInfo, str, float]]]:
    """The blocks in rows that fill the width, each with its holders' names and its width."""
    rows: list[list[tuple[BlockInfo, str, float]]] = [[]]
    for block in blocks:
        names = shortened(names_in(block, device, holders))
        needed = max(text_width(size_of(block["size"]), TEXT), text_width(names, NAME, mono=True)) + 12
        if rows[-1] and total(width for _, _, width in rows[-1]) + needed > WIDTH:
            rows.append([])
        rows[-1].append((block, names, needed))
    return [spread(row) for row in rows]


def shortened(names: Sequence[str]) -> str:
    """Names in a line that fits the figure; if there are too many, the first ones and their number."""
    for count in range(len(names), 0, -1):
        line = ", ".join(names[:count]) + (f", ... ({len(names)})" if count < len(names) else "")
        if text_width(line, NAME, mono=True) + 12 <= WIDTH:
            return line
    return f"{len(names)} tensors" if names else ""


def spread(row: Sequence[tuple[BlockInfo, str, float]]) -> list[tuple[BlockInfo, str, float]]:
    """The row, stretched to the figure's width in proportion to the sizes of the blocks."""
    left = WIDTH - total(width for _, _, width in row)
    whole = sum(block["size"] for block, _, _ in row)
    return [(block, names, width + left * block["size"] / whole) for block, names, width in row]


def names_in(block: BlockInfo, device: int, holders: Mapping[str, tuple[int, int]]) -> list[str]:
    """Who holds a part of the block."""
    inside = range(block["address"], block["address"] + block["size"])
    return [name for name, (on, address) in holders.items() if on == device and address in inside]


def head_of(segment: SegmentInfo) -> str:
    """The line above a segment."""
    count, stream = len(segment["blocks"]), segment["stream"]
    parts = [
        f"cuda:{segment['device']}",
        f"{segment['segment_type']} pool",
        "default stream" if not stream else f"stream {stream:#x}",
        f"a segment of {size_of(segment['total_size'])}",
    ]
    if count > MOST_BLOCKS:
        parts.append(f"the first {MOST_BLOCKS} of {count} blocks")
    return ", ".join(parts)


def told_of(segment: SegmentInfo, holders: Mapping[str, tuple[int, int]]) -> str:
    """The description of a segment."""
    blocks = []
    for block in segment["blocks"][:MOST_BLOCKS]:
        _, words = STATES[block["state"]]
        asked = f" ({size_of(block['requested_size'])} asked for)" if block["requested_size"] else ""
        names = names_in(block, segment["device"], holders)
        blocks.append(f"{size_of(block['size'])} {words}{asked}{' by ' if names else ''}{' and '.join(names)}")
    return f"{head_of(segment)}: {', '.join(blocks)}"


def size_of(nbytes: int) -> str:
    """A number of bytes in the largest unit in which it is an integer or a half-integer.

    >>> size_of(2 << 20), size_of((2 << 20) - 512), size_of(1536), size_of(3000)
    ('2 MiB', '2047.5 KiB', '1.5 KiB', '3,000 B')
    """
    for unit, power in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if nbytes >= 1 << power and nbytes % (1 << (power - 1)) == 0:
            return f"{nbytes / (1 << power):g} {unit}"
    return f"{nbytes:,} B"
