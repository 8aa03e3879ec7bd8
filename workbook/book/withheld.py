"""Which symbols of the library does an exercise ask for, and what stands in their place where source is shown?

A reader who has just seen a function cannot write it any more. So wherever the book quotes source, what an exercise
asks for is replaced by its outline: signature, docstring, and the exercise that it belongs to. This holds also where a
class, a module or a table that contains it is quoted. `workbook source` opens it, once the exercise has passed.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from workbook.book.entries import range_of_definition
from workbook.book.errors import BookError
from workbook.book.project import project_root
from workbook.exercises.catalogue import Exercise, ExerciseError, Piece, read_text, survey

FORMULAS = "operators/derivatives.yaml"
HEADERS = "kernels/cuda"
FUNCTION_OF_CUDA = re.compile(r"\b(\w+)\s*\([^;{}]*\)\s*(?:const\s*)?\{")
STATEMENTS_OF_CUDA = ("if", "for", "while", "switch")
COMMENT_OF_CUDA = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
TOKEN = re.compile(r"\w+|[^\w\s]")
DEFINED = re.compile(r"^(?:class|(?:async )?def) (\w+)", re.MULTILINE)
NODE = re.compile(r"\b(\w+Backward\d+)\b")

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Asked(NamedTuple):
    """A symbol that an exercise asks for, and its file, relative to the library's folder."""

    exercise: Exercise
    piece: Piece
    file: str
    symbol: str  # `DispatchTable.__missing__`; of a row of a table `tanh.self`

    @property
    def marker(self) -> str:
        """What stands in place of the body."""
        return f"you write this in {self.exercise.identity}"

    @property
    def dotted(self) -> str:
        """The name under which a reader asks for it: of Python by module, of other files by path."""
        if not self.file.endswith(".py"):
            return f"{self.file}, {self.symbol}"
        return f"glasstorch.{self.file.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}.{self.symbol}"


class Place(NamedTuple):
    """The lines of a file, counted from 0, in which a symbol is defined, and the text that stands for them."""

    lines: range
    outline: str
    asked: Asked


def library() -> Path:
    """The folder of the library."""
    spec = importlib.util.find_spec("glasstorch")
    assert spec is not None, "the library is installed where its book is read"
    return Path((spec.submodule_search_locations or [""])[0])


def all_asked(root: Path | None = None) -> tuple[Asked, ...]:
    """Every symbol that an exercise of the clone asks for; none where there is no clone."""
    try:
        return _all_asked(root or project_root())
    except BookError:
        return ()


@lru_cache(maxsize=8)
def _all_asked(root: Path) -> tuple[Asked, ...]:
    try:
        found, _ = survey(root)
    except ExerciseError:
        return ()
    return tuple(asked for exercise in found for piece in exercise.pieces for asked in asked_by(exercise, piece))


def asked_by(exercise: Exercise, piece: Piece) -> Iterator[Asked]:
    """The symbols for which one piece of an exercise stands; none where the reader has to find out what it replaces."""
    if not piece.target:
        return
    if piece.kind in ("function", "policy"):
        module, _, symbol = piece.target.partition(":")
        folder = module.partition(".")[2].replace(".", "/")
        file = f"{folder}.py" if (library() / f"{folder}.py").is_file() else f"{folder}/__init__.py"
        yield Asked(exercise, piece, file, symbol)
    elif piece.kind == "kernel":
        file, kernel, node = registered(piece.target, piece.key)
        for symbol in filter(None, (node, kernel)):
            yield Asked(exercise, piece, file, symbol)
    elif piece.kind == "formula":
        yield Asked(exercise, piece, FORMULAS, piece.target)
        file, _, node = registered(f"aten::{piece.target.rpartition('.')[0]}", "Autograd")
        if node:
            yield Asked(exercise, piece, file, node)
    elif piece.kind == "cuda":
        file = f"{HEADERS}/{piece.target}"
        text = (library() / file).read_text(encoding="utf-8")
        try:
            given = tokens_of_cuda(read_text(exercise.start))
        except ExerciseError:  # a damaged stub gives nothing
            given = ""
        for symbol in functions_of_cuda(text):
            written = tokens_of_cuda("".join(text.splitlines(keepends=True)[n] for n in cuda_lines(text, symbol)))
            if written not in given:
                yield Asked(exercise, piece, file, symbol)


