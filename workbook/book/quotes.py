"""What stands at a place of the library's source that a page names?

Of a line, such as `kernels/views.py:40`, the definition around it is quoted, of a file all of it, or its outline where
it is long. The quotations of a page are a script of their own, which is loaded when the first of them is opened. What
an exercise asks for is an outline in them, as everywhere; the server of the book quotes it in full once that exercise
has passed (`workbook/live/quotation.py`).
"""

from __future__ import annotations

import ast
import html
import json
import posixpath
import textwrap
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from pygments.lexers import CudaLexer, PythonLexer, YamlLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String

from workbook.book.withheld import Definition, asked_in, excerpt, first_line, library

PROGRAM, STYLE = "assets/pane.js", "assets/pane.css"
FOLDER = "assets/quotes"  # below the chapters
LONGEST = 90  # lines of a definition that is quoted whole
AROUND = (3, 20)  # lines before and after a place in a longer one
COLOURS = {
    Comment: "c1", String: "s1", Number: "mi", Keyword: "k", Operator.Word: "k", Name.Function: "nf", Name.Class: "nc",
    Name.Tag: "k",
}  # fmt: skip
LEXERS = {
    ".py": PythonLexer,
    ".pyi": PythonLexer,
    ".yaml": YamlLexer,
    ".cu": CudaLexer,
    ".cuh": CudaLexer,
    ".h": CudaLexer,
}


def script_of(page: str) -> str:
    """The address in the site of the script with a page's quotations.

    >>> script_of("reference/operators/views.html")
    'assets/quotes/reference-operators-views.js'
    """
    return f"{FOLDER}/{page.removesuffix('.html').replace('/', '-')}.js"


def loading(page: str) -> str:
    """The HTML that loads what shows them, and says where they are."""
    style, program, quotes = (
        posixpath.relpath(path, posixpath.dirname(page) or ".") for path in (STYLE, PROGRAM, script_of(page))
    )
    told = f'data-quotes="{html.escape(quotes)}"'
    return f'<link rel="stylesheet" href="{style}"><script src="{program}" {told} defer></script>'


def script(places: list[str], page: str, root: Path) -> bytes:
    """The script: for each place its caption, its coloured text, the exercises that ask for what is left out, and the
    place itself."""
    up = posixpath.relpath("exercises", posixpath.dirname(page) or ".")
    told = json.dumps(
        [[*quoted(place, up, root), place] for place in places], ensure_ascii=False, separators=(",", ":")
    )
    return f"GlassQuotes({told});\n".encode()


def quoted(place: str, exercises: str, root: Path, opened: Collection[str] = ()) -> list[Any]:
    """One quotation: `[caption, [text, [class, text], ...], [[exercise, address], ...]]`.

    `opened` are identities of exercises; what the others ask for is left out.
    """
    file, _, line = place.partition(":")
    path = library() / file
    if line:
        numbers, whole = around(path, int(line))
        text = textwrap.dedent("".join(excerpt(path, numbers, root, opened))).strip("\n")
        caption = f"glasstorch/{file}, line {numbers.start + 1}" + ("" if whole else ", a part")
    else:
        text, how = overview(path, root, opened)
        caption = f"glasstorch/{file}{how}"
    asked = [
        [f"{one.exercise.identity} {one.exercise.title}", f"{exercises}/{one.exercise.page.removesuffix('.md')}.html"]
        for one in asked_in(path, text, root)
        if one.exercise.identity not in opened
    ]
    return [caption, coloured(text, path.suffix), asked]


def overview(path: Path, root: Path, opened: Collection[str] = ()) -> tuple[str, str]:
    """What is quoted of a file as a whole, and in words how it differs from it.

    A short file is quoted whole; of a longer one the outline, or where it is no module its beginning.
    """
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if len(lines) > LONGEST and path.suffix == ".py":
        return "".join(outline(lines)).strip("\n"), ", its outline"
    text = "".join(excerpt(path, range(min(len(lines), LONGEST)), root, opened)).strip("\n")
    return text, "" if len(lines) <= LONGEST else ", its beginning"


