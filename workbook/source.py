"""What does `workbook source NAME` show: the source of a name, ours and PyTorch's?

What an exercise asks for opens once that has passed; until then its signature and its contract are shown. While a
repair is worked on, the reader's copy of the library is shown in place of ours (shelf.py).
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pydoc
import re
import textwrap
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from workbook.book.entries import ENTRIES, definition, row
from workbook.book.named import named
from workbook.book.nodes import NODES, node_operators, operator_of_node
from workbook.book.source_map import Place, address_of, places
from workbook.book.withheld import all_asked, library
from workbook.book.withheld import places as withheld_places
from workbook.commands import CommandError
from workbook.exercises import state as states
from workbook.exercises.catalogue import ExerciseError, survey
from workbook.exercises.desk import say_old
from workbook.exercises.repair import is_old
from workbook.exercises.say import command, paint
from workbook.shelf import Shelf, note_on_copy, repair_at_hand, texts
from workbook.spots import OF_TORCH, Spot, behind_property, module_of, operators, ours, source_file, spot_of, value_of

OPERATORS = "operators/native_functions.yaml"
FORMULAS = "operators/derivatives.yaml"
OF_PYTORCH = "tools/autograd/derivatives.yaml"
ACCEPTED = "view_strides, torch.add, aten::add.Tensor, AddBackward0, core/geometry.py"
MIRRORS = re.compile(r"^\s*(Mirrors: .*(?:\n {4}.*)*)", re.MULTILINE)


class Part(NamedTuple):
    """Something to show: where it stands, and its text."""

    title: str
    text: str


def show_source(root: Path, name: str, entry: str | None, *, anyway: bool, paged: bool) -> int:
    """Print the source of a name, or page through it; returns the exit code."""
    if entry is None and not all(part.strip() for part in re.split(r"::|\.", name)):
        raise CommandError(f"{name!r} is not a name\n  accepted: {ACCEPTED}")
    known, _ = survey(root)
    state = states.load(root)
    opened = {exercise.identity for exercise in known if anyway or state.of(exercise).passed}
    shelf = Shelf(root, opened, None if anyway else repair_at_hand(known, state))
    if shelf.repair is not None and is_old(shelf.repair):
        say_old(shelf.repair)
    asked = name if entry is None else f"{name} {entry}"
    if name.endswith(".py"):
        name, entry = in_module(name, entry)
    if entry is not None or is_other_file(name):
        parts = [part_of_row(shelf, name, entry)]
    elif operator := operator_of_node(name):
        parts = [*parts_of_node(shelf, name), *rows(shelf, operator), *formula_of_pytorch(shelf, operator)]
    elif spots := ours(name):
        parts = parts_of(shelf, spots, name)
        parts += [*rows(shelf, name), *theirs(root, name, spots), *formula_of_pytorch(shelf, name)]
    elif found := list(theirs(root, name, [])):
        parts = [Part("", f"glasstorch has no {name}."), *found]
    else:
        parts = [Part("", elsewhere(name))]
    if shelf.repair is not None:
        parts.append(Part("", note_on_copy(shelf.repair, asked)))
    text = "\n\n".join(f"{paint(title, 'bold')}\n\n{said}" if title else said for title, said in parts)
    if paged:
        pydoc.pager(text)
    else:
        print(text)
    return 0


# --- ours ---------------------------------------------------------------------------------------------------------


def parts_of(shelf: Shelf, spots: list[Spot], name: str) -> list[Part]:
    """What is shown of each place; ExerciseError where none of them is open."""
    parts, refused = [], []
    for spot in spots:
        try:
            parts.append(part_of(shelf, spot, name))
        except ExerciseError as error:
            refused.append(error)
    if not parts:
        raise refused[0]
    return [*parts, *(Part("", str(error)) for error in refused)]


def part_of(shelf: Shelf, spot: Spot, name: str) -> Part:
    """What is shown of some lines; ExerciseError where they are what an exercise asks for."""
    places_held = withheld_places(spot.file, shelf.root, shelf.opened)
    held = [one for one in places_held if overlap(one.lines, spot.lines)]
    anyway = f"  to see it all the same: {command(f'source {name} --anyway')}"
    for one in held:
        if one.lines.start <= spot.lines.start and spot.lines.stop <= one.lines.stop:
            exercise = one.asked.exercise
            raise ExerciseError(
                f"{one.asked.symbol} opens once {exercise.identity} {exercise.title} has passed, which asks for it\n\n"
                f"{textwrap.indent(textwrap.dedent(one.outline), '    ')}\n"
                f"  to write it: {command(f'start {exercise.identity}')}\n{anyway}"
            )
    text = "".join(shelf.lines(spot.file)[spot.lines.start : spot.lines.stop])
    said = "".join(
        f"\n\n{one.asked.symbol} opens once {one.asked.exercise.identity} has passed.\n{anyway}" for one in held
    )
    return Part(title_of(shelf, spot), textwrap.dedent(text).rstrip() + said)


def overlap(one: range, other: range) -> bool:
    """Whether two ranges have a number in common."""
    return max(one.start, other.start) < min(one.stop, other.stop)


def title_of(shelf: Shelf, spot: Spot) -> str:
    """The place of some lines, as a reader would look for it."""
    from workbook.book.project import shown

    line = shelf.line(spot.file, spot.lines.start) + 1
    return f"{shown(shelf.copy_of(spot.file))}:{line}" + (f", {spot.name}" if spot.name else "")


def is_other_file(name: str) -> bool:
    """Whether a name is the path of a table, or of a file in CUDA C++, and not of a module."""
    return "/" in name and name.endswith((".yaml", ".cu", ".cuh", ".cpp", ".h"))


def part_of_row(shelf: Shelf, path: str, entry: str | None) -> Part:
    """What a table of the library, or a file in CUDA C++, says under a name; without one, all of it."""
    path = path.replace("\\", "/").rpartition("glasstorch/")[2]
    file = library() / path
    if not file.is_file() or library() not in file.resolve().parents:
        raise CommandError(
            f"the library has no file {path}\n  accepted: a path below its folder, such as {FORMULAS} or "
            "kernels/cuda/rows.cuh"
        )
    finds, kind = ENTRIES.get(file.suffix, (definition, "definition of"))
    lines = "".join(shelf.lines(file)).splitlines(keepends=True)
    found = lines if entry is None else finds(lines, entry)
    if not found:
        raise CommandError(f"{path} has no {kind} {entry!r}")
    text = "".join(found)
    held = [one.asked for one in withheld_places(file, shelf.root, shelf.opened) if one.asked.marker in text]
    words = [path] if entry is None else [path, entry]
    anyway = f"  to see it all the same: {command(' '.join(['source', *words, '--anyway']))}"
    said = "".join(f"\n\n{one.symbol} opens once {one.exercise.identity} has passed.\n{anyway}" for one in held)
    return Part(", ".join(words), textwrap.dedent(text).rstrip() + said)


def rows(shelf: Shelf, name: str) -> Iterator[Part]:
    """The rows that declare and differentiate the operators behind one of PyTorch's names."""
    if name.partition(".")[0] == "glasstorch" or name == "torch":
        return
    found: dict[Part, None] = {}
    for one in operators(name):
        for table, has_row in ((OPERATORS, True), (FORMULAS, one.derivative is not None)):
            entry = next((entry for entry in names_of(one) if has_row and row_of(table, entry)), None)
            if entry is not None:
                found[part_of_row(shelf, table, entry)] = None
    yield from found


