"""Does what a section names beside PyTorch's source exist in the library, and does it run in the section?

A row of "In PyTorch's source" says *same* or *simplified* and names our counterpart, its file and its name. Here the
cells of a section run with a profiler that notes each function of the library that is called; `ran_in_sections.json`
keeps, for each section, a digest of its cells and the places that ran:

    python -m tests.truth.ran_in_sections            the sections whose cells or places have changed
    python -m tests.truth.ran_in_sections SECTION... these, such as 00-start/one-addition
    python -m tests.truth.ran_in_sections --all      all of them, some seven minutes
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import io
import json
import os
import subprocess
import sys
import threading
from functools import lru_cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final, NamedTuple

from workbook.book.contents import sections
from workbook.book.notebook_text import read_text
from workbook.book.source_links import OURS, rows

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).parent / "ran_in_sections.json"
LIBRARY = ROOT / "reference" / "glasstorch"
GENERATOR: Final = "operators/gen/"  # runs when the library is written, and in no section


class Named(NamedTuple):
    """A place of the library that a section names: its file below the library's folder, and a symbol in it."""

    file: str
    symbol: str


def named(section: str) -> list[Named]:
    """The places that the rows of a section name, in their order."""
    text = text_of(section).read_text(encoding="utf-8")
    found = [place for row in rows(text) for place in OURS.finditer(row["here"])]
    return list(dict.fromkeys(Named(place["file"], place["symbol"]) for place in found))


def text_of(section: str) -> Path:
    """The file of a section, such as `00-start/one-addition`."""
    return ROOT / "chapters" / f"{section}.md"


def digest(section: str) -> str:
    """Of the section's code: a change of its prose changes nothing."""
    code = "\n".join(cell.source for cell in read_text(text_of(section)).cells if cell.cell_type == "code")
    return hashlib.sha256(code.encode()).hexdigest()[:16]


@lru_cache(maxsize=256)
def definitions(file: str) -> dict[str, str]:
    """The kind of each definition in a file by its qualified name: function, class with methods, or value."""
    path = LIBRARY / file
    if not path.is_file():
        return {}
    found: dict[str, str] = {}
    _collect(ast.parse(path.read_text(encoding="utf-8")).body, "", found)
    return found


def _collect(body: list[ast.stmt], above: str, found: dict[str, str]) -> None:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[above + node.name] = "function"
        elif isinstance(node, ast.ClassDef):
            methods = any(isinstance(each, ast.FunctionDef) for each in node.body)
            found[above + node.name] = "class" if methods else "value"
            _collect(node.body, f"{above}{node.name}.", found)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name):
                    found[above + target.id] = "value"
        elif isinstance(node, ast.If | ast.Try | ast.With):
            _collect(node.body, above, found)


def runs(place: Named) -> bool:
    """Whether a place is a thing that can run in a section: no constant, and not of the generator."""
    return not place.file.startswith(GENERATOR) and definitions(place.file).get(place.symbol) in ("function", "class")


def wanted(section: str) -> list[str]:
    """The places of a section that have to run in it, written as in its rows."""
    return [f"{place.file} {place.symbol}" for place in named(section) if runs(place)]


def called_in(section: str) -> set[tuple[str, str]]:
    """The file and the qualified name of each function of the library that the section's cells call."""
    from IPython.core.interactiveshell import InteractiveShell

    seen: set[CodeType] = set()

    def note(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call":
            seen.add(frame.f_code)

    os.chdir(text_of(section).parent)
    shell = InteractiveShell.instance()
    shell.colors = "NoColor"
    threading.setprofile(note)
    sys.setprofile(note)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for cell in read_text(text_of(section)).cells:
            if cell.cell_type == "code":
                shell.run_cell(cell.source)
                sys.setprofile(note)  # a cell may have set one of its own
    sys.setprofile(None)
    prefix = f"{LIBRARY}{os.sep}"
    return {
        (code.co_filename.removeprefix(prefix).replace(os.sep, "/"), code.co_qualname)
        for code in seen
        if code.co_filename.startswith(prefix)
    }


def ran(section: str) -> list[str]:
    """Of the places that have to run in a section those that do."""
    called = called_in(section)
    found = []
    for place in wanted(section):
        wanted_file, _, symbol = place.partition(" ")
        if any(file == wanted_file and f"{name}.".startswith(f"{symbol}.") for file, name in called):
            found.append(place)
    return found


def recorded() -> dict[str, Any]:
    """What the file holds: for each section its digest and the places that ran."""
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.is_file() else {}
    return found


def stale(section: str, kept: dict[str, Any]) -> bool:
    """Whether the section's cells, or the places that it names, are others than when it was recorded."""
    entry = kept.get(section)
    return entry is None or entry["cells"] != digest(section) or entry["ran"] != wanted(section)


def record(names: list[str]) -> None:
    """Run sections, each in a process of its own, and write down what ran."""
    kept, order = recorded(), [section.path.removesuffix(".md") for section in sections(ROOT)]
    for name in names:
        command = [sys.executable, "-m", "tests.truth.ran_in_sections", "--one", name]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        found = json.loads(done.stdout.splitlines()[-1])
        kept[name] = {"cells": digest(name), "ran": found}
        missing = [place for place in wanted(name) if place not in found]
        print(f"{name}: {len(found)} places" + "".join(f"\n  does not run: {place}" for place in missing), flush=True)
        kept = {one: kept[one] for one in order if one in kept}
        FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def main(arguments: list[str]) -> None:
    """See the docstring of the module."""
    if arguments[:1] == ["--one"]:
        print(json.dumps(ran(arguments[1])))
        return
    all_sections = [section.path.removesuffix(".md") for section in sections(ROOT)]
    kept = recorded()
    chosen = arguments or [name for name in all_sections if stale(name, kept)]
    record(all_sections if arguments == ["--all"] else chosen)


if __name__ == "__main__":
    main(sys.argv[1:])
