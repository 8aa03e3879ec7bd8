"""How is a curve drawn as an SVG file?

A few lines instead of a plotting library: the same numbers always give the same file, and it can be read as
text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 36, 44

# Readable on a light and on a dark page.
STYLE = """
  .line-plot text { font: 13px system-ui, sans-serif; fill: #667085 }
  .line-plot .title { font-weight: 600 }
  .line-plot .grid { stroke: #98a2b3; stroke-opacity: 0.35 }
  .line-plot .raw { fill: none; stroke: #ee4c2c; stroke-opacity: 0.3 }
  .line-plot .smooth { fill: none; stroke: #ee4c2c; stroke-width: 2 }
"""


def write_line_plot(path: Path, values: Sequence[float], title: str, x_label: str, y_label: str) -> None:
    """Draw values over their places, and a smoothed copy on top. Values that are not finite are left out."""
    last = max(len(values) - 1, 1)
    largest = max((value for value in values if math.isfinite(value)), default=0.0)
    y_step = _round_step(largest / 5)
    highest = y_step * max(math.ceil(largest / y_step), 1)
    x_step = max(1, round(_round_step(last / 7)))

    def x(place: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * place / last

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * value / highest

    parts = [f'<text class="title" x="{LEFT}" y="22">{escape(title)}</text>']
    for tick in range(round(highest / y_step) + 1):
        height = f"{y(tick * y_step):.1f}"
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height}" y2="{height}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{height}" dy="4" text-anchor="end">{tick * y_step:.4g}</text>')
    parts += [
        f'<text x="{x(place):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{place}</text>'
        for place in range(0, last + 1, x_step)
    ]
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 8}" text-anchor="end">{escape(x_label)}</text>')
    parts.append(f'<text x="{WIDTH - RIGHT}" y="22" text-anchor="end">{escape(y_label)}</text>')
    for name, curve in (("raw", values), ("smooth", _smoothed(values))):
        points = " ".join(f"{x(i):.1f},{y(value):.1f}" for i, value in enumerate(curve) if math.isfinite(value))
        parts.append(f'<polyline class="{name}" points="{points}"/>')
    body = "\n  ".join(parts)
    path.write_text(
        f'<svg class="line-plot" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(title)}">\n  <style>{STYLE}  </style>\n  {body}\n</svg>\n',
        encoding="utf-8",
    )


def _round_step(at_least: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(at_least)) if at_least > 0 else 1.0
    return next(step * power for step in (1, 2, 5, 10) if step * power >= at_least)


def _smoothed(values: Sequence[float], keep: float = 0.9) -> list[float]:
    """A running mean that forgets; corrected for its start, as Adam's are."""
    mean, weight, smoothed = 0.0, 0.0, []
    for value in values:
        if not math.isfinite(value):
            smoothed.append(value)
            continue
        mean = keep * mean + (1 - keep) * value
        weight = keep * weight + (1 - keep)
        smoothed.append(mean / weight)
    return smoothed
