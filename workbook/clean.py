"""Which files can be removed, because the project's commands can make them again?

Nothing that a reader wrote is on the list: answers to exercises, lab sheets and the reader's state are never touched.
Standard library only: it works without .venv.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

CACHES = (".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", ".cache/book/pages", "build", "dist")
ON_REQUEST = (".venv", ".cache", "node_modules")
CODE, NOTEBOOKS = ("__pycache__",), ("__pycache__", ".ipynb_checkpoints")
SOURCES = {
    "reference": CODE,
    "workbook": CODE,
    "tests": CODE,
    "benchmarks": CODE,
    "examples": CODE,
    "chapters": NOTEBOOKS,
    "exercises": CODE,  # JupyterLab's checkpoints hold what a reader wrote on a lab sheet
}


def built(root: Path, *, everything: bool) -> Iterator[Path]:
    """The files and folders to remove."""
    yield from (root / name for name in (*CACHES, *(ON_REQUEST if everything else ())))
    yield from (path for path in (root / "site").glob("*") if path.name != ".gitignore")
    for folder, leftovers in SOURCES.items():
        yield from (path for name in leftovers for path in sorted((root / folder).rglob(name)))


def main(arguments: Sequence[str], root: Path) -> int:
    """Remove them. Returns the exit code."""
    if unknown := [argument for argument in arguments if argument != "--all"]:
        print(f"clean: {unknown[0]!r} is unknown; the only option is --all.", file=sys.stderr)
        return 2
    removed = 0
    for path in built(root, everything="--all" in arguments):
        if path.is_symlink() or path.is_file():
            path.unlink()
        elif path.is_dir():
            shutil.rmtree(path)
        else:
            continue
        removed += 1
    print(f"Removed {removed} files and folders." if removed else "Nothing to remove.")
    return 0
