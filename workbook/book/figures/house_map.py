"""The map of the house: the library's layers, what each one answers, and where PyTorch answers the same."""

from __future__ import annotations

from pathlib import Path

from workbook.book.figures.kit import Figure
from workbook.book.house import LAYERS, Layer

LEFT, WIDTH = 28, 652
ROW, GAP, TOP = 50, 6, 34
ROOMS, COUNTERPART = LEFT + 44, LEFT + 426


def draw(root: Path) -> Figure:
    """The map. A layer of which nothing is built yet has a dashed outline, a room that is not built yet is grey."""
    height = TOP + len(LAYERS) * (ROW + GAP) + 34
    told = "; ".join(
        f"{layer.number}: {', '.join(layer.rooms)}. {layer.question} In PyTorch: {layer.counterpart}. "
        f"Chapter {' and '.join(layer.chapters)}"
        for layer in LAYERS
    )
    figure = Figure(
        "house-map",
        "The map of the house",
        f"The library's layers, numbered from the bottom; each imports only from those below. {told}.",
        LEFT + WIDTH + 2,
        height,
    )
    figure.text(ROOMS, TOP - 12, "in glasstorch", size=12.5, colour="glass", bold=True)
    figure.text(COUNTERPART, TOP - 12, "in PyTorch", size=12.5, colour="torch", bold=True)
    for layer in LAYERS:
        row(figure, layer, TOP + (len(LAYERS) - 1 - layer.number) * (ROW + GAP), layer.built(root))
    bottom = TOP + len(LAYERS) * (ROW + GAP) - GAP
    figure.arrow([(12, TOP + 4), (12, bottom - 4)], colour="glass")
    figure.text(LEFT, bottom + 24, "A layer imports only from the layers below it.", size=12.5, colour="soft")
    if any(layer.built(root) != layer.rooms for layer in LAYERS):
        figure.box(LEFT + 426, bottom + 14, 22, 12, dashed=True, radius=2)
        figure.text(LEFT + 456, bottom + 24, "grey: not built yet", size=12.5, colour="soft")
    return figure


def row(figure: Figure, layer: Layer, y: float, built: tuple[str, ...]) -> None:
    """One layer; the rooms that are not built yet are grey."""
    figure.box(LEFT, y, WIDTH, ROW, kind="pane" if built else "plain", dashed=not built)
    upper, lower = y + 21, y + 39
    figure.text(LEFT + 20, y + ROW / 2 + 5, str(layer.number), size=15, colour="soft", anchor="middle", mono=True)
    rooms = [
        (room if room.endswith(".py") else f"{room}/", "glass" if room in built else "soft") for room in layer.rooms
    ]
    room = COUNTERPART - ROOMS - 8
    figure.words(ROOMS, upper, rooms, room=room)
    figure.text(ROOMS, lower, layer.question.replace("`", ""), size=13, room=room)
    room = LEFT + WIDTH - COUNTERPART - 8
    figure.text(COUNTERPART, upper, layer.counterpart, size=12, colour="torch", mono=True, room=room)
    chapters = f"chapter{'s' * (len(layer.chapters) > 1)} {', '.join(layer.chapters)}"
    figure.text(COUNTERPART, lower, chapters, size=12.5, colour="soft", room=room)
