"""What did PyTorch 2.13 print, and does it still?

`tests/truth/behaviours.json` holds short programs with the output that torch 2.13 (CPU) gave. The book shows
them; where torch is installed they are run again.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import runpy
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import NamedTuple

from workbook.book.errors import BookError
from workbook.book.project import TRUTH

SNIPPET = "snippet.py"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
ADDRESS = re.compile(r"0x[0-9a-fA-F]{6,16}")
LINE = re.compile(rf"{re.escape(SNIPPET)}:\d+(:\d+)?")
PLACES = re.compile(rf"[^\s'\"(<]*/(?=site-packages/|{re.escape(SNIPPET)})")


class Behaviour(NamedTuple):
    """A program, and what torch printed when it ran."""

    identity: str
    title: str
    code: str
    output: str


def recorded(root: Path) -> dict[str, Behaviour]:
    """The recorded behaviours by id."""
    entries = json.loads((root / TRUTH / "behaviours.json").read_text(encoding="utf-8"))
    return {
        entry["id"]: Behaviour(entry["id"], entry["title"], entry["code"], comparable(entry["out"]))
        for entry in entries
    }


def behaviour(identity: str, root: Path) -> Behaviour:
    """One recorded behaviour, or a BookError that says which ids there are."""
    known = recorded(root)
    if identity not in known:
        raise BookError(
            f"there is no recorded behaviour {identity!r}\n"
            f"  {len(known)} are recorded, {min(known)} to {max(known)}, in {TRUTH / 'behaviours.json'}"
        )
    return known[identity]


def comparable(output: str) -> str:
    """An output without what differs from run to run: colours, addresses and paths of files."""
    for pattern, kept in ((COLOUR, ""), (ADDRESS, "0x…"), (PLACES, "…/"), (LINE, SNIPPET)):
        output = pattern.sub(kept, output)
    return output.rstrip()


def observed(code: str) -> str:
    """What the program prints with the installed torch, warnings and errors included."""
    printed = io.StringIO()
    # Kineto, which PyTorch's profiler starts, logs on file descriptor 2, which a notebook shows. No level is so high.
    os.environ.setdefault("KINETO_LOG_LEVEL", "9")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / SNIPPET
        path.write_text(f"import torch\n{code}\n", encoding="utf-8")
        with (
            contextlib.redirect_stdout(printed),
            contextlib.redirect_stderr(printed),
            warnings.catch_warnings(),
        ):
            warnings.resetwarnings()  # then what a script sees, whatever our caller made of warnings
            for ignored in (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning):
                warnings.simplefilter("ignore", ignored)
            warnings.filterwarnings("default", category=DeprecationWarning, module="__main__")
            try:
                runpy.run_path(str(path), run_name="__main__")
            except Exception:  # noqa: BLE001  # whatever the program raises is part of what it does
                kind, error, trace = sys.exc_info()
                traceback.print_exception(kind, error, trace, limit=-1)
    return comparable(printed.getvalue())
