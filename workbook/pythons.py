"""Which other Pythons does this machine have, and how is the project tried on each of them?

CI does it: `tests/packaging/test_pythons.py`. Each gets an environment of its own in `.cache/pythons`, with what a
reader needs to run the notebooks; the oldest gets the lowest NumPy that pyproject.toml declares, the others the newest.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from workbook.bootstrap import OLDEST
from workbook.checks import NOTEBOOKS, plugins_by_name, without_leftovers
from workbook.install import Environment

FOLDER = Path(".cache") / "pythons"
LAST = 29  # the highest minor version that is looked for
QUESTION = "import ensurepip, sys, venv; print(*sys.version_info[:3], sys._base_executable)"
# The packages of the extras that the smoke file and the notebooks import.
NEEDED = {
    "array-api-strict", "bytecode", "hypothesis", "ipykernel", "jupytext", "matplotlib", "nbclient", "nbformat",
    "nbval", "networkx", "pytest", "pytest-timeout", "pyyaml", "ruff", "scikit-learn", "sympy",
}  # fmt: skip
LOWEST = re.compile(r">=\s*([\d.]+)")
NAME = re.compile(r"[\w.-]+")
# Of a section's head: the first series whose bytecode it needs, and the last.
OF_SERIES = re.compile(r"^\*\d+ minutes\. Needs: CPython (\d+\.\d+)(?: to (\d+\.\d+))?", re.MULTILINE)


class Interpreter(NamedTuple):
    """A Python that starts and can create environments."""

    version: tuple[int, int, int]
    path: str

    @property
    def series(self) -> str:
        """Major and minor version, as in the names of programs."""
        return "{}.{}".format(*self.version)

    def __str__(self) -> str:
        return "{}.{}.{} ({})".format(*self.version, self.path)


def others() -> list[Interpreter]:
    """The newest Python of each supported series except the running one, oldest series first."""
    newest: dict[str, Interpreter] = {}
    for path in candidates():
        found = asked(path)
        if found is None or found.version[:2] < OLDEST or found.version[:2] == sys.version_info[:2]:
            continue
        if found.series not in newest or newest[found.series].version < found.version:
            newest[found.series] = found
    return sorted(newest.values())


def candidates() -> Iterator[str]:
    """The programs with the usual names, and those that pyenv has installed, whose names only start the chosen one."""
    for minor in range(OLDEST[1], LAST + 1):
        if path := shutil.which(f"python3.{minor}"):
            yield path
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    yield from map(str, sorted(pyenv.glob("versions/3.*/bin/python")))


def asked(path: str) -> Interpreter | None:
    """The Python at a path; None if it does not start or cannot create an environment."""
    try:
        done = subprocess.run(
            [path, "-I", "-c", QUESTION],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    major, minor, micro, executable = done.stdout.strip().split(" ", 3)
    return Interpreter((int(major), int(minor), int(micro)), executable)


def summary(found: Sequence[Interpreter]) -> str:
    """Which other Pythons were found, in a line."""
    return f"Other Pythons on this machine: {', '.join(map(str, found)) or 'none'}"


def absent(found: Sequence[Interpreter], wanted: Sequence[tuple[int, int]]) -> str:
    """Which of the wanted series can be tried nowhere here, in a line."""
    here = {sys.version_info[:2], *(one.version[:2] for one in found)}
    missing = [".".join(map(str, series)) for series in wanted if series not in here]
    return f"Not on this machine, and so not tried: {', '.join(missing) or 'none'}"


def requirements(root: Path, *, lowest: bool) -> list[str]:
    """What is installed besides the project's own dependencies; with `lowest`, also the lowest declared NumPy."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    chosen = [line for extra in ("book", "test") for line in extras[extra] if name_of(line) in NEEDED]
    if lowest:
        (numpy,) = [line for line in project["dependencies"] if name_of(line) == "numpy"]
        bound = LOWEST.search(numpy)
        assert bound, f"{numpy} names no lowest version"
        chosen.append(f"numpy=={bound[1]}.*")
    return list(dict.fromkeys(chosen))


def name_of(requirement: str) -> str:
    """The package that a requirement names.

    >>> name_of("PyYAML>=6,<7")
    'pyyaml'
    """
    found = NAME.match(requirement)
    assert found, requirement
    return found[0].lower()


def environment_of(interpreter: Interpreter, root: Path, *, lowest: bool) -> Environment:
    """The environment of this Python, installed if it does not exist yet or other packages are declared."""
    chosen = ["--no-compile", *requirements(root, lowest=lowest)]  # most of it is never imported
    environment = Environment(root, root / FOLDER / interpreter.series, interpreter.path, chosen)
    environment.folder.parent.mkdir(parents=True, exist_ok=True)
    environment.ensure([])
    return environment


def left_out(root: Path, series: str) -> list[str]:
    """The options that leave out the notebooks of sections that need the bytecode of other Pythons, and say so."""
    texts = sorted((root / "chapters").glob("*/*.md"))
    others = [path for path in texts if not _can_read(path.read_text(encoding="utf-8"), series)]
    return [f"--ignore={path.with_suffix('.ipynb').relative_to(root).as_posix()}" for path in others]


def _can_read(text: str, series: str) -> bool:
    needed = OF_SERIES.search(text)
    if needed is None:
        return True
    first, last, asked = (tuple(map(int, one.split("."))) for one in (needed[1], needed[2] or needed[1], series))
    return first <= asked <= last


def try_on(python: Path, root: Path, paths: Sequence[str]) -> tuple[int, str]:
    """Run these tests and notebooks with a Python. Returns the exit code and all output.

    What it has not got, such as torch, is skipped: this is for what differs between Pythons.
    """
    unwanted = {"CI", "VIRTUAL_ENV"}
    environment = {name: value for name, value in without_leftovers().items() if name not in unwanted}
    environment |= plugins_by_name("pytest_timeout", "_hypothesis_pytestplugin")
    command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *NOTEBOOKS, *paths]
    done = subprocess.run(
        command, cwd=root, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip
    return done.returncode, done.stdout
