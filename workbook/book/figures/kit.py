"""How is a figure drawn by code, with the same bytes each time?

A figure is an SVG with a title and a description that can be read aloud. It takes its colours from variables:
it follows the reader's system where it is shown as an image, and the page's own choice where it is part of
the page (the site, a notebook that takes SVG in). Its ground is drawn with it: an image of dark colours can
be read on a light page. Text is measured by a table of widths, since no font may be asked: a text
that does not fit its box is an error when the figure is drawn, not a surprise on a reader's screen.
"""

from __future__ import annotations

import html
import operator
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import reduce

SANS = "'Source Sans 3','Segoe UI',system-ui,-apple-system,'Helvetica Neue',Arial,sans-serif"
MONO = "'Source Code Pro',ui-monospace,'Cascadia Mono','SF Mono',Menlo,Consolas,'DejaVu Sans Mono',monospace"

# The same colours as in chapters/assets/extra.css; a test compares them.
LIGHT = {
    "paper": "#fcfdfc",
    "pane": "#f2f6f5",
    "ink": "#1c2423",
    "soft": "#55625f",
    "hair": "#d9e1df",
    "glass": "#17695f",
    "glass-tint": "#e9f3f1",
    "torch": "#a5441a",
    "torch-tint": "#fbf1ea",
}
DARK = {
    "paper": "#121819",
    "pane": "#1a2223",
    "ink": "#dde4e2",
    "soft": "#9aa8a4",
    "hair": "#2c3737",
    "glass": "#70c7ba",
    "glass-tint": "#17292a",
    "torch": "#eb9d70",
    "torch-tint": "#2c2019",
}

# Widths of characters in units of the text's size: of a wide sans, so that any font the reader has takes
# less.
MONO_WIDTH = 0.61
NARROW, WIDE = frozenset("iljtfrI.,:;'|!()[] "), frozenset("mwMW@%")
NARROW_WIDTH, PLAIN_WIDTH, CAPITAL_WIDTH, WIDE_WIDTH = 0.34, 0.57, 0.68, 0.92

LINE_COLOURS = ("soft", "glass", "torch", "ink", "hair")
# The attribute by which a page says which colours it shows, and its values for light and dark: the site,
# JupyterLab.
PAGE_CHOICES = (("data-md-color-scheme", "default", "slate"), ("data-jp-theme-light", "true", "false"))
HEAD = "#HEAD-"  # of an arrow, in a figure's parts: they are made before its name is settled
MARGIN = 6  # of paper around a figure, so that it can be read wherever its image stands
SMALLEST = 0.82  # on a narrow screen a figure shrinks so far; then it scrolls in its place


def text_width(text: str, size: float, *, mono: bool = False) -> float:
    """An upper estimate of a text's width.

    >>> text_width("add", 10, mono=True)
    18.3
    """
    if mono:
        return round(len(text) * size * MONO_WIDTH, 2)
    widths = (
        NARROW_WIDTH
        if character in NARROW
        else WIDE_WIDTH
        if character in WIDE
        else CAPITAL_WIDTH
        if character.isupper()
        else PLAIN_WIDTH
        for character in text
    )
    return round(total(widths) * size, 2)


def total(numbers: Iterable[float]) -> float:
    """The sum from left to right, which is the same in every Python: from 3.12 on, `sum` rounds only at the end.

    >>> total([0.1] * 10)
    0.9999999999999999
    """
    return reduce(operator.add, numbers, 0)


