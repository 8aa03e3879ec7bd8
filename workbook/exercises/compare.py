"""How does the reader's answer differ from ours, if a short diff can show it?"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Sequence

from workbook.exercises.catalogue import Piece
from workbook.exercises.say import count

SHORT = 24  # lines of a comparison that can still be called short
HEADER = re.compile(r"\A# ---\n(?:#.*\n)*?# ---\n+")


def without_header(text: str) -> str:
    """A file in percent format without the lines that only JupyterLab reads."""
    return HEADER.sub("", text).strip("\n") + "\n"


def compare(answer: str, solution: str, pieces: Sequence[Piece]) -> str:
    """The differences between the pieces, as Markdown."""
    names = [piece.answer for piece in pieces]
    try:
        yours, ours = plain(answer, names), plain(solution, names)
    except (SyntaxError, ValueError):  # the second: a null byte, before Python 3.11.4
        return "Yours cannot be compared with it: it is not Python yet."
    if not yours:
        return f"Yours has no `{'`, `'.join(names)}` to compare with it."
    if yours == ours:
        return "Yours is the same, apart from comments and layout."
    lines = difflib.unified_diff(yours, ours, "yours", "ours", n=1, lineterm="")
    changed = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    size = f"Yours has {count(len(yours), 'line')} without comments, ours {len(ours)}."
    if len(changed) > SHORT:
        return f"{size} They differ too much to compare line by line."
    listing = "\n".join(changed)
    return f"{size} From yours (-) to ours (+):\n\n```\n{listing}\n```"


def plain(text: str, names: Sequence[str]) -> list[str]:
    """The lines of these pieces, without comments, docstrings and the author's layout."""
    found = [
        node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in names
    ]
    for node in (inner for outer in found for inner in ast.walk(outer)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return [line for node in found for line in ast.unparse(node).splitlines()]
