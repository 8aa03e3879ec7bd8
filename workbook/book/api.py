"""Which pages describe the library's own modules, and in which order?

One page a room of the house; its modules in the reading order that the room's `__init__` gives. The text
comes from the docstrings: mkdocstrings reads the source without running it, and `HouseStyle` shows it how our
docstrings are written.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import griffe

from workbook.book.errors import BookError
from workbook.book.house import FACADE, LAYERS, PACKAGE, Layer, stands
from workbook.book.project import shown
from workbook.book.render import box
from workbook.book.source_map import address_of

FOLDER = "reference/api"
READING_ORDER = re.compile(r"Reading order:(.*?)(?:\n\n|\Z)", re.DOTALL)
LABELS = ("Mirrors:", "Differs:")
MARKUP = re.compile(r"[\[\]<_]|\*(?=\w)")
CODE = "    "  # begins the lines of a block of code
GENERATED = "generated"  # written by a program: described by what it is generated from


def room_pages(root: Path) -> dict[str, str]:
    """The Markdown of the page of each room that has modules, by the page's path in the book."""
    pages = {}
    for layer in LAYERS:
        for room in layer.built(root):
            modules = modules_in(room, root)
            pages[page_of(room)] = room_page(layer, room, modules, root)
    return pages


def page_of(room: str) -> str:
    """Where a room's page stands in the book."""
    return f"{FOLDER}/{room.removesuffix('.py').strip('_')}.md"


def modules_in(room: str, root: Path) -> list[Path]:
    """The modules of a room; the facade has all files beside it that are no rooms of their own."""
    package = root / PACKAGE
    if room != FACADE:
        return list(modules_of(package / room))
    rooms = {name for layer in LAYERS for name in layer.rooms}
    return [package / FACADE, *(path for path in sorted(package.glob("*.py")) if path.name not in rooms)]


def modules_of(path: Path) -> Iterator[Path]:
    """The modules at a path, in the reading order that the `__init__` of each folder gives, then by name."""
    if path.is_file():
        yield path
        return
    first = path / "__init__.py"
    order = reading_order(first)
    if first.is_file():
        yield first
    inside = [entry for entry in path.iterdir() if entry != first and entry.name != GENERATED]
    entries = [entry for entry in inside if stands(entry)]

    def rank(entry: Path) -> tuple[int, str]:
        return (order.index(entry.stem) if entry.stem in order else len(order), entry.stem)

    for entry in sorted(entries, key=rank):
        yield from modules_of(entry)


def reading_order(init: Path) -> list[str]:
    """The names that the docstring of a folder's `__init__` lists after "Reading order:"."""
    found = READING_ORDER.search(docstring_of(init)) if init.is_file() else None
    return [name.removesuffix(".py").strip("/") for name in re.findall(r"`([\w/.]+)`", found[1])] if found else []


def dotted(module: Path, root: Path) -> str:
    """The name by which a module is imported."""
    parts = module.relative_to((root / PACKAGE).parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_page(layer: Layer, room: str, modules: list[Path], root: Path) -> str:
    """The page of one room."""
    title = f"glasstorch.{room.removesuffix('.py')}" if room != FACADE else "glasstorch"
    chapters = f"chapter{'s' * (len(layer.chapters) > 1)} {', '.join(layer.chapters)}"
    there = ", ".join(f"[`{path}`]({address_of(path)})" for path in layer.there)
    place = f"Layer {layer.number} of the house; in PyTorch {there}; told in {chapters}."
    parts = [
        f"---\ndescription: The reference of {title}, from its source.\nsearch:\n  boost: 0.5\n---",
        f"# {title}",
        f"*{layer.question.replace('`', '')}* {place}",
    ]
    for module in modules:
        alone = "\n    options:\n      members: false" if module.name == FACADE else ""
        parts.append(f"::: {dotted(module, root)}{alone}")
    return "\n\n".join(parts) + "\n"


def api_index(root: Path) -> str:
    """The list of all modules, layer by layer, each with the question that it answers."""
    parts = []
    for layer in LAYERS:
        built = layer.built(root)
        if not built:
            continue
        parts.append(f"## {layer.number}. {layer.question}")
        for room in built:
            page = Path(page_of(room)).name
            modules = [m for m in modules_in(room, root) if m.name != FACADE or m.parent.name in (room, PACKAGE.name)]
            lines = [f"[`{dotted(m, root)}`]({page}#{dotted(m, root)})\n:   {question_of(m)}\n" for m in modules]
            parts.append(box("modules", "\n".join(lines)))
    return "\n\n".join(parts)


def question_of(module: Path) -> str:
    """The first line of a module's docstring."""
    return docstring_of(module).partition("\n")[0]


def docstring_of(module: Path) -> str:
    """A module's docstring, read without running it."""
    try:
        return ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    except SyntaxError as error:
        raise BookError(
            f"{shown(module)}:{error.lineno}: {error.msg}\n  mend it: the reference is made from it"
        ) from error


class HouseStyle(griffe.Extension):
    """Our docstrings as Markdown: doctests as code, `Mirrors:` and `Differs:` as a small box."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Rewrite the docstring of a module, class, function or attribute that was just read."""
        if obj.docstring is not None:
            obj.docstring.value = docstring_markdown(obj.docstring.value)
        elif obj.name.startswith("__") and obj.name.endswith("__"):
            obj.public = False  # what Python's own protocol is needs no telling

    def on_package(self, *, pkg: griffe.Module, **_: object) -> None:
        """The package itself, of which griffe does not tell as of an object."""
        self.on_object(obj=pkg)


def docstring_markdown(text: str) -> str:
    """A docstring with its doctests fenced and its header lines as a box."""
    lines = text.splitlines()
    told: list[str] = []
    facts: list[tuple[str, str]] = []
    while lines:
        line = lines.pop(0)
        if label := next((label for label in LABELS if line.startswith(label)), None):
            said = [line.removeprefix(label).strip()]
            while lines and lines[0].startswith(" ") and lines[0].strip():
                said.append(lines.pop(0).strip())
            facts.append((label.rstrip(":"), " ".join(said)))
        elif line.startswith(">>>"):
            block = [line]
            while lines and lines[0].strip():
                block.append(lines.pop(0))
            told += ["```pycon", *block, "```"]
        else:
            told.append(line if line.startswith(CODE) else plain(line))
    if facts:
        rows = "\n".join(f"{label}\n:   {plain(said)}\n" for label, said in facts)
        told += ["", '<div class="mirrors" markdown="1">', "", rows, "</div>"]
    return "\n".join(told)


def plain(line: str) -> str:
    """A line of prose in which only backticks mean something: `a[i][j]` is no link, `vector<Edge>` no element."""
    pieces = line.split("`")
    pieces[::2] = [MARKUP.sub(lambda found: f"&#{ord(found[0])};", piece) for piece in pieces[::2]]
    return "`".join(pieces)
