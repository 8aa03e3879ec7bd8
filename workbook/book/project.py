"""Where are the book's files?"""

from __future__ import annotations

import os
from pathlib import Path

from workbook.book.errors import BookError

CHAPTERS = "chapters"
LABS = "exercises"
TRUTH = Path("tests") / "truth"


def project_root(start: Path | None = None) -> Path:
    """The folder that contains `mkdocs.yml`, searched upwards from `start`, or else from this file."""
    first = (start or Path(__file__)).resolve()
    for folder in (first, *first.parents):
        if (folder / "mkdocs.yml").is_file() and (folder / CHAPTERS).is_dir():
            return folder
    raise BookError(
        f"no book found at or above {first}\n"
        f"  the book is the folder with mkdocs.yml and {CHAPTERS}/ in it; an installed wheel holds only the library\n"
        "  clone the repository and run the command inside it"
    )


def shown(path: Path) -> str:
    """A path as a reader would type it: relative to the current folder if that is shorter."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith(os.pardir) else relative