@lru_cache(maxsize=64)
def registered(operator: str, key: str) -> tuple[str, str, str]:
    """File and name of the kernel that is registered for an operator, and of the node that an autograd kernel makes.

    A kernel that a table's row makes has no name.
    """
    import glasstorch  # noqa: F401 (its import registers the kernels)
    from glasstorch.core.keys import DispatchKey
    from glasstorch.dispatch.operator import registry

    kernel = registry.find(operator).kernels[DispatchKey[key]][-1]
    file, _, line = kernel.where.rpartition(":")
    lines = (library() / file).read_text(encoding="utf-8").splitlines(keepends=True)
    start = head = int(line) - 1
    while lines[head].startswith("@"):
        head = end_of_statement(lines, head)
    text = "".join(lines[start : end_of_statement(lines, head)])
    name, node = DEFINED.search(text), NODE.search(text)
    return file, name[1] if name else "", node[1] if node else ""


def tokens_of_cuda(text: str) -> str:
    """CUDA C++ without comments and with one space between its tokens.

    >>> tokens_of_cuda("int a = b(1);  // one")
    'int a = b ( 1 ) ;'
    """
    return " ".join(TOKEN.findall(COMMENT_OF_CUDA.sub("", text)))


def functions_of_cuda(text: str) -> list[str]:
    """The names of the functions that a header defines, in order."""
    names = FUNCTION_OF_CUDA.findall(COMMENT_OF_CUDA.sub("", text))
    return list(dict.fromkeys(name for name in names if name not in STATEMENTS_OF_CUDA))


def cuda_lines(text: str, symbol: str) -> range:
    """The numbers of the lines in which a function of a header is defined, from 0."""
    return range_of_definition(text.splitlines(keepends=True), symbol)


# --- what stands in their place -----------------------------------------------------------------------------------


def places(file: Path, root: Path | None = None, opened: Collection[str] = ()) -> list[Place]:
    """The places in a file of the library that are withheld, from top to bottom.

    `opened` are identities of exercises whose symbols are not.
    """
    if not file.is_relative_to(library()):
        return []
    name = file.relative_to(library()).as_posix()
    here = [asked for asked in all_asked(root) if asked.file == name and asked.exercise.identity not in opened]
    if not here:
        return []
    text = file.read_text(encoding="utf-8")
    found = [place for asked in here if (place := place_of(asked, text)) is not None]
    return sorted(found, key=lambda place: place.lines.start)


def place_of(asked: Asked, text: str) -> Place | None:
    """The lines of a symbol in the text of its file, with its outline; None if the file does not have it."""
    lines = text.splitlines(keepends=True)
    if asked.file.endswith(".py"):
        found = definition_of(text, asked.symbol)
        if found is None:
            return None
        node, above = found
        lines = lines[above:]
        body = node.body[0].end_lineno if ast.get_docstring(node) is not None else node.body[0].lineno - 1
        head = "".join(lines[first_line(node) - 1 : body]).rstrip()
        assert (body or 0) >= node.lineno, f"{asked.dotted} is defined in one line"
        inside = " " * node.body[0].col_offset
        numbers = range(above + first_line(node) - 1, above + (node.end_lineno or 0))
        return Place(numbers, f"{head}\n{inside}...  # {asked.marker}\n", asked)
    if asked.file.endswith(".yaml"):
        number = line_of_formula(lines, asked.symbol)
        return None if number is None else Place(
            range(number, number + 1), f"{lines[number].partition(':')[0]}: ...  # {asked.marker}\n", asked
        )  # fmt: skip
    numbers = cuda_lines(text, asked.symbol)
    if not numbers:
        return None
    opens = next(number for number in numbers if "{" in COMMENT_OF_CUDA.sub("", lines[number]))
    head = "".join(lines[numbers.start : opens + 1]).rstrip()
    indent = re.match(r"\s*", lines[opens])[0]  # type: ignore[index]
    return Place(numbers, f"{head}\n{indent}  // {asked.marker}\n{indent}}}\n", asked)


