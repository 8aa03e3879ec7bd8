"""How is the whole site built?

python -m workbook.book.build
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from workbook.book.errors import BookError
from workbook.book.project import project_root, shown
from workbook.progress import Progress


class Collected(logging.Handler):
    """Keeps what MkDocs has to say."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one message."""
        self.messages.append(record.getMessage())


def build_site(root: Path | None = None, *, strict: bool = True, target: Path | None = None) -> Path:
    """Build the book and return the folder of the site: `target`, or the one that mkdocs.yml names.

    With `strict`, a broken link or a page outside the navigation is an error. Raises BookError with all that
    is wrong.
    """
    root = (root or project_root()).resolve()
    os.environ.setdefault("NO_MKDOCS_2_WARNING", "1")  # where Material stands is told in the README
    try:
        from mkdocs.commands.build import build
        from mkdocs.config import load_config
        from mkdocs.exceptions import Abort, ConfigurationError
    except ImportError as error:
        raise BookError(
            f"the book needs {error.name}, which is not installed\n  run: python -m pip install -e '.[book]'"
        ) from error

    collected = Collected()
    logger = logging.getLogger("mkdocs")
    logger.addHandler(collected)
    logger.propagate = False  # its messages come out once, in our error
    try:
        config = load_config(
            config_file=str(root / "mkdocs.yml"), strict=strict, site_dir=str(target) if target else None
        )
        build(config)
    except (Abort, ConfigurationError) as error:
        said = "\n".join(collected.messages) or str(error)
        raise BookError(f"the book was not built\n{said}") from error
    except OSError as error:
        raise BookError(
            f"the book was not built: {error.strerror or error}: {error.filename or ''}\n"
            "  see that the folder can be written and that the disk is not full"
        ) from error
    finally:
        logger.removeHandler(collected)
        logger.propagate = True
    for message in collected.messages:
        print(f"note: {message}", file=sys.stderr)
    if missing := config.extra["vendored"].missing:
        print(
            f"note: {missing}, so mathematics and diagrams are shown as their source\n"
            "  with Node.js and npm installed, build again to have them drawn",
            file=sys.stderr,
        )
    return Path(config.site_dir)


def main() -> int:
    """Build the site, and say where it is."""
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
