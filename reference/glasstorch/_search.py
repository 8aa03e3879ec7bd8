"""Which files of the library answer a question, and where is a class or function defined?

Mirrors: nothing; in PyTorch one searches the source
Differs: a file is found by its path and its header, since its first line is the question that it answers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

LIBRARY = Path(__file__).resolve().parent
MOST = 12  # files that are listed
HEADER = re.compile(r'\s*"""(.*?)"""', re.DOTALL)
DIFFERS = re.compile(r"^Differs:.*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
DEFINITION = re.compile(r"^( *)(?:class|(?:async )?def) (\w+)", re.MULTILINE)
WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
COMMON = frozenset(
    ["a", "an", "and", "are", "by", "does", "for", "from", "how", "in", "is", "of", "on", "or", "the", "to"]
    + ["what", "when", "where", "which", "who", "why"]
)
ENDING = re.compile(r"(ions?|ings?|ers?|ors?|ed|es|e|s)$")  # of a word that has another form: fusion, fused, fuses


class File(NamedTuple):
    """A file of the library, by what it says of itself."""

    path: str  # relative to the library's folder
    question: str  # its first line
    header: str  # without what differs from PyTorch
    definitions: tuple[tuple[str, int], ...]  # `Class.method`, line


def definitions_of(name: str) -> list[tuple[str, str]]:
    """Classes, functions and methods of a name, each with its location.

    >>> [name for name, _ in definitions_of("promote_types")]
    ['promote_types']
    """
    return [
        (qualified, f"{file.path}:{line}")
        for file in files()
        for qualified, line in file.definitions
        if qualified == name or qualified.endswith(f".{name}")
    ]


def files_about(words: str) -> list[tuple[str, str]]:
    """Path and question of the files that have all of some words in these two; then of those whose header has them.

    >>> files_about("pointwise fusion")[1]
    ('jit/passes/fuse_pointwise.py', 'Which pointwise operators can run as one loop?')
    """
    wanted = stems(words)
    if not wanted:
        return []
    titled = [file for file in files() if wanted <= stems(f"{file.path} {file.question}")]
    headed = [file for file in files() if file not in titled and wanted <= stems(f"{file.path} {file.header}")]
    return [(file.path, file.question) for file in (titled + headed)[:MOST]]


def stems(text: str) -> set[str]:
    """The words of a text but for the commonest, without endings.

    >>> sorted(stems("How is a FusedGroup fused?"))
    ['fus', 'group']
    """
    return {ENDING.sub("", word) for word in map(str.lower, WORD.findall(text)) if word not in COMMON}


@lru_cache(maxsize=1)
def files() -> tuple[File, ...]:
    """All files of the library that are written by hand, by path; the command's own text is no answer."""
    paths = sorted(LIBRARY.rglob("*.py"))
    paths = [path for path in paths if path.parent.name != "generated" and path.name != "__main__.py"]
    return tuple(_read(path) for path in paths)


def _read(path: Path) -> File:
    text = path.read_text(encoding="utf-8")
    found = HEADER.match(text)
    header = found[1].strip() if found else ""
    question = header.partition("\n")[0]
    header = DIFFERS.sub("", header).replace("Reading order:", "")
    return File(path.relative_to(LIBRARY).as_posix(), question, header, tuple(_definitions(text)))


def _definitions(text: str) -> Iterator[tuple[str, int]]:
    """The classes and functions of a file, and the methods of its classes, with their lines."""
    outer, line, searched = "", 1, 0
    for found in DEFINITION.finditer(text):
        line += text.count("\n", searched, found.start())
        searched = found.start()
        indent, name = found.groups()
        if not indent:
            outer = name
            yield name, line
        elif len(indent) == 4:
            yield f"{outer}.{name}", line
