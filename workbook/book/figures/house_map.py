"""The map of the house: the question of each layer, where the book answers it, and where PyTorch does.

What stands there is a link: a room to its source, a chapter to its first section, a file of PyTorch to its text. In
the figure's file the links hold in a clone; on the site they lead to the pages.
"""

from __future__ import annotations

import posixpath
from pathlib import Path

from workbook.book.contents import Section, chapter_title, first_sections
from workbook.book.figures.kit import Figure, text_width
from workbook.book.house import FACADE, HEADS, LAYERS, PACKAGE, Layer, not_told
from workbook.book.project import CHAPTERS
from workbook.book.source_map import address_of

FOLDER = f"{CHAPTERS}/assets/figures"  # where the figure's file stands: its links begin there
LEFT, ROOMS, TOLD, THERE, RIGHT = 24, 60, 392, 554, 848
EAVES, HEADINGS, FIRST = 40, 62, 74
GAP, LINE, LOWEST = 6, 24, 64  # between layers; from line to line in a layer, wide enough for a finger; a layer
SHELF = LINE + 5  # from one line of rooms to the next
ROOM_SIZE, SMALL = 12.5, 11


def draw(root: Path) -> Figure:
    """The map. A layer or room of which nothing is built yet has a dashed outline and no link."""
    heights = {layer.number: height_of(layer) for layer in LAYERS}
    bottom = FIRST + sum(heights.values()) + GAP * (len(LAYERS) - 1)
    figure = Figure(
        "house-map",
        "The map of the house",
        "The library's layers, from the public names at the top down to core; each imports only from those below. For "
        "each layer: its number and question, its rooms, the chapters that tell it, and PyTorch's files that answer "
        "the same.",
        RIGHT,
        bottom + 34,
    )
    figure.line([(LEFT - 12, EAVES), (RIGHT / 2 + 6, 4), (RIGHT, EAVES), (LEFT - 12, EAVES)], colour="glass")
    for x, head, colour in zip((ROOMS, TOLD, THERE), HEADS, ("glass", "ink", "torch"), strict=True):
        figure.text(x, HEADINGS, head, size=12.5, colour=colour, bold=True)
    first = first_sections(root)
    y: float = FIRST
    for layer in reversed(LAYERS):
        storey(figure, layer, y, heights[layer.number], layer.built(root), first)
        y += heights[layer.number] + GAP
    figure.arrow([(8, FIRST + 4), (8, bottom - 4)], colour="glass")
    figure.line([(LEFT - 12, bottom + GAP), (RIGHT, bottom + GAP)], colour="glass")
    figure.text(LEFT, bottom + 28, "A layer imports only from the layers below it.", size=12.5, colour="soft")
    if any(layer.built(root) != layer.rooms for layer in LAYERS):
        figure.box(TOLD, bottom + 18, 22, 12, dashed=True, radius=2)
        figure.text(TOLD + 30, bottom + 28, "not built yet", size=12.5, colour="soft")
    return figure


def height_of(layer: Layer) -> int:
    """The height of a layer: enough for its lists and for the rows of its rooms."""
    return max(LOWEST, 14 + LINE * max(len(layer.there), len(layer.chapters)), 36 + SHELF * len(shelves(layer.rooms)))


def shelves(rooms: tuple[str, ...]) -> list[list[str]]:
    """The rooms in rows, each filled up to the column of chapters."""
    lines: list[list[str]] = []
    used: float = TOLD
    for name in rooms:
        width = width_of(name) + 6
        if used + width > TOLD:
            lines.append([])
            used = ROOMS
        lines[-1].append(name)
        used += width
    return lines


def storey(
    figure: Figure, layer: Layer, y: float, height: float, built: tuple[str, ...], first: dict[str, Section]
) -> None:
    """One layer: its question above its rooms, then its chapters, then PyTorch's files."""
    figure.box(LEFT, y, RIGHT - LEFT - 1, height, kind="pane" if built else "plain", dashed=not built)
    middle = y + height / 2
    figure.text(LEFT + 18, middle + 5, str(layer.number), size=15, colour="soft", anchor="middle", mono=True)
    lines = shelves(layer.rooms)
    highest = middle - SHELF * (len(lines) - 1) / 2
    figure.text(ROOMS, highest - 10, layer.question.replace("`", ""), size=13, room=TOLD - ROOMS - 8)
    for line, names in enumerate(lines):
        x: float = ROOMS
        for name in names:
            x += room(figure, name, x, highest + SHELF * line, there=name in built) + 6
        assert x <= TOLD, f"layer {layer.number}: {names[0]} needs {x - ROOMS:.0f} pixels, a line has {TOLD - ROOMS}"
    for line, number in enumerate(layer.chapters):
        chapter(figure, number, middle + LINE * (line - len(layer.chapters) / 2), first.get(number), told=bool(built))
    for line, path in enumerate(layer.there):
        top = middle + LINE * (line - len(layer.there) / 2)
        with figure.link(address_of(path), f"{path} in PyTorch's source", (THERE - 6, top, RIGHT - THERE, LINE)):
            place = RIGHT - THERE - 8
            figure.text(THERE, top + 16, path, size=SMALL, colour="torch", mono=True, room=place)


def room(figure: Figure, name: str, x: float, y: float, *, there: bool) -> float:
    """One room, with a link to its source if it has any; returns its width."""
    text, width = text_of(name), width_of(name)
    if not there:
        figure.box(x, y, width, LINE, dashed=True)
        figure.text(x + 6, y + 16.5, text, size=ROOM_SIZE, colour="soft", mono=True)
        return width
    address = posixpath.relpath((PACKAGE / name).as_posix(), FOLDER)
    said = "glasstorch" if name == FACADE else f"glasstorch.{name.removesuffix('.py')}"
    with figure.link(address, f"{text}, the modules of {said}", (x - 2, y - 2, width + 4, LINE + 4), text):
        figure.box(x, y, width, LINE, kind="glass")
        figure.text(x + 6, y + 16.5, text, size=ROOM_SIZE, colour="glass", mono=True, bold=True)
    return width


def text_of(room: str) -> str:
    """The text in a room's box; a folder's name ends in a slash."""
    return room if room.endswith(".py") else f"{room}/"


def width_of(room: str) -> float:
    """The width of a room's box."""
    return text_width(text_of(room), ROOM_SIZE, mono=True) + 12


def chapter(figure: Figure, number: str, y: float, first: Section | None, *, told: bool) -> None:
    """One chapter, with a link to its first section if that exists and covers the layer."""
    title, place = chapter_title(number), THERE - TOLD - 10
    if first is None or not told:
        figure.text(TOLD, y + 16, not_told(number, begun=first is not None), size=12.5, colour="soft", room=place)
        return
    address = posixpath.relpath(f"{CHAPTERS}/{first.path}", FOLDER)
    with figure.link(address, f"{title}, chapter of the book", (TOLD - 6, y, THERE - TOLD - 6, LINE)):
        figure.text(TOLD, y + 16, title, size=12.5, colour="glass", room=place)
