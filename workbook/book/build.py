"""How is the whole site built?

python -m workbook.book.build
"""

from __future__ import annotations

import logging
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workbook.book.cache import FOLDER, Cache, digest_of_files, whole_book
from workbook.book.errors import BookError
from workbook.book.project import project_root, shown
from workbook.book.swap import beside, put_in_place
from workbook.book.vendor import said_of
from workbook.exercises.say import installation
from workbook.install import take
from workbook.progress import Progress

PLACE = FOLDER.parent  # where a site is built before it is put in place
LAST = "last-build"
NOT_INSTALLED = "is not installed"


class Collected(logging.Handler):
    """Collects MkDocs's messages."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one message."""
        self.messages.append(record.getMessage())


def build_site(root: Path | None = None, *, strict: bool = True, target: Path | None = None) -> Path:
    """Build the book and return the site's folder: `target`, or the one that mkdocs.yml names.

    Where nothing was changed since the last build, its site is returned. With `strict`, a broken link or a page outside
    the navigation is an error. Raises BookError with all that is wrong; the site that was there before then stays.
    """
    root = (root or project_root()).resolve()
    with alone(root / PLACE):
        return build_alone(root, strict=strict, target=target)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Wait until no other process builds this book."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = (folder / "build.lock").open("a")
    except OSError as error:
        raise unwritable(error) from error
    with lock:
        while not take(lock):
            time.sleep(0.1)
        yield


def build_alone(root: Path, *, strict: bool, target: Path | None) -> Path:
    """Build the book unless it is unchanged, while no other process does."""
    made_from = whole_book(root, target, strict=strict)
    if (last := finished(root, made_from)) is not None:
        say_what_is_missing(last["missing"])
        return Path(last["site"])
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # where Material stands is told in the README
    try:
        from mkdocs.commands.build import build
        from mkdocs.config import load_config
        from mkdocs.exceptions import Abort, ConfigurationError
    except ImportError as error:
        raise BookError(
            f"the book needs {error.name}, which is not installed\n  run: {installation('book')}"
        ) from error

    collected = Collected()
    logger = logging.getLogger("mkdocs")
    logger.addHandler(collected)
    logger.propagate = False  # its messages come out once, in our error
    try:
        with beside(root / PLACE) as new:
            config = load_config(config_file=str(root / "mkdocs.yml"), strict=strict)
            site, config.site_dir = target or Path(config.site_dir), str(new)
            build(config)
            put_in_place(new, site)
    except (Abort, ConfigurationError) as error:
        said = "\n".join(collected.messages) or str(error)
        raise BookError(f"the book was not built\n{said}") from error
    except OSError as error:
        raise unwritable(error) from error
    finally:
        logger.removeHandler(collected)
        logger.propagate = True
    for message in collected.messages:
        print(f"note: {message}", file=sys.stderr)
    missing = config.extra["vendored"].missing
    say_what_is_missing(missing)
    if not collected.messages and (not missing or missing.endswith(NOT_INSTALLED)):  # else the next build says it again
        note = {"made_from": made_from, "site": str(site), "pages": digest_of_files(site), "missing": missing}
        Cache(root / FOLDER).put(LAST, note)
    return site


def unwritable(error: OSError) -> BookError:
    """What is said where a file cannot be written."""
    return BookError(
        f"the book was not built: {error.strerror or error}: {error.filename or ''}\n"
        "  see that the folder can be written and that the disk is not full"
    )


def finished(root: Path, made_from: str) -> dict[str, str] | None:
    """The record of the last build, if neither its inputs nor its outputs have changed since."""
    last = Cache(root / FOLDER).get(LAST)
    if not isinstance(last, dict) or last["made_from"] != made_from:
        return None
    return last if last["pages"] == digest_of_files(Path(last["site"])) else None


def say_what_is_missing(missing: str) -> None:
    """Report which typefaces the pages have, and what would make them lighter."""
    print(f"note: {said_of(missing)}", file=sys.stderr)


def main() -> int:
    """Build the site, and print where it is."""
    try:
        with Progress("building the book"):
            site = build_site()
    except BookError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"open {shown(site / 'index.html')}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
