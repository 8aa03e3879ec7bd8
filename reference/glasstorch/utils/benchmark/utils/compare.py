"""How do many measurements become a table?

Mirrors: torch/utils/benchmark/utils/compare.py
Differs: a measurement without a description or environment is shown all the same.

There is one table for each label. A row is a number of threads, an environment and a sub-label (or statement); a column
is a description.

    [------------ sum ------------]
                  |  n=1  |  n=100
    1 threads: --------------------
          float   |  1.0  |   2.5
          double  |  1.2  |   4.0

    Times are in microseconds (us).
"""

from __future__ import annotations

import enum
import math
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple

from glasstorch.utils.benchmark.utils.common import (
    Measurement,
    log10,
    ordered_unique,
    select_unit,
    trim_sigfig,
    unit_to_english,
)

BEST = "\033[92m"
GOOD = "\033[34m"
BAD = "\033[2m\033[91m"
VERY_BAD = "\033[31m"
BOLD = "\033[1m"
TERMINATE = "\033[0m"

SAME = 100e-9  # seconds by which the best time may be exceeded and still be the best
SPREAD_WIDTH = 7  # of " (! 12%)"
GAP = "  |  "
NO_ENVIRONMENT = "Unspecified env"
LEGEND = "(! XX%) Measurement has high variance, where XX is the IQR / median * 100.\n"


