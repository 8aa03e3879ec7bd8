"""Which place of the library's source does a name mean?

A place is `kernels/views.py:40`, or a file as a whole. It is found from what a figure or a table can say of it without
a number, which the next change of the file would make wrong: `core/keys.py`, `kernels/` (its `__init__`),
`kernels/views.py view`, `glasstorch.autograd.node.Node`. The name of a generated node means the row of its formulas.
"""

from __future__ import annotations

import re
from functools import lru_cache

from workbook.book.nodes import NODES, operator_of_node
from workbook.book.withheld import FORMULAS, definition_of, first_line, library

PATH = r"(?:\w+/)*\w+\.(?:pyi?|yaml|cuh?|h)"
PLACE = re.compile(rf"(?P<file>{PATH})(?::(?P<line>\d{{1,6}}))?")
DOTTED = "glasstorch."
HEAD = re.compile(r"(?:(?:async )?def|class) (\w+)|(\w+)\s*(?::[^=]*)?=")  # of a statement at the top level


def place_of(name: str) -> str | None:
    """The place that a name means; None if it means none.

    >>> place_of("core/"), place_of("torch/nn/init.py")
    ('core/__init__.py', None)
    """
    if name.startswith(DOTTED):
        return of_dotted(name)
    file, _, symbol = name.partition(" ")
    if symbol:
        return of_symbol(file, symbol)
    if "/" in name and (first := f"{name.removesuffix('/')}/__init__.py") in files():
        return first
    found = PLACE.fullmatch(name)
    if found is None or found["file"] not in files():
        return None
    return name if found["line"] is None or 0 < int(found["line"]) <= len(lines_of(found["file"])) else None


def of_dotted(name: str) -> str | None:
    """The place of a definition by its dotted name; of a generated node, the row that it is made from."""
    parts = name.removeprefix(DOTTED).split(".")
    for count in range(len(parts), 0, -1):
        module, symbol = "/".join(parts[:count]), ".".join(parts[count:])
        file = next((file for file in (f"{module}.py", f"{module}/__init__.py") if file in files()), None)
        if file is None:
            continue
        operator = operator_of_node(symbol) if file == NODES else None
        row = of_symbol(FORMULAS, operator) if operator is not None else None
        return row or (of_symbol(file, symbol) if symbol else file)
    return None


@lru_cache(maxsize=1024)
def of_symbol(file: str, symbol: str) -> str | None:
    """The place of a definition in a module, or of a row in a table; None if the file has none of this name."""
    if file not in files():
        return None
    lines = lines_of(file)
    if file.endswith(".py"):
        if (found := definition_of("".join(lines), symbol)) is not None:
            node, above = found
            return f"{file}:{above + first_line(node)}"
        head = re.compile(rf"{re.escape(symbol)}\b\s*(?::[^=]*)?=")
    else:
        head = re.compile(rf"- \w+: {re.escape(symbol)}(?![\w.])")
    number = next((number for number, line in enumerate(lines, 1) if head.match(line)), None)
    return None if number is None else f"{file}:{number}"


def named_at(place: str) -> str:
    """A place without its number: with the name that the statement at the top level has, where it has one.

    >>> named_at(of_symbol("core/keys.py", "DispatchKeySet"))
    'core/keys.py DispatchKeySet'
    """
    file, _, number = place.partition(":")
    if file not in files() or not number.isdecimal():
        return ""
    lines = lines_of(file)
    at = min(int(number), len(lines)) - 1
    while at < len(lines) - 1 and lines[at].startswith("@"):
        at += 1
    while at and lines[at][0] in " \t\n#)]}":
        at -= 1
    found = HEAD.match(lines[at])
    return f"{file} {found[1] or found[2]}" if found else file


def symbol_in(name: str, symbol: str) -> str | None:
    """The place of a symbol in a file given by its path, or by the end of it where one such file defines the symbol."""
    ends = [file for file in files() if file == name or file.endswith(f"/{name}")]
    found = {place for file in ends if (place := of_symbol(file, symbol)) is not None}
    return found.pop() if len(found) == 1 else None


@lru_cache(maxsize=1)
def files() -> frozenset[str]:
    """The files of the library, relative to its folder."""
    top = library()
    return frozenset(
        path.relative_to(top).as_posix()
        for path in top.rglob("*")
        if re.fullmatch(PATH, path.relative_to(top).as_posix()) and path.is_file()
    )


@lru_cache(maxsize=128)
def lines_of(file: str) -> tuple[str, ...]:
    """The lines of a file of the library."""
    return tuple((library() / file).read_text(encoding="utf-8").splitlines(keepends=True))
