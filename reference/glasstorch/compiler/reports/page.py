"""What is the text of a report: one page that needs nothing else?

Mirrors: tlparse, which writes a folder of pages

All text of the program is escaped. A line of a stage has the numbers of its lines of the program in `data-from`;
`page.js` looks them up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from types import CodeType
from typing import Final

from glasstorch.compiler.reports.graphs import Row
from glasstorch.compiler.reports.places import Place, Places, is_of_the_library, of_where, source_of
from glasstorch.compiler.reports.recording import Part, Recording
from glasstorch.compiler.reports.stages import Stage, seconds_of, stages_of

OWN: Final = (  # the page asks nobody for anything
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
)
HELP: Final = (
    "Click a line of the program to see its lines in each stage, or a line of a stage to see where it comes from. "
    "With the keyboard: Tab to a box, arrows to move, Enter to choose, Escape to choose nothing."
)


class Page:
    """Writes the page of what was recorded."""

    def __init__(self, recording: Recording, title: str) -> None:
        self.recording, self.title = recording, title
        self.files: dict[str, int] = {}

    def text(self) -> str:
        """The whole page."""
        folder = Path(__file__).parent
        parts = "".join(self.part(i, part) for i, part in enumerate(self.recording.parts, 1))
        style, script = ((folder / f"page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js"))
        return (
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{OWN}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            f"<title>{escape(self.title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
            f"<header><h1>{escape(self.title)}</h1>\n<p>{escape(self.summary())}</p>\n{self.times()}</header>\n"
            f'<main>\n<section class="program" aria-labelledby="program"><h2 id="program">The program</h2>\n'
            f'<p class="help">{escape(HELP)}</p>\n<p id="said" role="status"></p>\n'
            f'<div class="sources">{"".join(self.sources())}</div></section>\n'
            f'<div class="parts">\n{self.ends()}{parts}</div>\n</main>\n<script>\n{script}</script>\n</body>\n</html>\n'
        )

    def summary(self) -> str:
        """How many graphs there are, with how many operators, and how many ended early."""
        parts = self.recording.parts
        graphs = [part.captured.module for part in parts if part.captured is not None]
        calls = sum(node.op.startswith("call") for module in graphs for node in module.graph.nodes)
        kernels = sum(len(found.compiled.kernels) for part in parts for found in part.loops)
        breaks = sum(part.broken is not None for part in parts)
        again = sum(bool(part.reasons) for part in parts)
        told = (
            (len(graphs), "graph"), (calls, "call"), (breaks, "graph break"), (again, "recompile"), (kernels, "kernel"),
        )  # fmt: skip
        return ", ".join(f"{count} {name}{'' if count == 1 else 's'}" for count, name in told)

    def times(self) -> str:
        """How long each part of the compilation took."""
        seconds = seconds_of(self.recording)
        if not seconds:
            return ""
        most = max(seconds.values())
        rows = "".join(
            f'<tr><th scope="row">{escape(name)}</th><td>{1000 * spent:,.1f} ms</td>'
            f'<td class="bar"><span style="width: {100 * spent / most:.1f}%"></span></td></tr>'
            for name, spent in seconds.items()
        )
        about = "Time of each stage; the backend's holds those of the stages below it"
        return f"<details><summary>Times</summary><table><caption>{about}</caption>{rows}</table></details>\n"

    # The program -------------------------------------------------------------------------------------------------

    def sources(self) -> Iterator[str]:
        """The functions that were executed symbolically; those of this library are folded."""
        codes = dict.fromkeys(step.code for part in self.recording.parts for step in part.steps)
        shown: set[tuple[str, int]] = set()
        for code in codes:
            if (code.co_filename, code.co_firstlineno) not in shown:
                shown.add((code.co_filename, code.co_firstlineno))
                yield self.source(code)

    def source(self, code: CodeType) -> str:
        """One function."""
        lines = source_of(code)
        rows = "".join(self.row(Row(f"{n:>4}  {text}", self.at(code, n)), "source") for n, text in lines)
        name = f"{code.co_qualname} in {Path(code.co_filename).name}"
        is_open = "" if is_of_the_library(code) else " open"
        body = f'<div class="code">{rows}</div>' if rows else "<p>Its source cannot be read.</p>"
        return f"<details{is_open}><summary>{escape(name)}</summary>{body}</details>\n"

    def at(self, code: CodeType, number: int) -> Places:
        return frozenset([Place(code.co_filename, number)])

    # Stages ------------------------------------------------------------------------------------------------------

    def ends(self) -> str:
        """Where graphs ended early, what ran as it is, and why functions were compiled again."""
        broken = [part.broken for part in self.recording.parts if part.broken is not None]
        ends = [(one, "the graph ends there") for one in broken]
        ends += [(one, "the function runs as it is") for one in self.recording.given_up]
        rows = [Row(f"{one.reason}; {then}", of_where(one.where)) for one, then in ends]
        for part in self.recording.parts:
            lines = part.reasons.strip().splitlines()
            rows += [Row(f"{part.code.co_name} again: {line.strip().removeprefix('- ')}") for line in lines[1:]]
        if not rows:
            return ""
        stage = Stage("Graph breaks and recompiles", "Why there is more than one graph.", rows)
        return f"<section>{self.stage('ends', stage)}</section>\n"

    def part(self, number: int, part: Part) -> str:
        """One graph with its stages."""
        stages = stages_of(part)
        name = part.code.co_qualname
        links = "".join(f'<li><a href="#g{number}s{i}">{escape(s.title)}</a></li>' for i, s in enumerate(stages))
        body = "".join(self.stage(f"g{number}s{i}", stage, part) for i, stage in enumerate(stages))
        return (
            f'<section aria-labelledby="g{number}"><h2 id="g{number}">Graph {number}: {escape(name)}</h2>\n'
            f'<nav aria-label="Stages of graph {number}"><ol>{links}</ol></nav>\n{body}</section>\n'
        )

    def stage(self, identity: str, stage: Stage, part: Part | None = None) -> str:
        """One stage, which can be folded."""
        spent = part.seconds.get(stage.timed) if part is not None else None
        took = f' <span class="took">{1000 * spent:,.1f} ms</span>' if spent else ""
        rows = "".join(self.row(row, "stage") for row in stage.rows)
        focus = "" if any(row.places for row in stage.rows) else ' tabindex="0"'
        return (
            f'<details open id="{identity}"><summary>{escape(stage.title)}{took} <span class="count"></span></summary>'
            f'<p class="about">{escape(stage.about)}</p><div class="code" role="group" '
            f'aria-label="{escape(stage.title)}"{focus}>{rows}</div></details>\n'
        )

    def row(self, row: Row, kind: str) -> str:
        """One line: a button if it comes from lines of the program."""
        text = escape(row.text.expandtabs(4)) or " "
        if not row.places:
            return f'<div class="row{" head" if row.is_head else ""}">{text}</div>'
        return (
            f'<button type="button" class="row {kind}" data-from="{self.numbers(row.places)}" aria-pressed="false">'
            f"{text}</button>"
        )

    def numbers(self, places: Iterable[Place]) -> str:
        """Places as the page knows them: the number of the file, and the line."""
        known = sorted(places)
        return " ".join(f"{self.files.setdefault(place.file, len(self.files))}:{place.line}" for place in known)
