"""What is on this machine, what is missing, and what does its absence cost the reader?"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from workbook.book import vendor
from workbook.bootstrap import OLDEST
from workbook.exercises.catalogue import FOLDER, TO_BRING_BACK, ExerciseError, restore, survey
from workbook.exercises.say import command, has_colour, installation, paint, say, typed, width

THERE, MISSING, WITHOUT = "there", "missing", "without"
MARKS = {THERE: ("ok", "green"), MISSING: ("MISSING", "red"), WITHOUT: ("no", "yellow")}
# What the three rungs of a check need; without one of these the exercises cannot run.
NEEDED = ("numpy", "ml_dtypes", "pytest", "nbval", "ipykernel", "nbformat")
TYPEFACES = ("fontpkg-source-serif-4", "fontpkg-source-sans-3", "fontpkg-source-code-pro")
PATIENCE = 20  # seconds that a question to another program may take


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for."""

    name: str
    state: str  # THERE; MISSING: the exercises cannot run; WITHOUT: something cannot be done without it
    found: str
    cost: str = ""
    remedy: str = ""


def doctor(root: Path) -> int:
    """Print what was found. Returns 1 if the exercises cannot run, else 0."""
    findings = []
    for look in LOOKS:
        for finding in look(root):
            findings.append(finding)
            tell(finding)
    bad = [finding.name for finding in findings if finding.state == MISSING]
    print()
    if bad:
        say(f"The exercises cannot run yet: {', '.join(bad)}. Fix the first of these, then {command('doctor')} again.")
        return 1
    without = [finding.name for finding in findings if finding.state == WITHOUT]
    say("The exercises can run." + (" What is marked `no` is not needed for them." if without else ""))
    say(f"Go on: {command('next')}")
    return 0


def tell(finding: Finding) -> None:
    """Print one finding: a line, and below it what its absence costs and how to fix it."""
    mark, colour = MARKS[finding.state]
    print(f"{paint(f'{mark:<8}', colour)}", end="")
    say(f"{finding.name}: {finding.found}", "", " " * 8)
    for text in (finding.cost, f"To fix it: {finding.remedy}" if finding.remedy else ""):
        if text:
            say(text, " " * 8)
    sys.stdout.flush()


# --- the looks, in the order in which they are told ---


def look_at_python(root: Path) -> Iterator[Finding]:
    """The Python that runs this, and whether it is the clone's own."""
    found = f"{'.'.join(map(str, sys.version_info[:3]))}, {sys.executable}"
    own = root / ".venv"
    remedy = "make study, or: python3 workbook/bootstrap.py study"
    if sys.version_info[:2] < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        yield Finding("Python", MISSING, found, f"Python {wanted} or newer is needed.", remedy)
    elif own.is_dir() and Path(sys.prefix).resolve() != own.resolve():
        cost = "It is not the one in .venv, so what `make study` installed is not seen."
        yield Finding("Python", WITHOUT, found, cost, f"start the command as {shown_program(own)}")
    else:
        yield Finding("Python", THERE, found)


def shown_program(own: Path) -> str:
    """The path of the clone's own command."""
    return typed(own / ("Scripts/workbook.exe" if os.name == "nt" else "bin/workbook"))


def look_for_packages(root: Path) -> Iterator[Finding]:
    """The packages that a check needs."""
    absent = [name for name in NEEDED if installed(name) is None]
    if absent:
        cost = "A check runs its tests and the lab sheet with them."
        yield Finding("packages", MISSING, f"{', '.join(absent)} not installed", cost, "make study")
    else:
        yield Finding("packages", THERE, ", ".join(f"{name} {installed(name)}" for name in NEEDED))


def look_for_jupyter(root: Path) -> Iterator[Finding]:
    """JupyterLab, for the lab sheets and chapters."""
    absent = [name for name in ("jupyterlab", "jupytext") if installed(name) is None]
    if absent:
        cost = f"{command('lab')} cannot open notebooks; you can still read the book and write answers."
        yield Finding("JupyterLab", WITHOUT, f"{' and '.join(absent)} not installed", cost, "make study")
    else:
        yield Finding("JupyterLab", THERE, f"{installed('jupyterlab')}, jupytext {installed('jupytext')}")


def look_at_exercises(root: Path) -> Iterator[Finding]:
    """The exercises themselves: whether they can be read, and whether answers can be written beside them."""
    try:
        all_of_them, damaged = survey(root)
    except ExerciseError as error:
        first, *rest = str(error).splitlines()
        yield Finding("exercises", MISSING, first, " ".join(line.strip() for line in rest))
        return
    yield Finding("exercises", THERE, f"{len(all_of_them)} in {root / FOLDER}")
    for one in damaged:
        first, *_, remedy = str(one.error).splitlines()
        yield Finding(f"exercise {one.identity}", WITHOUT, first, "The others go on without it.",
                      remedy.strip().removeprefix(TO_BRING_BACK))  # fmt: skip
    folders = [root / FOLDER, *(exercise.folder for exercise in all_of_them)]
    closed = [folder for folder in folders if not is_writable(folder)]
    if closed:
        cost = "Your answers and your progress are written there."
        places = f"{closed[0]}" + (f" and {len(closed) - 1} more" if len(closed) > 1 else "")
        yield Finding("a place for your answers", MISSING, f"{places} cannot be written to", cost,
                      "give yourself write permission there, or clone into your home folder")  # fmt: skip
    else:
        yield Finding("a place for your answers", THERE, f"{FOLDER}/ can be written to")


