"""Which pages describe the library's own modules, and in which order?

One page a folder; its modules in the reading order that the folder's `__init__` gives. A folder with many modules has a
page for each, and its own page lists them. The text comes from the docstrings: mkdocstrings reads the source without
running it, and `HouseStyle` shows it how our docstrings are written.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import griffe

from workbook.book.contents import Section, chapter_title, first_sections
from workbook.book.errors import BookError
from workbook.book.house import FACADE, LAYERS, PACKAGE, Layer, stands
from workbook.book.project import shown
from workbook.book.render import box
from workbook.book.source_map import address_of
from workbook.book.withheld import all_asked, note_on

FOLDER = "reference/api"
TOGETHER = 12  # the most modules on one page: a longer page opens slowly and is hard to search
PASSES_ON = (FACADE, "_facade.py", "_C.py")  # their names are described where they are defined
READING_ORDER = re.compile(r"Reading order:(.*?)(?:\n\n|\Z)", re.DOTALL)
LABELS = ("Mirrors:", "Differs:")
MARKUP = re.compile(r"[\[\]<_]|\*(?=\w)")
NOTE = re.compile(r"# Note \[(.+)\]")  # as they are written; in Markdown it would be a heading
CODE = "    "  # begins the lines of a block of code
SIGNATURE = re.compile(r"[a-z][\w.]*\(.*\) -> \S")  # begins the ways to call an operator
TO_EXERCISES = "../../exercises/"  # from these pages to those of the exercises
GENERATED = "generated"  # written by a program: described by what it is generated from


def room_pages(root: Path) -> dict[str, str]:
    """The Markdown of each page by its path in the book: a page for each existing room and for each folder in one, and
    for each module of a folder that has many."""
    told = first_sections(root)
    pages = {}
    for layer in LAYERS:
        for room in layer.built(root):
            folders = modules_by_folder(room, root)
            for folder, modules in folders.items():
                others = [other for other in folders if other != folder]
                pages[page_of(folder)] = room_page(layer, folder, others, modules, told, root)
                for module in alone(modules):
                    page = page_in(folder, module, modules)
                    assert page not in pages, f"two modules have the page {page}"
                    pages[page] = module_page(folder, module, root)
    return pages


def alone(modules: list[Path]) -> list[Path]:
    """The modules of a folder that have pages of their own: all but its `__init__`, where there are many."""
    return [module for module in modules if module.name != FACADE] if len(modules) > TOGETHER else []


def nav_entries(root: Path) -> list[dict[str, Any]]:
    """The entries of these pages in the navigation, whose column is narrow: `glasstorch.` is left out."""
    entries: list[dict[str, Any]] = []
    for layer in LAYERS:
        for room in layer.built(root):
            for folder, modules in modules_by_folder(room, root).items():
                name = title_of(folder).removeprefix("glasstorch.")
                pages = [{module.stem: page_in(folder, module, modules)} for module in alone(modules)]
                entries.append({name: [{"All modules": page_of(folder)}, *pages] if pages else page_of(folder)})
    return entries


def page_of(place: str) -> str:
    """The path in the book of the page of a room, or of a folder in one.

    >>> page_of("kernels/cuda"), page_of("_tensor.py")
    ('reference/api/kernels-cuda.md', 'reference/api/tensor.md')
    """
    return f"{FOLDER}/{place.removesuffix('.py').strip('_').replace('/', '-')}.md"


def page_in(folder: str, module: Path, modules: list[Path]) -> str:
    """The path in the book of the page that describes a module; `modules` are all of its folder."""
    page = page_of(folder)
    return f"{page.removesuffix('.md')}-{module.stem.strip('_')}.md" if module in alone(modules) else page


def page_of_module(module: Path, root: Path) -> str:
    """The same, where only the module is known."""
    place = module.relative_to(root / PACKAGE)
    rooms = {name for layer in LAYERS for name in layer.rooms}
    room = place.parts[0] if place.parts[0] in rooms else FACADE
    folder, modules = next(found for found in as_it_stood(room, root).items() if module in found[1])
    return page_in(folder, module, modules)


@lru_cache(maxsize=64)
def as_it_stood(room: str, root: Path) -> dict[str, list[Path]]:
    """The modules of a room when it was first asked for: thousands of links ask, and no page adds a module."""
    return modules_by_folder(room, root)


def modules_by_folder(room: str, root: Path) -> dict[str, list[Path]]:
    """The modules of a room in reading order, by their folder."""
    folders: dict[str, list[Path]] = {}
    for module in modules_in(room, root):
        inside = (root / PACKAGE / room).is_dir()
        folder = module.parent.relative_to(root / PACKAGE).as_posix() if inside else room
        folders.setdefault(folder, []).append(module)
    return folders


def modules_in(room: str, root: Path) -> list[Path]:
    """The modules of a room; those of the facade are all files in its folder that are not rooms of their own."""
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
    """The dotted name under which a module is imported."""
    parts = module.relative_to((root / PACKAGE).parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_page(
    layer: Layer, folder: str, others: list[str], modules: list[Path], told: dict[str, Section], root: Path
) -> str:
    """The page of one room, or of one folder in it; `others` are the room's folders that have pages of their own."""
    title = title_of(folder)
    chapters = [f"[{chapter_title(number)}](../../{told[number].path})" for number in layer.chapters if number in told]
    there = ", ".join(f"[`{path}`]({address_of(path)})" for path in layer.there)
    where = f"; told in {' and '.join(chapters)}" if chapters else ""
    links = ", ".join(f"[`{title_of(other)}`]({Path(page_of(other)).name})" for other in others)
    parts = [
        f"---\ndescription: The reference of {title}, from its source.\n---",
        f"# {title}",
        f"*{layer.question.replace('`', '')}* Layer {layer.number} of the house; in PyTorch {there}{where}.",
        f"On pages of their own: {links}." if links else "",
    ]
    apart = alone(modules)
    parts += [described(module, root) for module in modules if module not in apart]
    if apart:
        lines = [listed(module, page_in(folder, module, modules), root) for module in apart]
        parts.append(box("modules", "\n".join(lines)))
    return "\n\n".join(part for part in parts if part) + "\n"