def names_of(one: Any) -> list[str]:
    """The names that a table may have for an operator: its own, and that of which it is an in-place or out= form."""
    name, dot, overload = one.name.partition(".")
    return [one.name, *filter(None, [one.functional]), f"{name.removesuffix('_')}{dot}{overload}"]


def row_of(table: str, entry: str) -> list[str]:
    """The lines of a row of one of the library's two tables of operators."""
    return row(texts(library() / table), entry)


def elsewhere(name: str) -> str:
    """What the library's own finder says of a name that it does not define: files about the words, or an error."""
    from glasstorch._where import described
    from glasstorch.core.errors import ArgumentError

    try:
        return described(name)
    except ArgumentError as error:
        raise CommandError(f"{error}{near(name)}\n  accepted: {ACCEPTED}") from error


def near(name: str) -> str:
    """The names of nodes, overloads and definitions that are most like one that is not known, as a line."""
    from glasstorch._search import files
    from glasstorch.dispatch.operator import registry

    overloads = [operator.qualified_overload for operator in registry.operators.values()]
    defined = [one for file in files() for one, _ in file.definitions]
    found = difflib.get_close_matches(
        name.rpartition("::")[2], dict.fromkeys([*node_operators(), *overloads, *defined])
    )
    return f"\n  the nearest names: {', '.join(found)}" if found else ""


def in_module(path: str, entry: str | None) -> tuple[str, str | None]:
    """The name of a module, or of a definition in it, for a file of the library or of a copy of it.

    What is a row of a table in that file, and no definition, stays path and entry.
    """
    inside = path.replace("\\", "/").rpartition("glasstorch/")[2]
    if not (library() / inside).is_file():
        return inside, entry or ""  # is refused as a file that the library does not have
    dotted = module_of(inside)
    if entry is None:
        return dotted, None
    try:
        named(f"{dotted}.{entry}")
    except LookupError:
        return inside, entry
    return f"{dotted}.{entry}", None