class Colorize(enum.Enum):
    """Among which times the best is sought: those of a column with the same number of threads, or of a row."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


class Style(NamedTuple):
    """What the user of a table asked for."""

    colorize: Colorize = Colorize.NONE
    trim: bool = False
    highlight: bool = False


class Compare:
    """A table of measurements; `print` prints it, `str` gives it as a text."""

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self._style = Style()
        self.extend_results(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements. Those of the same task are joined."""
        results = list(results)
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(result)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Show no more digits than can be trusted."""
        self._style = self._style._replace(trim=True)

    def colorize(self, rowwise: bool = False) -> None:
        """Color the times by how they compare with the best of their column, or of their row."""
        self._style = self._style._replace(colorize=Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE)

    def highlight_warnings(self) -> None:
        """Mark the times that vary too much."""
        self._style = self._style._replace(highlight=True)

    def print(self) -> None:
        """Print the table."""
        print(str(self))

    def __str__(self) -> str:
        by_label: dict[str | None, list[Measurement]] = {}
        for result in Measurement.merge(self._results):
            by_label.setdefault(result.label, []).append(result)
        return "\n".join(Table(group, self._style).render() for group in by_label.values())


class Column:
    """How the times of one column are written, so that their points stand below each other."""

    def __init__(self, results: Sequence[Measurement], scale: float, style: Style) -> None:
        self._trim = style.trim
        self._scale = scale
        leading = [math.ceil(log10(result.median / scale)) for result in results]
        trusted = [max(result.significant_figures - digits, 0) for result, digits in zip(results, leading, strict=True)]
        self._decimals = min(trusted) if style.trim else 1
        self._width = max(leading) + self._decimals + bool(self._decimals)
        self._highlight = style.highlight and any(result.has_warnings for result in results)

    def text(self, result: Measurement | None) -> str:
        """The time of a cell; spaces of its width where there is none."""
        if result is None:
            return " " * len(self._text(1.0, ""))
        number = result.median / self._scale
        if self._trim:
            number = trim_sigfig(number, result.significant_figures)
        spread = f" (! {result.iqr / result.median * 100:.0f}%)" if self._highlight and result.has_warnings else ""
        return self._text(number, spread)

    def _text(self, number: float, spread: str) -> str:
        return f"{number:>{self._width}.{self._decimals}f}{spread:>{SPREAD_WIDTH if self._highlight else 0}}"


class Row:
    """The measurements of one row; None where a column has none."""

    def __init__(self, threads: int, environment: str, cells: Sequence[Measurement | None]) -> None:
        self.threads = threads
        self.environment = environment
        self.cells = cells
        self.name = next(cell for cell in cells if cell is not None).as_row_name


class Table:
    """The measurements of one label."""

    def __init__(self, results: Sequence[Measurement], style: Style) -> None:
        self._results = results
        self._style = style
        self._unit, scale = select_unit(min(result.median for result in results))
        cells = {(_row_of(result), result.description): result for result in results}
        # Rows keep their order, but for the number of threads and the environment.
        rows = sorted(ordered_unique(map(_row_of, results)), key=lambda row: row[:2])
        self._headings = ordered_unique(result.description for result in results)
        self._rows = [Row(row[0], row[1], [cells.get((row, heading)) for heading in self._headings]) for row in rows]
        self._columns = [
            Column([cell for row in self._rows if (cell := row.cells[j]) is not None], scale, style)
            for j in range(len(self._headings))
        ]

    def render(self) -> str:
        """The text of the table, with its title and its legend."""
        heading = ["", *(name or "" for name in self._headings)]
        texts = [
            [name, *(column.text(cell) for column, cell in zip(self._columns, row.cells, strict=True))]
            for name, row in zip(self._names(), self._rows, strict=True)
        ]
        widths = [max(map(len, column)) for column in zip(heading, *texts, strict=True)]
        first = GAP.join(text.center(width) for text, width in zip(heading, widths, strict=True))
        title = f" {self._results[0].label or ''} ".center(len(first) - 2, "-")
        lines = [f"[{title}]", first]
        for threads, group in groupby(zip(self._rows, texts, strict=True), key=lambda pair: pair[0].threads):
            pairs = list(group)
            lines.append(f"{threads} threads: ".ljust(len(first), "-"))
            lines += [self._line(row, text, widths, [other for other, _ in pairs]) for row, text in pairs]
        has_warnings = self._style.highlight and any(result.has_warnings for result in self._results)
        unit = f"Times are in {unit_to_english(self._unit)}s ({self._unit})."
        return "\n".join([*lines, "", unit, LEGEND if has_warnings else ""])

    def _names(self) -> list[str]:
        """What stands before each row; an environment only where it changes, and where there are several."""
        environments = {row.environment for row in self._rows}
        width = max(map(len, environments)) if len(environments) > 1 else 0
        names = []
        before: tuple[int, str] | None = None
        for row in self._rows:
            changes = width > 0 and (row.threads, row.environment) != before
            before = row.threads, row.environment
            names.append("  " + (f"({row.environment})" if changes else "").ljust(width + 4) + row.name)
        return names

    def _line(self, row: Row, texts: Sequence[str], widths: Sequence[int], group: Sequence[Row]) -> str:
        cells = [texts[0].ljust(widths[0])]
        for j, cell in enumerate(row.cells):
            text = texts[j + 1].center(widths[j + 1])
            if cell is not None and self._style.colorize is not Colorize.NONE:
                rowwise = self._style.colorize is Colorize.ROWWISE
                rivals = row.cells if rowwise else [other.cells[j] for other in group]
                text = color_segment(text, cell.median, min(rival.median for rival in rivals if rival is not None))
            cells.append(text)
        return GAP.join(cells)


def _row_of(result: Measurement) -> tuple[int, str, str]:
    return result.num_threads, result.env or NO_ENVIRONMENT, result.as_row_name


def color_segment(segment: str, value: float, best_value: float) -> str:
    """The text in the color that tells how far a time is from the best."""
    if value <= best_value * 1.01 or value <= best_value + SAME:
        return BEST + BOLD + segment + TERMINATE * 2
    if value <= best_value * 1.1:
        return GOOD + BOLD + segment + TERMINATE * 2
    if value >= best_value * 5:
        return VERY_BAD + BOLD + segment + TERMINATE * 2
    return BAD + segment + TERMINATE * 2 if value >= best_value * 2 else segment
