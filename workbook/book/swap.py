"""How does a new site take the place of an old one while that one is served?

It is built beside the old one, so that a build that fails or is stopped changes nothing. Then it is moved in file by
file, each at once: whoever reads meanwhile gets a whole file, the old one or the new one. A file that did not change is
left alone, and a browser keeps its copy.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

BESIDE = "site-"  # begins the names of the folders in which sites are built
PARTIAL = ".part"


@contextmanager
def beside(folder: Path) -> Iterator[Path]:
    """A new empty folder below `folder` to build a site in; it is removed in the end. One build at a time has it."""
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{BESIDE}*"):  # by a build that was killed
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=folder, prefix=BESIDE, ignore_cleanup_errors=True) as name:
        yield Path(name)


def put_in_place(new: Path, site: Path) -> None:
    """Make `site` hold the files of `new`: what pages refer to first, then the pages, and then nothing else.

    Hidden files of `site`, such as .gitignore, stay. Raises OSError where a file cannot be written; `site` is then a
    mixture of whole files, old and new.
    """
    wanted = set(files(new))
    for place in sorted(wanted, key=lambda place: (place.suffix == ".html", place)):
        move(new / place, site / place)
    for place in set(files(site)) - wanted:
        (site / place).unlink()
        for folder in place.parents[:-1]:
            with suppress(OSError):  # it still holds something
                (site / folder).rmdir()


def files(folder: Path) -> Iterator[Path]:
    """The files below a folder by their paths in it, without hidden ones."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            yield path.relative_to(folder)


def move(new: Path, old: Path) -> None:
    """Put a file in the place of another at once, unless they are equal."""
    if old.is_file() and filecmp.cmp(new, old, shallow=False):
        return
    old.parent.mkdir(parents=True, exist_ok=True)
    part = old.with_name(old.name + PARTIAL)
    try:
        shutil.copyfile(new, part)  # it may be on another disk
        os.replace(part, old)
    finally:
        part.unlink(missing_ok=True)
