"""How does a curve grow while a cell is running?

In a notebook one output is replaced by the next drawing. What is left in it at the end shows all values, drawn to
three digits: the same run gives the same figure on each machine, however often it was drawn on the way.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from workbook.book.figures import curves
from workbook.book.figures.kit import Figure

DIGITS = 3


class LiveCurves:
    """One or two curves that are drawn anew as values are added: `with LiveCurves("step") as plot: plot.add(loss=2)`.

    Between two drawings at least `every` seconds pass; the last one is made when the block ends, also by an error.
    Without a notebook the description is printed once, at the end.
    """

    def __init__(self, x_label: str, y_label: str = "loss", *, every: float = 0.25) -> None:
        self.x_label, self.y_label, self.every = x_label, y_label, every
        self.values: dict[str, list[float]] = {}
        self.drawn = float("-inf")
        self.clock: Callable[[], float] = time.monotonic
        self.place: Any = None

    def add(self, **values: float) -> None:
        """Add a value to each curve that is named."""
        for name, value in values.items():
            self.values.setdefault(name, []).append(float(f"{value:.{DIGITS}g}"))
        if in_notebook() and self.clock() - self.drawn >= self.every:
            self.draw()

    def figure(self) -> Figure | None:
        """What there is to see so far: a curve begins with its second value."""
        begun = {name: values for name, values in self.values.items() if len(values) > 1}
        return curves.draw(begun, self.x_label, self.y_label) if begun else None

    def draw(self) -> None:
        """Replace what is displayed; the first time, display it."""
        from workbook.book.figures.live import drawing_of

        figure = self.figure()
        if figure is None:
            return
        drawing = drawing_of(figure)
        if not in_notebook():
            print(drawing)
        elif self.place is None:
            self.place = sys.modules["IPython"].display.display(drawing, display_id=True)
        else:
            self.place.update(drawing)
        self.drawn = self.clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.draw()


def in_notebook() -> bool:
    """Whether there is an output that can be replaced."""
    return "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None
