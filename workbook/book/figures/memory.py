"""Which cells of its storage does a tensor read, and in which order?"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from workbook.book.figures.kit import Figure

if TYPE_CHECKING:
    from glasstorch import Tensor

CELL, TALL, ROW = 46, 34, 12
MOST = 48  # cells that a figure holds


def draw(tensor: Tensor) -> Figure:
    """One square a cell, with its value; below it the places of the tensor that read it."""
    shape, strides, offset = tuple(tensor.shape), tensor.stride(), tensor.storage_offset()
    count = tensor.untyped_storage().nbytes() // tensor.element_size()
    if not 0 < count <= MOST:
        raise ValueError(f"a figure holds 1 to {MOST} cells, this storage has {count}")
    values = tensor.detach().as_strided((count,), (1,), 0).tolist()
    readers = reading_order(shape, strides, offset)
    across = min(count, ROW)
    rows = -(-count // ROW)
    geometry = f"sizes {shape}   strides {strides}   offset {offset}"
    told = "; ".join(
        f"cell {cell} holds {text_of(values[cell])}, read as element {', '.join(map(str, readers[cell]))}"
        if cell in readers
        else f"cell {cell} holds {text_of(values[cell])}, not read"
        for cell in range(count)
    )
    width = max(across * CELL + 2, 360)
    figure = Figure("memory", "A tensor's storage", f"{geometry}. {told}.", width, 30 + rows * (TALL + 30))
    figure.text(1, 15, geometry, size=12.5, mono=True, room=width)
    for cell, value in enumerate(values):
        x, y = 1 + cell % ROW * CELL, 28 + cell // ROW * (TALL + 30)
        figure.label(
            x, y, CELL, TALL, text_of(value), kind="glass" if cell in readers else "plain", mono=True, size=12.5
        )
        order = " ".join(map(str, readers.get(cell, ())))
        figure.text(x + CELL / 2, y + TALL + 16, order, size=11.5, colour="soft", anchor="middle", room=CELL)
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