# --- nodes --------------------------------------------------------------------------------------------------------


def parts_of_node(shelf: Shelf, name: str) -> list[Part]:
    """The generated class, or what is said of it where an exercise asks for it."""
    spot = spot_of(named(f"{module_of(NODES)}.{name}"))
    try:
        return [part_of(shelf, spot, name)]
    except ExerciseError as error:
        return [Part("", str(error))]


# --- PyTorch's ----------------------------------------------------------------------------------------------------


def theirs(root: Path, name: str, spots: list[Spot]) -> Iterator[Part]:
    """PyTorch's Python source under the same name, or else where in its source the name stands."""
    value = torch_value(name, spots)
    if value is not None and source_file(value):
        torch = importlib.import_module("torch")
        lines, first = inspect.getsourcelines(behind_property(value))
        file = Path(source_file(value)).resolve()
        short = file.relative_to(Path(str(torch.__file__)).resolve().parents[1]).as_posix()
        title = f"PyTorch {torch.__version__}, {short}:{max(first, 1)}"
        yield Part(title, textwrap.dedent("".join(lines)).rstrip())
        return
    found = [
        f"{place.path}, {place.symbol}\n    {place.says}\n    {address_of(place.path)}"
        for place in named_by(root, name)
    ]
    mirrored = [said for spot in spots for said in mirrors(spot)] if not found else []
    if found or mirrored:
        yield Part("In PyTorch's source", "\n".join([*found, *dict.fromkeys(mirrored)]))


def formula_of_pytorch(shelf: Shelf, name: str) -> Iterator[Part]:
    """The entries of PyTorch's table of formulas for the operators behind a name, or where they stand."""
    if name.partition(".")[0] == "glasstorch" or name == "torch":
        return
    asked = {one.symbol.rpartition(".")[0]: one.exercise.identity for one in all_asked(shelf.root)
             if one.piece.kind == "formula"}  # fmt: skip
    told: set[str] = set()
    for one in operators(name):
        entry = next((entry for entry in names_of(one) if row_of(FORMULAS, entry)), None)
        if one.derivative is None or entry is None or entry in told:
            continue
        told.add(entry)
        held = asked.get(entry) if asked.get(entry) not in shelf.opened else None
        text = "" if held else entry_of_pytorch(entry)
        closed = f"\n{entry} opens there once {held} has passed." if held else ""
        yield Part(f"PyTorch's {OF_PYTORCH}, {entry}", text or f"{address_of(OF_PYTORCH)}{closed}")


def entry_of_pytorch(operator: str) -> str:
    """The entry of an operator in the table of formulas that is installed with torch; empty where it is not."""
    package = find_spec("torchgen")
    folders = (package.submodule_search_locations or []) if package is not None else []
    for file in (Path(folder) / "packaged" / "autograd" / "derivatives.yaml" for folder in folders):
        if file.is_file() and (lines := row(texts(file), operator)):
            return "".join(lines).rstrip()
    return ""


def torch_value(name: str, spots: list[Spot]) -> Any:
    """What PyTorch has under a name of its own, or under that of one of our modules; None without torch."""
    if find_spec("torch") is None:
        return None
    if name.startswith(OF_TORCH):
        return value_of(re.sub(r"^aten(::|\.)(\w+).*", r"\2", name), "torch")
    if (value := value_of(name, "torch")) is not None:
        return value
    for spot in spots:
        if spot.file.is_relative_to(library()) and spot.name:
            module = module_of(spot.file.relative_to(library()).as_posix()).removeprefix("glasstorch.")
            if (value := value_of(f"{module}.{spot.name}", "torch")) is not None:
                return value
    return None


def named_by(root: Path, name: str) -> list[Place]:
    """The places of the source map whose symbol is a name, or one of its overloads."""
    plain = re.sub(r"^aten(::|\.)", "", name) if name.startswith("aten") else name.rpartition(".")[2]
    word = re.compile(rf"(?<![\w.]){re.escape(plain)}(?!\w)")
    found = [place for chapter in places(root).values() for place in chapter if word.search(place.symbol)]
    return list({(place.path, place.symbol): place for place in found}.values())


def mirrors(spot: Spot) -> list[str]:
    """The places in PyTorch's source that a definition, or else its module, says it mirrors."""
    text = spot.file.read_text(encoding="utf-8")
    own = "".join(text.splitlines(keepends=True)[spot.lines.start : spot.lines.stop])
    said = MIRRORS.search(own) or MIRRORS.search(text)
    return [" ".join(said[1].split())] if said else []
