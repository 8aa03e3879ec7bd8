"""What does each make target need, and which command does it run?

    python3 workbook/bootstrap.py TARGET [ARGUMENTS]

Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from workbook import clean, oracles
from workbook.failures import SetupError
from workbook.install import Environment
from workbook.stopped import STOPPED

ROOT = Path(__file__).resolve().parents[1]


class Target(NamedTuple):
    """A command of the workbook, and the extras of pyproject.toml that it needs."""

    summary: str
    extras: tuple[str, ...]
    command: tuple[str, ...]


TARGETS = {
    "study": Target("install, build the book, and open it at http://127.0.0.1:8000", ("book",), ("read",)),
    "test": Target("check style, types, generated code, and run the tests", ("book", "test"), ("test",)),
    "test-all": Target(
        "the same, including what is left to CI and what takes long", ("book", "test"), ("test", "--all")
    ),
    "site": Target("build the book into site/", ("book",), ("site",)),
    "lab": Target("open the chapters in JupyterLab", ("book",), ("lab",)),
    "bench": Target("measure, put the numbers into README.md (ARGS=book: the book's)", ("book", "test"), ("bench",)),
    "gen": Target("regenerate the generated code from the yaml tables", ("test",), ("gen",)),
}
OTHERS = {
    "clean": "remove what was built, never an answer (ARGS=--all: also .venv)",
    "help": "print this list",
}


def usage() -> str:
    """The list of targets."""
    rows = {**{name: target.summary for name, target in TARGETS.items()}, **OTHERS}
    lines = [f"  make {name:<10}{summary}" for name, summary in rows.items()]
    return "\n".join(
        ["Glass Torch: PyTorch, visible from the inside.", "", *lines, "",
         "Begin with: make study", "Without make: python3 workbook/bootstrap.py study"]
    )  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    """Run the target. Returns its exit code."""
    name, *rest = arguments or ["help"]
    if name in ("help", "-h", "--help"):
        print(usage())
        return 0
    if name == "clean":
        return clean.main(rest, ROOT)
    if name not in TARGETS:
        print(
            f"There is no target {name!r}. The targets are: {', '.join([*TARGETS, *OTHERS])}.",
            file=sys.stderr,
        )
        return 2
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    target = TARGETS[name]
    environment = Environment(ROOT)
    try:
        environment.ensure([*target.extras, *oracles.extras(name)])
        oracles.install_tools(name)
    except SetupError as error:
        print(f"\n{error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Run the same command again to go on.", file=sys.stderr)
        return STOPPED
    return hand_over([str(environment.python), "-m", "workbook", *target.command, *rest])


def hand_over(command: list[str], environment: Mapping[str, str] = os.environ) -> int:
    """Replace this process by the command, so that Ctrl-C and the exit code are its own."""
    sys.stdout.flush()
    if os.name != "nt":
        os.execve(command[0], command, environment)
    try:
        return subprocess.call(command, env=environment)
    except KeyboardInterrupt:
        return STOPPED
