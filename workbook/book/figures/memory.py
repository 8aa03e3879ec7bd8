"""Which cells of its storage does a tensor read, and in which order?"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from workbook.book.figures.kit import Figure, text_width

if TYPE_CHECKING:
    from glasstorch import Tensor

CELL, TALL, BELOW = 46, 34, 30
WIDEST = 640
MOST = 48  # cells that a figure holds


def draw(tensor: Tensor) -> Figure:
    """One square a cell, with its value; below it the places of the tensor that read it."""
    shape, strides, offset = tuple(tensor.shape), tensor.stride(), tensor.storage_offset()
    count = tensor.untyped_storage().nbytes() // tensor.element_size()
    if not 0 < count <= MOST:
        raise ValueError(f"a figure holds 1 to {MOST} cells, this storage has {count}")
    values = tensor.detach().as_strided((count,), (1,), 0).tolist()
    readers = reading_order(shape, strides, offset)
    orders = [", ".join(map(str, readers.get(cell, ()))) for cell in range(count)]
    wide = max(CELL, *(text_width(order, 11.5) + 8 for order in orders))
    across = min(count, int(WIDEST / wide))
    geometry = f"sizes {shape}, strides {strides}, offset {offset}"
    told = "; ".join(
        f"cell {cell} holds {text_of(values[cell])}, read as element {', '.join(map(str, readers[cell]))}"
        if cell in readers
        else f"cell {cell} holds {text_of(values[cell])}, not read"
        for cell in range(count)
    )
    width = max(across * wide + 2, text_width(geometry, 12.5, mono=True))
    height = 26 + -(-count // across) * (TALL + BELOW) - 8
    figure = Figure("memory", "A tensor's storage", f"{geometry}. {told}.", width, height)
    figure.text(1, 13, geometry, size=12.5, mono=True, room=width)
    for cell, value in enumerate(values):
        x, y = 1 + cell % across * wide, 26 + cell // across * (TALL + BELOW)
        kind = "glass" if cell in readers else "plain"
        figure.label(x, y, wide, TALL, text_of(value), kind=kind, mono=True, size=12.5)
        figure.text(x + wide / 2, y + TALL + 16, orders[cell], size=11.5, colour="soft", anchor="middle", room=wide)
    return figure


def reading_order(shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> dict[int, list[int]]:
    """For each cell of storage that is read, which elements of the tensor (counted row by row) read it.

    >>> reading_order((2, 2), (1, 2), 0)
    {0: [0], 2: [1], 1: [2], 3: [3]}
    """
    readers: dict[int, list[int]] = {}
    for number, index in enumerate(itertools.product(*map(range, shape))):
        cell = offset + sum(i * step for i, step in zip(index, strides, strict=True))
        readers.setdefault(cell, []).append(number)
    return readers


def text_of(value: object) -> str:
    """A value as it fits into a cell.

    >>> text_of(2.0), text_of(0.125)
    ('2.', '0.125')
    """
    if isinstance(value, float):
        return f"{value:.3g}" + ("." if value.is_integer() and abs(value) < 1000 else "")
    return str(value)