def number(value: float) -> str:
    """A coordinate with at most two decimals and no trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


@dataclass(slots=True)
class Figure:
    """A drawing surface. Coordinates are pixels from the upper left; each method adds one thing.

    The name begins the ids in it: two figures of a page need two names.
    """

    name: str
    title: str
    description: str
    width: float
    height: float
    parts: list[str] = field(default_factory=list)
    linked: bool = False  # a picture is one thing to be read aloud, a figure with links is several

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        kind: str = "plain",
        dashed: bool = False,
        radius: float = 4,
    ) -> None:
        """A rectangle. Kinds: plain, pane, glass, torch."""
        classes = f"g-box g-{kind}" + (" g-dashed" if dashed else "")
        self.parts.append(
            f'<rect class="{classes}" x="{number(x)}" y="{number(y)}" width="{number(width)}" '
            f'height="{number(height)}" rx="{number(radius)}"/>'
        )

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        size: float = 13,
        colour: str = "ink",
        anchor: str = "start",
        mono: bool = False,
        bold: bool = False,
        halo: bool = False,
        room: float | None = None,
    ) -> None:
        """A line of text with its baseline at `y`; `room` is the width that it must fit into.

        With `halo`, paper around the letters covers what was drawn below them.
        """
        needed = text_width(text, size, mono=mono)
        if room is not None and needed > room:
            raise ValueError(
                f"figure {self.name}: {text!r} needs about {needed:.0f} pixels at size {size:g}, "
                f"its place has {room:.0f}; shorten it or give it more room"
            )
        classes = f"g-text g-{colour}-text" + (" g-mono" if mono else "") + (" g-bold" if bold else "")
        classes += " g-halo" if halo else ""
        ends = "" if anchor == "start" else f' text-anchor="{anchor}"'
        place = f'x="{number(x)}" y="{number(y)}" font-size="{number(size)}"{ends}'
        self.parts.append(f'<text class="{classes}" {place}>{html.escape(text, quote=False)}</text>')

    def words(
        self, x: float, y: float, words: Sequence[tuple[str, str]], *, size: float = 13, room: float | None = None
    ) -> None:
        """Words of code in one line, each in a colour of its own."""
        line = "  ".join(word for word, _ in words)
        self.text(x, y, line, size=size, mono=True, bold=True, room=room)
        spans = "  ".join(
            f'<tspan class="g-{colour}-text">{html.escape(word, quote=False)}</tspan>' for word, colour in words
        )
        self.parts[-1] = self.parts[-1].replace(html.escape(line, quote=False), spans)

    def label(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        text: str,
        *,
        kind: str = "plain",
        size: float = 13,
        mono: bool = False,
    ) -> None:
        """A box with a line of text in its middle."""
        self.box(x, y, width, height, kind=kind)
        colour = kind if kind in ("glass", "torch") else "ink"
        self.text(
            x + width / 2,
            y + height / 2 + size * 0.35,
            text,
            size=size,
            colour=colour,
            anchor="middle",
            mono=mono,
            room=width - 8,
        )

    def cells(self, x: float, y: float, values: Sequence[object], *, size: float = 32, kind: str = "pane") -> None:
        """A row of cells, as memory is drawn: one square for each value."""
        for index, value in enumerate(values):
            self.label(x + index * size, y, size, size, str(value), kind=kind, size=size * 0.4, mono=True)

    def pixels(self, x: float, y: float, picture: Sequence[Sequence[float]], *, size: float, levels: int) -> None:
        """A small image in shades of ink, from 0 (paper) to 1 (ink), in this many levels; each level is one path."""
        squares: dict[int, list[str]] = {}
        for row, values in enumerate(picture):
            for column, value in enumerate(values):
                if level := round(value * levels):
                    place = f"M{number(x + column * size)} {number(y + row * size)}"
                    squares.setdefault(level, []).append(f"{place}h{number(size)}v{number(size)}h-{number(size)}z")
        for level, parts in sorted(squares.items()):
            self.parts.append(f'<path class="g-pixels" fill-opacity="{number(level / levels)}" d="{"".join(parts)}"/>')

    def line(self, points: Sequence[tuple[float, float]], *, colour: str = "soft", dashed: bool = False) -> None:
        """A line through the points."""
        self._path(points, colour, dashed, "")

    def arrow(self, points: Sequence[tuple[float, float]], *, colour: str = "soft", dashed: bool = False) -> None:
        """A line through the points with a head at its end."""
        self._path(points, colour, dashed, f' marker-end="url({HEAD}{colour})"')

    @contextmanager
    def stands_for(self, place: str) -> Iterator[None]:
        """Everything drawn inside stands for a place of the library (`workbook/book/places.py`), or for none.

        On the site it is a link to that place; elsewhere it looks as if it were not marked.
        """
        begin, end = ([f'<g data-place="{html.escape(place)}">'], ["</g>"]) if place else ([], [])
        self.parts += begin
        yield
        self.parts += end

    @contextmanager
    def link(self, address: str, name: str, hit: tuple[float, float, float, float], place: str = "") -> Iterator[None]:
        """Everything drawn inside links to `address`, which is relative to the figure's own file.

        `name` is read aloud in place of the text; `hit` (x, y, width, height) can be pointed at. On the site it opens
        the `place` of the library that it stands for.
        """
        self.linked = True
        x, y, width, height = map(number, hit)
        mark = f' data-place="{html.escape(place)}"' if place else ""
        self.parts += [
            f'<a href="{html.escape(address)}" aria-label="{html.escape(name)}"{mark}>',
            f'<rect class="g-hit" x="{x}" y="{y}" width="{width}" height="{height}" rx="3"/>',
        ]
        yield
        self.parts.append("</a>")

    def _path(self, points: Sequence[tuple[float, float]], colour: str, dashed: bool, ending: str) -> None:
        way = " ".join(f"{'L' if index else 'M'}{number(x)} {number(y)}" for index, (x, y) in enumerate(points))
        classes = f"g-line g-{colour}-line" + (" g-dashed" if dashed else "")
        self.parts.append(f'<path class="{classes}" d="{way}"{ending}/>')

    def svg(self) -> str:
        """The figure as the text of an SVG file."""
        heads = "".join(
            f'<marker id="{self.name}-{colour}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            f'markerHeight="7" orient="auto-start-reverse">'
            f'<path class="g-{colour}-head" d="M0 0.6 7.4 4 0 7.4Z"/></marker>'
            for colour in LINE_COLOURS
        )
        width, height = number(self.width + 2 * MARGIN), number(self.height + 2 * MARGIN)
        attributes = (
            f'xmlns="http://www.w3.org/2000/svg" class="glass-figure" role="{"group" if self.linked else "img"}" '
            f'aria-labelledby="{self.name}-title {self.name}-desc" viewBox="-{MARGIN} -{MARGIN} {width} {height}" '
            f'width="{width}" height="{height}" style="min-width:{number(self.width * SMALLEST)}px"'
        )
        lines = [
            f"<svg {attributes}>",
            f'<title id="{self.name}-title">{html.escape(self.title, quote=False)}</title>',
            f'<desc id="{self.name}-desc">{html.escape(self.description, quote=False)}</desc>',
            f"<style>{STYLE}{LINK_STYLE if self.linked else ''}</style>",
            f"<defs>{heads}</defs>",
            *self.parts,
            "</svg>",
        ]
        return "\n".join(lines).replace(f"url({HEAD}", f"url(#{self.name}-") + "\n"


def style_rules() -> str:
    """The style of every figure. The page's colour scheme takes precedence over the system's."""
    light = ";".join(f"--g-{name}:{value}" for name, value in LIGHT.items())
    dark = ";".join(f"--g-{name}:{value}" for name, value in DARK.items())
    chosen_light = ",".join(f'[{choice}="{value}"] .glass-figure' for choice, value, _ in PAGE_CHOICES)
    chosen_dark = ",".join(f'[{choice}="{value}"] .glass-figure' for choice, _, value in PAGE_CHOICES)
    rules = [
        f".glass-figure{{{light}}}",
        f"@media (prefers-color-scheme:dark){{.glass-figure{{{dark}}}}}",
        f"{chosen_light}{{{light}}}",
        f"{chosen_dark}{{{dark}}}",
        ".glass-figure{background:var(--g-paper)}",
        f".g-text{{font-family:{SANS};fill:var(--g-ink)}}",
        f".g-mono{{font-family:{MONO}}}",
        ".g-bold{font-weight:600}",
        ".g-halo{paint-order:stroke;stroke:var(--g-paper);stroke-width:5;stroke-linejoin:round}",
        ".g-soft-text{fill:var(--g-soft)}.g-glass-text{fill:var(--g-glass)}.g-torch-text{fill:var(--g-torch)}",
        ".g-box{fill:none;stroke:var(--g-hair);stroke-width:1}",
        ".g-pane{fill:var(--g-pane)}",
        ".g-glass{fill:var(--g-glass-tint);stroke:var(--g-glass)}",
        ".g-torch{fill:var(--g-torch-tint);stroke:var(--g-torch)}",
        ".g-pixels{fill:var(--g-ink)}",
        ".g-line{fill:none;stroke-width:1.3}",
        ".g-dashed{stroke-dasharray:4 3}",
    ]
    rules += [f".g-{c}-line{{stroke:var(--g-{c})}}.g-{c}-head{{fill:var(--g-{c})}}" for c in LINE_COLOURS]
    return "".join(rules)


STYLE = style_rules()
LINK_STYLE = (  # only where there are links: the figures of executed cells have none
    ".g-hit{fill:none;stroke:none;stroke-width:2;pointer-events:all}"
    ".glass-figure a{cursor:pointer;outline:none;text-decoration:none}"  # a line below a_name would hide its underscore
    ".glass-figure a:hover .g-text{text-decoration:underline}"
    ".glass-figure a:focus-visible .g-hit{stroke:var(--g-ink)}"
    ".g-box.g-dashed{stroke:var(--g-soft)}"  # what is no link yet has to be seen too
)
