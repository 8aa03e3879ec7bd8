"""Which folders of the library does a folder use, in which order is it read, and which files mirror one of PyTorch?

For the section that shows the library from above. All of it is read from the sources.
"""

from __future__ import annotations

import ast
import importlib
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from workbook.book.project import project_root
from workbook.book.withheld import library

ORDER = re.compile(r"Reading order: (.*?)\. Mirrors:")
REMARK = re.compile(r" \(.*?\)|`")


def imports_of(room: str) -> list[str]:
    """The other folders and files at the top of the library from which the files of a folder import something."""
    found = set()
    for file in (library() / room).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                package, other, *_ = f"{node.module}..".split(".")
                found |= {other} if package == "glasstorch" else set()
    return sorted(found - {room, ""})


def reading_order(room: str) -> str:
    """The order in which to read the files of a folder, as its docstring says it, without the remarks."""
    docstring = " ".join((importlib.import_module(f"glasstorch.{room}").__doc__ or "").split())
    order = ORDER.search(docstring)
    if order is None:
        raise LookupError(f"reading_order({room!r}): the docstring of glasstorch.{room} has no such line")
    return REMARK.sub("", order[1])


def mirrors_of(name: str) -> dict[str, str]:
    """The files of the library whose header names a file of PyTorch, each with its first line."""
    found = {}
    for file in sorted(library().rglob("*.py")):
        header = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
        if name in header:
            found[file.relative_to(library()).as_posix()] = header.splitlines()[0]
    return found


def layer_faults(files: Mapping[str, str]) -> list[str]:
    """What the test of the layers says of a library that consists of these files: a text for each path."""
    if str(project_root()) not in sys.path:
        sys.path.append(str(project_root()))  # the tests are not installed
    from tests.architecture.layers import violations

    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "glasstorch"
        for path, text in files.items():
            (package / path).parent.mkdir(parents=True, exist_ok=True)
            (package / path).write_text(text, encoding="utf-8")
        return [str(fault) for fault in violations(package)]
