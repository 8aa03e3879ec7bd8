"""How is a line chart of one or two series of numbers drawn?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from workbook.book.figures.kit import Figure, text_width

WIDTH, HEIGHT = 560, 260
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 30, 34
COLOURS = ("glass", "torch")


def draw(series: Mapping[str, Sequence[float]], x_label: str, y_label: str) -> Figure:
    """Lines over a common scale that begins at 0; the second line is dashed, so that the first shows through."""
    if not 0 < len(series) <= len(COLOURS) or any(len(values) < 2 for values in series.values()):
        raise ValueError(f"a figure holds 1 to {len(COLOURS)} series of at least 2 numbers each")
    largest = max(max(values) for values in series.values())
    last = max(len(values) for values in series.values()) - 1
    step = round_step(largest / 4)
    highest = step * math.ceil(largest / step)
    told = "; ".join(
        f"{name}: {len(values)} values from {values[0]:.3g} to {values[-1]:.3g}" for name, values in series.items()
    )
    figure = Figure("curves", f"{y_label} over {x_label}", f"{told}.", WIDTH, HEIGHT)

    def x(place: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * place / last

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / highest

    for tick in range(round(highest / step) + 1):
        level = y(tick * step)
        figure.line([(LEFT, level), (WIDTH - RIGHT, level)], colour="hair")
        figure.text(LEFT - 8, level + 4, f"{tick * step:.6g}", size=12, colour="soft", anchor="end")
    for place in range(0, last + 1, max(1, round(round_step(last / 6)))):
        figure.text(x(place), HEIGHT - BOTTOM + 18, str(place), size=12, colour="soft", anchor="middle")
    figure.text(WIDTH - RIGHT, HEIGHT - 2, x_label, size=12, colour="soft", anchor="end")
    figure.text(LEFT, 14, y_label, size=12.5, colour="soft")
    for colour, values in zip(COLOURS, series.values(), strict=False):
        figure.line([(x(i), y(value)) for i, value in enumerate(values)], colour=colour, dashed=colour == "torch")
    legend = float(WIDTH - RIGHT)
    for colour, name in reversed(list(zip(COLOURS, series, strict=False))):
        figure.text(legend, 14, name, size=12.5, colour=colour, anchor="end", bold=True)
        legend -= text_width(name, 12.5) + 16
    return figure


def round_step(raw: float) -> float:
    """The smallest of 1, 2, 5, 10, 20 ... (or 0.5, 0.2 ...) that is not smaller.

    >>> round_step(0.3), round_step(18)
    (0.5, 20.0)
    """
    power: float = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * (1 - 1e-9))