def is_writable(folder: Path) -> bool:
    """Whether a file can be created in a folder; this is tried, because permissions alone are not sufficient."""
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def look_at_checks(root: Path) -> Iterator[Finding]:
    """Whether the files that judge an answer are as they were shipped, and what git says about the clone."""
    from workbook.exercises import manifest

    try:
        edited = [name for exercise in survey(root)[0] for name in manifest.edited(root, exercise)]
    except ExerciseError:
        return
    if edited:
        cost = "A check with an edited file does not count as passed."
        remedy = restore(root / FOLDER, list(dict.fromkeys(edited)))
        yield Finding("files of the checks", WITHOUT, f"{', '.join(dict.fromkeys(edited))} edited", cost, remedy)
    else:
        yield Finding("files of the checks", THERE, "unchanged")
    code, output = ask("git", "-C", str(root), "rev-parse", "--is-inside-work-tree")
    if code != 0:
        cost = "New exercises come with `git pull`, and an edited file comes back with `git checkout`."
        yield Finding("git", WITHOUT, output or "not a git clone", f"Not here: {cost}")
    else:
        yield Finding("git", THERE, "a clone; your answers are ignored by it, so `git pull` never touches them")


def look_for_compiler(root: Path) -> Iterator[Finding]:
    """The compiler that later chapters use."""
    names = filter(None, (os.environ.get("CXX"), "g++", "clang++"))  # in the order in which the library looks
    compiler = next((name for name in names if shutil.which(name)), None)
    if compiler is None:
        cost = (
            "Chapter 05 and its exercises compile CUDA kernels for a simulated device. They cannot be run. "
            "Fused loops of traced programs run in NumPy, which is slower."
        )
        yield Finding("compiler", WITHOUT, "no g++", cost, "install g++ with your system's packages")
    else:
        code, output = ask(compiler, "-dumpversion")
        yield Finding("compiler", THERE, f"{compiler} {output if code == 0 else 'is there, but does not start'}")


def look_for_typefaces(root: Path) -> Iterator[Finding]:
    """The typefaces that the next build takes, found as `vendor.vendored` finds them."""
    absent = [name for name in TYPEFACES if installed(name) is None]
    if vendor.place_of_npms(root).is_dir():
        yield Finding("typefaces", THERE, vendor.FROM_NPM)
    elif shutil.which("npm") is not None:
        yield Finding("typefaces", THERE, f"{vendor.FROM_NPM}, which fetches them when the book is built")
    elif absent:
        cost = "The book cannot be built."
        yield Finding("typefaces", WITHOUT, f"{', '.join(absent)} not installed", cost, installation("book"))
    else:
        cost = f"{vendor.ADDED[0].upper()}{vendor.ADDED[1:]}."
        yield Finding("typefaces", THERE, f"{vendor.FROM_PYTHON}, as npm is not installed", cost)


def look_for_gpu(root: Path) -> Iterator[Finding]:
    """A GPU, and CuPy that drives it."""
    code, output = ask("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")
    cards = [line for line in output.splitlines() if line.strip()] if code == 0 else []
    package = next((name for name in ("cupy-cuda13x", "cupy-cuda12x", "cupy") if installed(name)), None)
    cost = "CUDA kernels run on a simulated device, on the CPU; every exercise can be done there."
    if not cards:
        yield Finding("GPU", WITHOUT, "no NVIDIA GPU responds", cost)
    elif package is None:
        remedy = f'{installation("cuda13")}, or ".[cuda12]" for an older driver'
        yield Finding("GPU", WITHOUT, f"{cards[0]}, but CuPy is not installed", cost, remedy)
    else:
        yield Finding("GPU", THERE, f"{cards[0]}, {package} {installed(package)}")


def look_for_torch(root: Path) -> Iterator[Finding]:
    """The real torch, which only comparisons use."""
    found = installed("torch")
    if found is None:
        cost = "Comparisons with torch show what was recorded instead of running it. No exercise needs it."
        yield Finding("torch", WITHOUT, "not installed", cost, installation("torch"))
    elif not found.startswith("2.13"):
        cost = "The book was compared with 2.13; another version may say something else."
        yield Finding("torch", WITHOUT, found, cost, installation("torch"))
    else:
        yield Finding("torch", THERE, found)


def look_at_terminal(root: Path) -> Iterator[Finding]:
    """The width, colours and keyboard of this terminal."""
    words = [f"{shutil.get_terminal_size().columns} columns", "colours" if has_colour() else "no colours"]
    if not sys.stdin.isatty():
        cost = f"{command('watch')} checks on each save, but has no keys here."
        yield Finding("terminal", WITHOUT, f"{', '.join(words)}, no keyboard", cost)
    else:
        yield Finding("terminal", THERE, ", ".join(words) + f"; text is wrapped at {width()}")


LOOKS: tuple[Callable[[Path], Iterator[Finding]], ...] = (
    look_at_python,
    look_for_packages,
    look_for_jupyter,
    look_at_exercises,
    look_at_checks,
    look_for_compiler,
    look_for_typefaces,
    look_for_gpu,
    look_for_torch,
    look_at_terminal,
)


def installed(name: str) -> str | None:
    """The version of an installed package, without importing it."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def ask(*arguments: str) -> tuple[int, str]:
    """A program's exit code and output; 127 if it cannot be started."""
    try:
        done = subprocess.run(
            arguments, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return 127, ""
    return done.returncode, done.stdout.strip()