def definition_of(text: str, symbol: str) -> tuple[Definition, int] | None:
    """A definition in the text of a module, and the number of lines above the part in which its lines are counted.

    Only that part is parsed: generated modules are long.
    """
    lines, path = text.splitlines(keepends=True), symbol.split(".")
    for head, line in enumerate(lines):
        if (named := DEFINED.match(line)) is None or named[1] != path[0]:
            continue
        start = head
        while start and lines[start - 1].strip():  # decorators
            start -= 1
        part = ast.parse("".join(lines[start : end_of_statement(lines, head)]))
        if (node := definition_in(part.body, path)) is not None:
            return node, start
    return None


def end_of_statement(lines: Sequence[str], head: int) -> int:
    """The number of the line at which the next statement at the top level begins; `head` is after any decorators."""
    return next((n for n in range(head + 1, len(lines)) if lines[n][0] not in " \t\n#)]}"), len(lines))


def first_line(node: ast.stmt) -> int:
    """The line at which a statement begins, with its decorators."""
    decorators = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(each.lineno for each in decorators)])


def definition_in(body: Iterable[ast.stmt], path: Sequence[str]) -> Definition | None:
    """The definition with a qualified name among these statements."""
    for node in body:
        if isinstance(node, Definition) and node.name == path[0]:
            return node if len(path) == 1 else definition_in(node.body, path[1:])
    return None


def line_of_formula(lines: Sequence[str], symbol: str) -> int | None:
    """The number, from 0, of the line of derivatives.yaml that holds a formula, such as `tanh.self`."""
    operator, _, argument = symbol.rpartition(".")
    start = next((n for n, line in enumerate(lines) if line.rstrip() == f"- op: {operator}"), None)
    if start is None:
        return None
    for number in range(start + 1, len(lines)):
        if lines[number].startswith("- "):
            return None
        if re.match(rf"\s+{re.escape(argument)}\s*:", lines[number]):
            return number
    return None


def masked(file: Path, root: Path | None = None, opened: Collection[str] = ()) -> list[str]:
    """The lines of a file of the library, where what is withheld is one entry, its outline, and then empty ones."""
    lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
    for place in places(file, root, opened):
        lines[place.lines.start : place.lines.stop] = [place.outline, *[""] * (len(place.lines) - 1)]
    return lines


def excerpt(file: Path, numbers: range, root: Path | None = None, opened: Collection[str] = ()) -> list[str]:
    """Some lines of a file, counted from 0, without what is withheld: of a part of such a symbol its outline."""
    for place in places(file, root, opened):
        if place.lines.start <= numbers.start and numbers.stop <= place.lines.stop:
            return place.outline.splitlines(keepends=True)
    return "".join(masked(file, root, opened)[numbers.start : numbers.stop]).splitlines(keepends=True)


def asked_in(file: Path, text: str, root: Path | None = None) -> list[Asked]:
    """What a quotation of a file leaves out, an entry for each exercise."""
    here = {place.asked.exercise.identity: place.asked for place in places(file, root)}
    return [asked for asked in here.values() if re.search(rf"{re.escape(asked.marker)}\b", text)]


def note_on(asked: Sequence[Asked], exercises: str) -> str:
    """The sentence below something from which these are left out; `exercises` is the way to the exercises' pages."""
    found = [one.exercise for one in asked]
    links = [f"[{one.identity} {one.title}]({exercises}{one.page})" for one in found]
    starts = [f"`workbook start {one.identity}`" for one in found]
    return f"You write this in {' and '.join(links)}: {', '.join(starts)}." if asked else ""
