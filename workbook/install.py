"""Is what a target needs installed in .venv, and how is it installed if not?

`.venv` belongs to `make`: what is broken in it is made anew. A note inside it says what was installed,
and counts as unfinished until the installation ends well, so that an interrupted one is noticed.
Standard library only: `bootstrap.py` uses it before anything is installed.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO, TypedDict, cast

from workbook.bootstrap import OLDEST
from workbook.failures import SetupError, told
from workbook.progress import Progress, run

NOTE = "glasstorch.json"
EMPTY = 10  # a new environment holds pip, and little else
DECLARATIONS = ("requires-python", "dependencies", "optional-dependencies", "scripts", "name", "version")
VERSION_PART = re.compile(r"-[^-]+\.(dist-info)$")


class Note(TypedDict):
    """What the last installation did. Without this note, or with another fingerprint, it is repeated."""

    finished: bool
    folder: str  # a virtual environment that was moved is broken: its scripts name the old place
    fingerprint: str
    extras: list[str]
    entries: list[str]  # what stood in site-packages, without versions


class Environment:
    """A virtual environment of one clone: `.venv`, or another one with another Python and more packages."""

    def __init__(
        self, root: Path, folder: Path | None = None, base: str | None = None, besides: Sequence[str] = ()
    ) -> None:
        self.root = root
        self.folder = folder or root / ".venv"
        self.base = base  # the Python that makes it; the one that runs this where it is None
        self.besides = tuple(besides)  # requirements that no extra holds, and options of pip
        self.cache = root / ".cache"
        self.log = self.cache / "install.log"
        windows = os.name == "nt"
        self.python = self.folder / ("Scripts/python.exe" if windows else "bin/python")

    def ensure(self, extras: Sequence[str]) -> None:
        """Make sure that `.venv` has the project and these extras; takes milliseconds if it already does."""
        try:
            self.cache.mkdir(exist_ok=True)
            with self.alone():
                self._ensure(extras)
        except OSError as error:
            raise told(f"Setting up {self.folder}", f"ERROR: {error}") from error

    def _ensure(self, extras: Sequence[str]) -> None:
        before = self.note()
        wanted = sorted({*extras, *(before["extras"] if before else ())})
        if reason := self.broken():
            if self.folder.exists() or self.folder.is_symlink():
                print(f"{reason}; making a new .venv.", flush=True)
            self.create()
        elif before and before["fingerprint"] == self.fingerprint() and before["extras"] == wanted:
            return
        self.install(wanted)

    # --- what is there ---

    def note(self) -> Note | None:
        """The note of the last installation, or None if there was none."""
        try:
            read = json.loads((self.folder / NOTE).read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        complete = isinstance(read, dict) and read.keys() >= Note.__required_keys__
        return cast(Note, read) if complete else None

    def broken(self) -> str:
        """Why `.venv` must be created (again), or nothing if it can stay."""
        if not self.folder.exists():
            return "There is no .venv yet"
        note = self.note()
        if note is None and not (self.folder / "pyvenv.cfg").exists() and any(self.folder.iterdir()):
            raise SetupError(
                f"{self.folder} is there, but it is not a Python environment, and it is not empty.\n"
                "Move it away, then run the same command again."
            )
        if note and not note["finished"]:
            return "The last installation did not finish"
        if note and note["folder"] != str(self.folder):
            return f"This .venv was made for {note['folder']}"
        if not starts(self.python):
            return "The Python in .venv does not start, or is too old"
        present = self.entries()
        if "pip" not in present:
            return "There is no pip in .venv"
        if note and (lost := sorted(set(note["entries"]) - present)):
            return f"Something is missing from .venv ({', '.join(lost[:3])})"
        if half := sorted(self.half_installed()):
            return f"A package in .venv is half installed ({', '.join(half[:3])})"
        return ""

    def packages(self) -> Path:
        """The folder that holds the installed packages."""
        if os.name == "nt":
            return self.folder / "Lib" / "site-packages"
        found = sorted(self.folder.glob("lib/python3.*/site-packages"))
        return found[-1] if found else self.folder / "lib" / "site-packages"

    def entries(self) -> set[str]:
        """The names in site-packages, those of records without their version, because an upgrade is no damage."""
        folder = self.packages()
        names = os.listdir(folder) if folder.is_dir() else []
        return {VERSION_PART.sub(r".\1", name) for name in names if not name.startswith("~") and name != "__pycache__"}

    def half_installed(self) -> set[str]:
        """Packages without a list of their files; pip writes that last, so it was interrupted."""
        return {path.name for path in self.packages().glob("*.dist-info") if not (path / "RECORD").exists()}

    def fingerprint(self) -> str:
        """Changes when the declared dependencies do, or the Python behind `.venv`."""
        declared = tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))
        project = {name: declared["project"].get(name) for name in DECLARATIONS}
        facts = [project, declared["build-system"], declared["tool"]["hatch"], os.path.realpath(self.python)]
        facts += self.besides
        return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()

    # --- what is done ---

    def write_note(self, *, finished: bool, extras: Sequence[str] = (), fingerprint: str = "") -> None:
        """Record the progress of the installation."""
        entries = sorted(self.entries()) if finished else []
        note = Note(
            finished=finished,
            folder=str(self.folder),
            fingerprint=fingerprint,
            extras=list(extras),
            entries=entries,
        )
        (self.folder / NOTE).write_text(json.dumps(note, indent=1) + "\n", encoding="utf-8")

    def create(self) -> None:
        """Create an empty `.venv` with pip, replacing whatever exists."""
        if self.folder.is_symlink():
            self.folder.unlink()
        elif self.folder.exists():
            with Progress("Removing the old .venv"):
                shutil.rmtree(self.folder)
        self.folder.mkdir()
        self.write_note(finished=False)
        base, title = self.base, f"Making {self.folder.relative_to(self.root)}"
        if base is None:
            base = getattr(sys, "_base_executable", sys.executable)  # not the Python of the .venv that was just removed
            title += " (Python {}.{}.{})".format(*sys.version_info)
        code, output = run(title, [base, "-m", "venv", str(self.folder)], folder=self.root)
        if code != 0:
            raise told("Making .venv", output, self.keep_log(output))
        (self.folder / NOTE).unlink()

    def install(self, extras: Sequence[str]) -> None:
        """Install the project, editable, with these extras."""
        self.write_note(finished=False, extras=extras)
        target = f".[{','.join(extras)}]" if extras else "."
        options = [
            "--no-input",
            "--disable-pip-version-check",
            "--no-warn-script-location",
            "--editable",
            target,
            *self.besides,
        ]
        command = [str(self.python), "-m", "pip", "install", *options]
        what = f"Installing glasstorch[{', '.join(extras)}]" if extras else "Installing glasstorch"
        if len(self.entries()) < EMPTY:
            print("The first installation takes a minute or two.", flush=True)
        code, output = run(what, command, folder=self.root, environment=pip_environment(), detail=pip_detail)
        log = self.keep_log(output)
        if code != 0:
            if "Installing collected packages" not in output:
                (self.folder / NOTE).unlink()  # nothing was installed yet, so nothing is half installed
            raise told(what, output, log)
        self.write_note(finished=True, extras=extras, fingerprint=self.fingerprint())

    def keep_log(self, output: str) -> Path | None:
        """The file with the output of the installer; none if the disk is full."""
        try:
            self.log.write_text(output, encoding="utf-8")
        except OSError:
            return None
        return self.log

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the clone's installation lock; while another command holds it, print that and wait."""
        with (self.cache / "install.lock").open("a") as stream:
            if not take(stream):
                with Progress("Waiting: another command is installing into .venv"):
                    while not take(stream):
                        time.sleep(0.2)
            yield


