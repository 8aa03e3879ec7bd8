"""Which checks does `make test` run? Style, types, generated code, tests.

A step before the tests that fails makes the run fail, but the tests still run, so that one run says all
that is wrong. The tests are one pytest session, and its summary is the last thing printed.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from workbook.oracles import in_ci
from workbook.progress import run

FAILED_STEPS = "GLASSTORCH_FAILED_STEPS"  # tests/conftest.py repeats them above pytest's last line


class Step(NamedTuple):
    """One check before the tests, as arguments of Python, and the command that fixes most of what it finds."""

    name: str
    arguments: tuple[str, ...]
    remedy: str


STEPS = (
    Step(
        "ruff check", ("-m", "ruff", "check", "--quiet", "--output-format=concise", "."), "python -m ruff check --fix ."
    ),
    Step("ruff format", ("-m", "ruff", "format", "--check", "--quiet", "."), "python -m ruff format ."),
    Step("mypy", ("-m", "mypy", "--no-error-summary"), "fix the types that it names"),
    Step("generated code", ("-m", "glasstorch.operators.gen", "--check"), "make gen"),
)
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
# What is selected in place of pyproject.toml's selection, which is CI's.
EVERYTHING = ("-m", "not gpu")
FOR_A_READER = ("-m", "not gpu and not slow and not ci")


def run_checks(root: Path, *, everything: bool) -> int:
    """Run every step, then the tests; outside of CI, without the slowest tests. Returns the exit code."""
    if in_ci():
        from workbook.pythons import others, summary

        print(f"{summary(others())}\n", flush=True)
    failed = [step.name for step in STEPS if not passes(step, root)]
    environment = without_leftovers() | plugins_by_name(*PLUGINS)
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


def passes(step: Step, root: Path) -> bool:
    """Whether the step finds nothing; its findings are printed."""
    code, output = run(step.name, [sys.executable, *step.arguments], folder=root, environment=without_leftovers())
    if code != 0:
        print(f"{output.rstrip()}\n  -> {step.remedy}\n", flush=True)
    return code == 0


def plugins_by_name(*plugins: str) -> dict[str, str]:
    """The environment variables that make pytest load these plugins and no others."""
    return {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": ",".join(plugins)}


def without_leftovers() -> dict[str, str]:
    """The environment without variables that would change the result or the speed of the checks."""
    unwanted = {"PYTHONDONTWRITEBYTECODE", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", FAILED_STEPS}
    return {name: value for name, value in os.environ.items() if name not in unwanted}
