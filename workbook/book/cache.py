"""Which parts of the book were already built from the same inputs?

`.cache/book/pages/` holds what took long to make, under a hash of all that it was made from: the text, and the programs
that turn it into a page, ours and others'. What is changed has another hash, so nothing can be out of date.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

FOLDER = Path(".cache") / "book" / "pages"
WORKBOOK = Path(__file__).parents[1]
# Folders that hold nothing that the book is made from: they are made by programs, or by git.
NO_SOURCES = {
    ".git", ".venv", ".cache", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".ipynb_checkpoints",
    "__pycache__", "node_modules", "build", "dist",
}  # fmt: skip
# What belongs to the reader: the book is not made from it, so an answer or a prediction makes nothing out of date.
READERS = re.compile(
    r"notebooks/|exercises/(progress\.json.*|[^/]+/[^/]+/(answer\.py|my_lab\.ipynb|kept/.*|faulty[^/]*/.*))$"
)
NAVIGATION = re.compile(r"^nav:\n(?:[ \t-].*\n|\n)*", re.MULTILINE)


class Cache:
    """JSON values by the hash of their inputs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.used: set[str] = set()

    def get(self, key: str) -> Any:
        """The value stored under a key; None if there is none, or if it is truncated."""
        self.used.add(key)
        try:
            return json.loads((self.folder / key).read_bytes())
        except (OSError, ValueError):
            return None

    def put(self, key: str, value: object) -> None:
        """Store a value atomically; a full disk only makes the next build slow."""
        self.used.add(key)
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=self.folder, delete=False) as file:
                self.used.add(Path(file.name).name)
                json.dump(value, file)
            os.replace(file.name, self.folder / key)

    def drop_unused(self) -> None:
        """Remove values that were neither read nor stored since this object was created."""
        for path in self.folder.glob("*"):
            if path.name not in self.used:
                path.unlink(missing_ok=True)


def digest(*parts: str | bytes) -> str:
    """A hash of the parts in order."""
    whole = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        whole.update(f"{len(content)} ".encode() + content)
    return whole.hexdigest()


def digest_of_files(*places: Path) -> str:
    """A hash of all sources below these paths: their relative paths and contents."""
    return digest(*(part for place in places for part in (str(place), *contents_of(sources(place), place))))


def contents_of(paths: Iterable[Path], place: Path) -> Iterator[str | bytes]:
    """The paths and contents of files."""
    for path in paths:
        yield path.relative_to(place).as_posix()
        yield path.read_bytes()


def sources(place: Path) -> Iterator[Path]:
    """The files below a path, in the same order on every machine."""
    if place.is_file():
        yield place
        return
    for folder, folders, names in os.walk(place):
        folders[:] = sorted(name for name in folders if name not in NO_SOURCES)
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file():
                yield path


def is_input(place: Path) -> bool:
    """Whether the book may depend on a file of the clone, given by its path there."""
    return place.parts[0] != "site" and READERS.match(place.as_posix()) is None


def tools() -> str:
    """A hash of the Python and the packages with which the book is built."""
    packages = Path(sysconfig.get_path("purelib")).glob("*.dist-info")
    return digest(platform.python_version(), *sorted(path.name for path in packages))


def renderer(root: Path) -> str:
    """A hash of everything that converts a page's Markdown to HTML: our programs, others', and the book's settings.

    The navigation is no part of it: it is around a page, not in it.
    """
    settings = NAVIGATION.sub("", (root / "mkdocs.yml").read_text(encoding="utf-8"))
    return digest(tools(), digest_of_files(WORKBOOK), settings)


def whole_book(root: Path, site: Path | None, *, strict: bool) -> str:
    """A hash of everything that the site is built from: every file of the clone but the reader's own, and the installed
    packages."""
    files = (path for path in sources(root) if is_input(path.relative_to(root)))
    node, npm = shutil.which("node"), shutil.which("npm")
    fetched = () if npm else sorted(path.name for path in (root / ".cache" / "book").glob("vendor-*"))
    beside = (tools(), digest_of_files(WORKBOOK), str(site), str(strict), str(node), str(npm), *fetched)
    return digest(*beside, *contents_of(files, root))