if sys.platform == "win32":
    import msvcrt

    def take(stream: TextIO) -> bool:
        """Take the lock if it is free. It is released when the file is closed, also by a crash."""
        try:
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def take(stream: TextIO) -> bool:
        """Take the lock if it is free. It is released when the file is closed, also by a crash."""
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def starts(python: Path) -> bool:
    """Whether this Python runs and is new enough."""
    question = f"import sys; sys.exit(sys.version_info < {OLDEST})"
    try:
        code = subprocess.call(
            [python, "-I", "-S", "-c", question],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return code == 0


def pip_environment() -> dict[str, str]:
    """The environment variables for pip, without settings that make no sense in our own environment."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PIP_USER", "PIP_TARGET", "PIP_PREFIX"}}
    return {"PIP_RETRIES": "2"} | kept | {"PYTHONUNBUFFERED": "1", "PIP_PROGRESS_BAR": "off"}


def pip_detail(line: str) -> str:
    """The progress that one line of pip's output reports."""
    match line.split():
        case ["Collecting" | "Downloading" | "Using" | "Building" as verb, *rest] if rest:
            return f"{verb} {rest[-1] if verb == 'Using' else rest[0]}"[:70]
        case ["Installing", "collected", *rest]:
            return f"Unpacking {len(rest) - 1} packages"
        case ["WARNING:", "Retrying", *_]:
            return "No answer from the package index; trying again"
    return ""