def outline(lines: Sequence[str]) -> Iterator[str]:
    """The text of a module without imports and bodies: what it says of itself, and what it defines."""
    module = ast.parse("".join(lines))
    docstring = module.body[0] if ast.get_docstring(module) is not None else None
    if docstring is not None:
        yield from lines[: docstring.end_lineno]
    for node in module.body:
        if node is docstring or isinstance(node, ast.Import | ast.ImportFrom | ast.If | ast.Try):
            continue
        if isinstance(node, Definition):
            if not node.name.startswith("_"):
                yield "\n\n"
                yield from outlined(node, lines)
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.lineno == node.end_lineno:
            yield lines[node.lineno - 1]


def outlined(node: Definition, lines: Sequence[str]) -> Iterator[str]:
    """The head of a definition with the first line of its docstring; of a class also its methods."""
    first = node.body[0]
    yield from lines[first_line(node) - 1 : max(first_line(first) - 1, node.lineno)]
    inside = " " * first.col_offset
    said = (ast.get_docstring(node) or "").partition("\n")[0]
    if said:
        yield f'{inside}"""{said}"""\n'
    methods = [each for each in node.body if isinstance(each, Definition) and not each.name.startswith("_")]
    if isinstance(node, ast.ClassDef) and methods:
        for method in methods:
            yield "\n"
            yield from outlined(method, lines)
    elif node.lineno != node.end_lineno:
        yield f"{inside}...\n"


def around(path: Path, line: int) -> tuple[range, bool]:
    """The lines, from 0, of the statement at the top level that holds a line, and whether that is all of it.

    Of a class that is too long it is the method that holds the line.
    """
    numbers = range(line - 1, line)
    for wholes in (statements(path), methods(path)):
        numbers = next((found for found in wholes if line - 1 in found), numbers)
        if len(numbers) <= LONGEST:
            return numbers, True
    before, after = AROUND
    return range(max(numbers.start, line - 1 - before), min(numbers.stop, line - 1 + after)), False


@lru_cache(maxsize=64)
def methods(path: Path) -> tuple[range, ...]:
    """The lines, from 0, of each method of the classes of a module, with its decorators."""
    if path.suffix != ".py":
        return ()
    classes = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ClassDef)]
    found = [each for node in classes for each in node.body if isinstance(each, Definition)]
    return tuple(range(first_line(each) - 1, each.end_lineno or each.lineno) for each in found)


@lru_cache(maxsize=256)
def statements(path: Path) -> tuple[range, ...]:
    """The lines, from 0, of each statement at the top level of a module, with its decorators, or of each row of a
    table."""
    if path.suffix == ".yaml":
        return rows(path.read_text(encoding="utf-8").splitlines())
    if path.suffix != ".py":
        return ()
    found = []
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        heads = [node.lineno, *(each.lineno for each in getattr(node, "decorator_list", []))]
        found.append(range(min(heads) - 1, node.end_lineno or node.lineno))
    return tuple(found)


def rows(lines: Sequence[str]) -> tuple[range, ...]:
    """The lines, from 0, of each row of a yaml table, without what stands between it and the next."""
    starts = [number for number, line in enumerate(lines) if line.startswith("- ")]
    found = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        last = next((number for number in range(start, end) if lines[number][:1] not in ("-", " ")), end)
        found.append(range(start, last))
    return tuple(found)


def coloured(text: str, suffix: str = ".py") -> list[str | list[str]]:
    """The pieces of a text in the language of such files: those without a colour as they are, others with theirs."""
    pieces: list[str | list[str]] = []
    for kind, piece in LEXERS[suffix](ensurenl=False, stripnl=False).get_tokens(text):
        colour = next((name for above, name in COLOURS.items() if kind in above), "")
        last = pieces[-1] if pieces else None
        if colour and isinstance(last, list) and last[0] == colour:
            last[1] += piece
        elif colour:
            pieces.append([colour, piece])
        elif isinstance(last, str):
            pieces[-1] = last + piece
        else:
            pieces.append(piece)
    return pieces
