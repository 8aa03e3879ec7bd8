"""Where does the reference describe a place of the library's source?"""

from __future__ import annotations

import ast
from functools import lru_cache
from pathlib import Path

from workbook.book.api import GENERATED, dotted, page_of, page_of_module
from workbook.book.withheld import library


@lru_cache(maxsize=1024)
def reference_of(place: str) -> str:
    """The address in the site of what describes a place: a definition, its module, or the folder of another file."""
    file, _, line = place.partition(":")
    path = library() / file
    if not file.endswith(".py") or GENERATED in Path(file).parts:
        folder = next(one for one in Path(file).parents if one.name != GENERATED)
        return f"{page_of(folder.as_posix()).removesuffix('.md')}.html"
    page = page_of_module(path, library().parents[1]).removesuffix(".md") + ".html"
    name = next((name for first, last, name in definitions(file) if line and first <= int(line) <= last), None)
    return f"{page}#{dotted(path, library().parents[1])}" + ("" if name is None else f".{name}")


@lru_cache(maxsize=128)
def definitions(file: str) -> list[tuple[int, int, str]]:
    """The first line, last line and name of each definition in a file of the library that the reference shows.

    Those are the public ones at its top level; where the file has `__all__`, those in it; of a package, none.
    """
    if Path(file).name == "__init__.py":
        return []
    found, listed = [], None
    for node in ast.parse((library() / file).read_text(encoding="utf-8")).body:
        first, name = node.lineno, ""
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            first, name = min([first, *(each.lineno for each in node.decorator_list)]), node.name
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            name = target.id if isinstance(target, ast.Name) else ""
            if name == "__all__" and node.value is not None:
                listed = {each.value for each in ast.walk(node.value) if isinstance(each, ast.Constant)}
        if name and not name.startswith("_"):
            found.append((first, node.end_lineno or first, name))
    return [one for one in found if listed is None or one[2] in listed]
