"""What holds for every test: a skip says why, and in CI there is none.

A test whose tool is missing (torch, chromium, node, the network) skips with a reason: a reader need not have
it. With `CI=true` the same skip is a failure, decided here once, whichever way the test skipped. A test that
needs what no installation can give (a GPU) is marked instead, and not selected.
"""

from __future__ import annotations

import importlib
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

IN_CI = os.environ.get("CI", "").lower() == "true"
COMPILERS = ("g++", "clang++")  # one of them is enough to simulate a CUDA device
FAILED_STEPS = "GLASSTORCH_FAILED_STEPS"  # written by workbook/checks.py


@pytest.fixture(scope="session")
def require() -> Callable[[str], Any]:
    """Gives a module (`require("torch")`) or a program's path; skips the test where it is missing."""
    return _required


@pytest.fixture(params=["glasstorch", "torch"])
def torch(request: pytest.FixtureRequest, require: Callable[[str], Any]) -> Any:
    """The library under test: ours and, where it is installed, PyTorch.

    A test that passes on both states a fact about PyTorch that glasstorch has too. What is true of ours alone asks for
    no `torch` and imports glasstorch by name.
    """
    return require(request.param)


def _required(name: str) -> Any:
    if path := shutil.which(name):
        return path
    try:
        return importlib.import_module(name)
    except ImportError:
        pytest.skip(f"{name} is not installed")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip notebooks that run CUDA kernels on the simulator where there is no compiler for it."""
    if any(shutil.which(name) for name in COMPILERS):
        return
    for item in items:
        if item.path.suffix == ".ipynb" and _simulates(item.path):
            item.add_marker(pytest.mark.skip(reason=f"{COMPILERS[0]} is not installed"))


@cache
def _simulates(notebook: Path) -> bool:
    """Whether a notebook switches the simulator on."""
    return "use_simulator" in notebook.read_text(encoding="utf-8")


def _as_failure(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure, unless it is an expected failure (which pytest reports as a skip too)."""
    if IN_CI and report.skipped and not hasattr(report, "wasxfail"):
        where = report.longrepr
        reason = where[2] if isinstance(where, tuple) else str(where)
        report.outcome = "failed"
        report.longrepr = f"{reason}\nWith CI=true no tool may be missing: install it, or mark what cannot run here."


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why a test was skipped, in the words that most say it with."""
    where = report.longrepr
    text = where[2] if isinstance(where, tuple) else str(where)
    text = text.removeprefix("Skipped: ")
    missing = re.fullmatch(r"could not import '(\w+)'.*", text)
    return f"{missing[1]} is not installed" if missing else text


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """Judge the skips of tests."""
    report = yield
    _as_failure(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    """Judge the skips of whole files."""
    report = yield
    _as_failure(report)
    return report


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count the skips by reason, and repeat what failed before the tests: `make test` fails, whatever pytest says."""
    reasons = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", []))
    if reasons:
        terminalreporter.section("not run here")
        for reason, count in reasons.most_common():
            terminalreporter.line(f"{count} tests: {reason}")
        terminalreporter.line("With CI=true, `make test` installs what is missing and skips nothing.")
    if failed := os.environ.get(FAILED_STEPS):
        terminalreporter.section("failed before the tests", red=True)
        terminalreporter.line(f"{failed}: see the top of this output")
