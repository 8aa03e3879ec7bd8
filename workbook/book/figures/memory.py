"""Which cells of its storage does a tensor read, and in which order?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbook.book.figures.kit import Figure, text_width

if TYPE_CHECKING:
    from glasstorch import Tensor

CELL, TALL, ROW = 46, 34, 18
LINE, SPACE = 19, 12  # a tensor's geometry; between two strips of cells
WIDEST = 640
MOST = 48  # cells that a figure holds
LISTED, IN_SIGHT = 6, 3  # readers of a cell that are all listed; of more, so many


@dataclass(slots=True)
class Readers:
    """Which elements of a tensor (counted row by row) read one cell: the first ones, and how many there are."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def __str__(self) -> str:
        if self.count <= LISTED:
            return ", ".join(map(str, self.first))
        return f"{', '.join(map(str, self.first[:IN_SIGHT]))}, ... ({self.count:,})"

    def told(self) -> str:
        """The description of these elements."""
        if self.count <= LISTED:
            return f"element{'s' * (self.count != 1)} {' and '.join(map(str, self.first))}"
        return f"{self.count:,} elements, the first of them {', '.join(map(str, self.first[:IN_SIGHT]))}"


def draw(tensors: Mapping[str, Tensor]) -> Figure:
    """One square for each cell, with its value; below it, for each tensor, the elements that read the cell.

    Of a large storage, the part in which the first tensor begins.
    """
    views = list(tensors.values())
    check_shared(tensors)
    count = views[0].untyped_storage().nbytes() // views[0].element_size()
    first = first_drawn(views[0].storage_offset(), count)
    window = range(first, min(first + MOST, count))
    values = views[0].detach().as_strided((len(window),), (1,), first).tolist()
    readers = [readers_in(window, tuple(v.shape), v.stride(), v.storage_offset()) for v in views]
    alone = len(views) == 1
    geometries = {name: geometry_of(view) for name, view in tensors.items()}
    read = set().union(*readers)

    texts = [text_of(value) for value in values]
    orders = [[str(of.get(cell, "")) for cell in window] for of in readers]
    margin = 1 if alone else max(text_width(name, 12.5) for name in tensors) + 22
    wide = max(
        [CELL, *(text_width(text, 12.5, mono=True) + 10 for text in texts)]
        + [text_width(order, 11.5) + 8 for row in orders for order in row]
    )
    across = max(1, min(len(window), int(WIDEST / wide)))
    strips = -(-len(window) // across)
    strip = TALL + len(views) * ROW
    notes = notes_of(window, count, reads_nothing=not any(view.numel() for view in views))
    width = max(
        margin + across * wide + 1,
        *(margin + text_width(geometry, 12.5, mono=True) + 1 for geometry in geometries.values()),
        *(text_width(note, 12) + 2 for note in notes),
    )
    top = len(views) * LINE + 7
    height = top + strips * (strip + SPACE) - SPACE * bool(strips) + len(notes) * 22 + 4
    heads = [geometry if alone else f"{name}: {geometry}" for name, geometry in geometries.items()]
    told = [*heads, *(told_of(cell, texts[cell - first], tensors, readers) for cell in window), *notes]
    figure = Figure("memory", title_of(tensors), "; ".join(told) + ".", width, height)
    for line, (name, geometry) in enumerate(geometries.items()):
        figure.text(margin, 13 + line * LINE, geometry, size=12.5, mono=True, room=width)
        if not alone:
            figure.text(1, 13 + line * LINE, name, size=12.5, bold=True, room=margin)
    for place, cell in enumerate(window):
        x, y = margin + place % across * wide, top + place // across * (strip + SPACE)
        kind = "glass" if cell in read else "plain"
        figure.label(x, y, wide, TALL, texts[place], kind=kind, mono=True, size=12.5)
        for row, name in enumerate(tensors):
            level = y + TALL + 15 + row * ROW
            if place % across == 0 and not alone:
                figure.text(1, level, name, size=11.5, colour="soft", bold=True)
            if order := orders[row][place]:
                figure.text(x + wide / 2, level, order, size=11.5, colour="soft", anchor="middle", room=wide)
    for line, note in enumerate(notes):
        figure.text(1, height - 6 - 22 * (len(notes) - 1 - line), note, size=12, colour="soft", room=width)
    return figure


def check_shared(tensors: Mapping[str, Tensor]) -> None:
    """Refuse tensors without memory, and tensors that are not views of one storage."""
    (name, first), *others = tensors.items()
    if first.device.type == "meta":
        raise ValueError(f"{name} is on the device meta: it has sizes and strides, and no memory to draw")
    for other, tensor in others:
        if tensor.untyped_storage().data_ptr() != first.untyped_storage().data_ptr():
            raise ValueError(
                f"{name} and {other} do not share a storage\n"
                "  accepted: one tensor, or several that are views of the same memory"
            )
        if tensor.dtype != first.dtype:
            raise ValueError(
                f"{name} reads the storage as {first.dtype}, {other} as {tensor.dtype}\n"
                "  accepted: tensors of one dtype, whose cells have one size"
            )


def geometry_of(tensor: Tensor) -> str:
    """The geometry of a tensor, from its own attributes."""
    return f"sizes {tuple(tensor.shape)}, strides {tensor.stride()}, offset {tensor.storage_offset()}"


def title_of(tensors: Mapping[str, Tensor]) -> str:
    """The title of the figure."""
    return "A tensor's storage" if len(tensors) == 1 else f"A storage and {len(tensors)} tensors that read it"


def notes_of(window: range, count: int, *, reads_nothing: bool) -> list[str]:
    """The notes below the cells."""
    notes = []
    if not count:
        notes.append("an empty storage: it has no cell")
    elif reads_nothing:
        notes.append("no element, so no cell is read")
    if len(window) < count:
        notes.append(
            f"cells {window.start:,} to {window.stop - 1:,} of 0 to {count - 1:,}; {count - len(window):,} not drawn"
        )
    return notes


def told_of(cell: int, text: str, tensors: Mapping[str, Tensor], readers: Sequence[Mapping[int, Readers]]) -> str:
    """The description of one cell."""
    said = [
        of[cell].told() if len(tensors) == 1 else f"{of[cell].told()} of {name}"
        for name, of in zip(tensors, readers, strict=True)
        if cell in of
    ]
    return f"cell {cell} holds {text}, {'read as ' + ', '.join(said) if said else 'not read'}"


def first_drawn(offset: int, count: int) -> int:
    """The first cell of the figure: 0, or the tensor's first one if that lies too far behind.

    >>> first_drawn(3, 100), first_drawn(60, 100), first_drawn(60, 200)
    (0, 52, 60)
    """
    return 0 if offset < MOST else max(0, min(offset, count - MOST))


def readers_in(window: range, shape: Sequence[int], strides: Sequence[int], offset: int) -> dict[int, Readers]:
    """For each cell in a window of the storage, the elements that read it.

    >>> {cell: of.first for cell, of in readers_in(range(4), (2, 2), (1, 2), 0).items()}
    {0: [0], 2: [1], 1: [2], 3: [3]}
    """
    if not all(shape):
        return {}
    # A dimension of stride 0 reads the same cells again and again; the first readers are among its first places.
    sizes = [size if step else min(size, LISTED) for size, step in zip(shape, strides, strict=True)]
    found: dict[int, Readers] = {}
    for cell, number in elements_in(window, sizes, strides, row_major(shape), offset):
        found.setdefault(cell, Readers()).first.append(number)
    for of in found.values():
        of.count = len(of.first) * math.prod(shape) // math.prod(sizes)
    return found


def elements_in(
    window: range, sizes: Sequence[int], strides: Sequence[int], places: Sequence[int], cell: int, number: int = 0
) -> Iterator[tuple[int, int]]:
    """The elements whose cell lies in the window, row by row: the cell, and the number of the element.

    `places` says by how much the number grows along each dimension. What cannot reach the window is not walked:
    the tensor may be large.
    """
    if not sizes:
        if cell in window:
            yield cell, number
        return
    size, step, place = sizes[0], strides[0], places[0]
    reach = sum((size - 1) * step for size, step in zip(sizes[1:], strides[1:], strict=True))
    begin, end = 0, size
    if step:
        begin = max(0, -(-(window.start - cell - reach) // step))
        end = min(size, (window.stop - 1 - cell) // step + 1)
    for index in range(begin, end):
        yield from elements_in(window, sizes[1:], strides[1:], places[1:], cell + index * step, number + index * place)


def row_major(shape: Sequence[int]) -> list[int]:
    """By how much an element's row-major index grows along each dimension.

    >>> row_major((2, 3, 4))
    [12, 4, 1]
    """
    return [math.prod(shape[dim + 1 :]) for dim in range(len(shape))]


def text_of(value: object) -> str:
    """A value as text that fits into a cell.

    >>> text_of(2.0), text_of(0.125)
    ('2.', '0.125')
    """
    if isinstance(value, float):
        return f"{value:.3g}" + ("." if value.is_integer() and abs(value) < 1000 else "")
    return str(value)