def module_page(folder: str, module: Path, root: Path) -> str:
    """The page of one module, whose heading is the page's."""
    name = dotted(module, root)
    up = f"[`{title_of(folder)}`]({Path(page_of(folder)).name})"
    head = f"---\ndescription: The reference of {name}, from its source.\n---"
    return f"{head}\n\n{described(module, root, heading_level=1)}\n\n*One of the modules of* {up}.\n"


def described(module: Path, root: Path, **options: object) -> str:
    """The lines that mkdocstrings replaces by what is documented in a module."""
    if module.name in PASSES_ON:
        options["members"] = "false"
    lines = [f"::: {dotted(module, root)}", *(["    options:"] if options else [])]
    return "\n".join([*lines, *(f"      {name}: {value}" for name, value in options.items())])


def listed(module: Path, page: str, root: Path) -> str:
    """A module in a list, with its page and its question."""
    name = dotted(module, root)
    return f"[`{name}`]({Path(page).name}#{name})\n:   {question_of(module)}\n"


def title_of(folder: str) -> str:
    """The dotted name under which a room, or a folder in it, is imported.

    >>> title_of("kernels/cuda"), title_of("_tensor.py"), title_of("__init__.py")
    ('glasstorch.kernels.cuda', 'glasstorch._tensor', 'glasstorch')
    """
    name = folder.removesuffix(".py").replace("/", ".")
    return "glasstorch" if folder == FACADE else f"glasstorch.{name}"


def api_index(root: Path) -> str:
    """The list of all folders, layer by layer, each with the question that it answers."""
    parts = []
    for layer in LAYERS:
        built = layer.built(root)
        if not built:
            continue
        parts.append(f"## {layer.number}. {layer.question}")
        lines = []
        for room in built:
            for folder, modules in modules_by_folder(room, root).items():
                questions = [question_of(module) for module in modules]  # of all: one that does not parse is named
                many = f" *{len(modules)} modules*" if len(modules) > 1 else ""
                page = Path(page_of(folder)).name
                lines.append(f"[`{title_of(folder)}`]({page})\n:   {questions[0]}{many}\n")
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
            f"{shown(module)}:{error.lineno}: {error.msg}\n  fix it: the reference is made from it"
        ) from error


class HouseStyle(griffe.Extension):
    """Our docstrings as Markdown: doctests as code, `Mirrors:` and `Differs:` as a small box."""

    def on_object(self, *, obj: griffe.Object, **_: object) -> None:
        """Rewrite the docstring of a module, class, function or attribute that was just read."""
        if obj.docstring is not None:
            obj.docstring.value = docstring_markdown(obj.docstring.value)
            if asked := [one for one in all_asked() if one.dotted == obj.path]:
                obj.docstring.value += f"\n\n{note_on(asked, TO_EXERCISES)}"
        elif obj.name.startswith("__") and obj.name.endswith("__"):
            obj.public = False  # what Python's own protocol is needs no telling

    def on_package(self, *, pkg: griffe.Module, **_: object) -> None:
        """The package itself, for which griffe does not call `on_object`."""
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
            while lines and lines[0].strip() and not lines[0].startswith(LABELS):
                said.append(lines.pop(0).strip())
            facts.append((label.rstrip(":"), " ".join(said)))
        elif note := NOTE.fullmatch(line):
            told += [f"**Note: {plain(note[1])}**", ""]
        elif SIGNATURE.match(line):
            block = [line]
            while lines and lines[0].strip():
                block.append(lines.pop(0))
            told += ["```text", *block, "```"]
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
    """A line of prose with only backticks as markup: `a[i][j]` is not a link, `vector<Edge>` is not an HTML element."""
    pieces = line.split("`")
    pieces[::2] = [MARKUP.sub(lambda found: f"&#{ord(found[0])};", piece) for piece in pieces[::2]]
    return "`".join(pieces)
