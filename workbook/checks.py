"""Which checks does `make test` run? Style, types, generated code, tests.

A step before the tests that fails makes the run fail, but the tests still run, so that one run says all
that is wrong. The tests are one pytest session, and its summary is the last thing printed.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from workbook.oracles import in_ci
from workbook.progress import Progress, run

FAILED_STEPS = "GLASSTORCH_FAILED_STEPS"  # tests/conftest.py repeats them above pytest's last line


class Step(NamedTuple):
    """One check before the tests, as arguments of Python, and the command that fixes most of what it finds."""

    name: str
    arguments: tuple[str, ...]
    remedy: str

    def command(self) -> list[str]:
        """What runs it."""
        return [sys.executable, *self.arguments]


STEPS = (
    Step(
        "ruff check", ("-m", "ruff", "check", "--quiet", "--output-format=concise", "."), "python -m ruff check --fix ."
    ),
    Step("ruff format", ("-m", "ruff", "format", "--check", "--quiet", "."), "python -m ruff format ."),
    Step("generated code", ("-m", "glasstorch.operators.gen", "--check"), "make gen"),
)
# It takes longer than all the others: it starts before them, and is waited for after them.
LONGEST = Step("mypy", ("-m", "mypy", "--no-error-summary"), "fix the types that it names")
# In CI nothing that the tests import has been compiled yet. One process does that here, while mypy keeps one core busy;
# otherwise each worker would do all of it.
COLLECTION = Step("tests collected", ("-m", "pytest", "--collect-only", "-qq", "tests"), "mend what these files import")
# Three workers for two cores, as tests often wait for what they started. A file's tests stay together, in the order
# given: tests/conftest.py puts the heaviest files first.
SESSION = (
    "-n",
    "3",
    "--dist",
    "loadfile",
    "--no-loadscope-reorder",
    "--durations=8",
    "--durations-min=10",
    "--continue-on-collection-errors",
)
# By name: what pytest finds by itself costs two seconds in each of its processes, most of them for notebooks.
PLUGINS = ("xdist.plugin", "pytest_timeout", "_hypothesis_pytestplugin")
NOTEBOOKS = (
    "-p",
    "nbval.plugin",
    "--nbval",
    "--nbval-current-env",
    "--nbval-cell-timeout=300",
    f"--nbval-sanitize-with={Path(__file__).with_name('nbval.cfg')}",
    "--ignore-glob=*/.ipynb_checkpoints/*",
)
# Workers share the cores: threads of BLAS and OpenMP that spin while they wait take time from the tests beside them.
QUIET_THREADS = {"OPENBLAS_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive"}
# What is selected in place of pyproject.toml's selection, which is CI's.
EVERYTHING = ("-m", "not gpu")
FOR_A_READER = ("-m", "not gpu and not slow and not ci")


def run_checks(root: Path, *, everything: bool) -> int:
    """Run every step, then the tests; outside of CI, without the slowest tests. Returns the exit code."""
    if in_ci():
        from workbook.pythons import others, summary

        print(f"{summary(others())}\n", flush=True)
    failed = failing((*STEPS, COLLECTION) if in_ci() else STEPS, LONGEST, root)
    environment = surroundings()
    if failed:
        environment[FAILED_STEPS] = ", ".join(failed)
        print(
            f"Failed so far: {', '.join(failed)}. The tests still run, but this run will fail.\n",
            flush=True,
        )
    command = [sys.executable, "-m", "pytest", *SESSION, *chosen(everything)]
    try:
        code = subprocess.call(command, cwd=root, env=environment)
    except KeyboardInterrupt:
        return 130
    return code or int(bool(failed))


def chosen(everything: bool) -> tuple[str, ...]:
    """The tests to run, as arguments of pytest.

    CI builds each notebook again and compares all its bytes (tests/book/test_rebuilt.py); elsewhere an output may
    differ in what nbval passes over.
    """
    if everything:
        return (*NOTEBOOKS, *EVERYTHING, "tests", "chapters")
    return ("tests",) if in_ci() else (*FOR_A_READER, "tests")


def failing(steps: Sequence[Step], longest: Step, root: Path) -> list[str]:
    """The names of the steps that find something, which is printed; the longest step runs beside the others."""
    began = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        beside = pool.submit(quietly, longest, root)
        failed = [step.name for step in steps if not passes(step, root)]
        with Progress(longest.name) as progress:
            progress.started = began
            code, output = beside.result()
    return failed if is_fine(longest, code, output) else [*failed, longest.name]


def passes(step: Step, root: Path) -> bool:
    """Whether the step finds nothing; its findings are printed."""
    return is_fine(step, *run(step.name, step.command(), folder=root, environment=surroundings()))


def quietly(step: Step, root: Path) -> tuple[int, str]:
    """Its exit code and all its output, without a line that says how far it is."""
    done = subprocess.run(
        step.command(), cwd=root, env=surroundings(), check=False, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    return done.returncode, done.stdout


def is_fine(step: Step, code: int, output: str) -> bool:
    """Whether the step found nothing; prints what it found."""
    if code != 0:
        print(f"{output.rstrip()}\n  -> {step.remedy}\n", flush=True)
    return code == 0


def surroundings() -> dict[str, str]:
    """The environment variables of steps and tests."""
    return without_leftovers() | plugins_by_name(*PLUGINS) | QUIET_THREADS


def plugins_by_name(*plugins: str) -> dict[str, str]:
    """The environment variables that make pytest load these plugins and no others."""
    return {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": ",".join(plugins)}


def without_leftovers() -> dict[str, str]:
    """The environment without variables that would change the result or the speed of the checks."""
    unwanted = {"PYTHONDONTWRITEBYTECODE", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", FAILED_STEPS}
    return {name: value for name, value in os.environ.items() if name not in unwanted}
