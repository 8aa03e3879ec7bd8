"""Does a skip for a missing tool fail in CI, and only there, and is what compares with torch left out without it?"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import HEAVIEST_FIRST, in_order, share_of_exercises, time_by_folder

ROOT = Path(__file__).parents[1]
CASES = """
import pytest

def test_module(require):
    require("no_such_module")

def test_program(require):
    assert require("no-such-program")

def test_present(require):
    assert require("json").dumps(1) == "1"

def test_plain_skip():
    pytest.skip("nothing to see")

@pytest.mark.skipif(True, reason="marked")
def test_marked():
    raise AssertionError

@pytest.mark.xfail(strict=True)
def test_expected_failure():
    raise AssertionError
"""
WHOLE_FILE = "import pytest\n\npytest.importorskip('no_such_module')\n"


def outcomes(folder: Path, *arguments: str, **environment: str) -> tuple[dict[str, int], str]:
    """How many tests passed, failed and so on in a run with these variables, and all that it printed."""
    shutil.copy(Path(__file__).with_name("conftest.py"), folder)
    (folder / "test_cases.py").write_text(CASES)
    (folder / "test_whole_file.py").write_text(WHOLE_FILE)
    unset = {"CI", "GLASSTORCH_FAILED_STEPS", "PYTEST_ADDOPTS", "PYTEST_PLUGINS"}
    kept = {name: value for name, value in os.environ.items() if name not in unset and "XDIST" not in name}
    kept["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-rsf",
        "-p",
        "no:cacheprovider",
        "--continue-on-collection-errors",
        "--rootdir",
        str(folder),
        *(arguments or [str(folder)]),
    ]
    done = subprocess.run(command, cwd=folder, env=kept | environment, capture_output=True, text=True, check=False)
    last = done.stdout.splitlines()[-1]
    return {kind: int(count) for count, kind in re.findall(r"(\d+) (\w+)", last.partition(" in ")[0])}, done.stdout


def test_the_files_that_begin_are_there() -> None:
    files = HEAVIEST_FIRST.read_text(encoding="utf-8").split()
    assert [file for file in files if not (ROOT / file).is_file()] == []
    assert len(set(files)) == len(files)


def test_the_heaviest_files_come_first_and_the_others_as_they_were() -> None:
    first = ROOT / HEAVIEST_FIRST.read_text(encoding="utf-8").split()[1]
    paths = [ROOT / "tests" / name for name in ("test_b.py", "test_a.py")]
    items = [SimpleNamespace(path=path) for path in (*paths, first)]
    assert [item.path for item in in_order(items, ROOT)] == [first, *paths]


WITHOUT_TORCH = """
import sys
from importlib.abc import MetaPathFinder

class NoTorch(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError("No module named 'torch'", name=name)

sys.meta_path.insert(0, NoTorch())
"""
COMPARING = """
import pytest
from functools import partial

def test_of_a_pair(torch):
    assert torch.ones(2).tolist() == [1, 1]

def test_that_asks(require):
    require("torch")

def test_that_asks_pytest():
    assert pytest.importorskip("torch")

def helper():
    return pytest.importorskip("torch")

def test_whose_helper_asks():
    helper()

def test_of_both(require):
    one, other = map(require, ("json", "torch"))

@pytest.fixture
def other(require):
    return require("torch")

def test_whose_fixture_asks(other):
    pass

def may_ask(require, name):
    return require("torch") if name == "torch" else require(name)

@pytest.mark.parametrize("name", ["json", "torch"])
def test_whose_helper_may_ask(require, name):
    may_ask(require, name)

@pytest.mark.parametrize("name", ["torch"])
def test_that_only_names_it(name):
    assert name == "torch"
"""


def comparing(folder: Path, **environment: str) -> tuple[dict[str, int], str]:
    """The outcomes of tests that compare with torch, where it is not installed."""
    (folder / "without_torch.py").write_text(WITHOUT_TORCH)
    (folder / "test_comparing.py").write_text(COMPARING)
    paths = os.pathsep.join([str(folder), str(Path(__file__).parents[1] / "reference")])
    return outcomes(folder, "-p", "without_torch", "test_comparing.py", PYTHONPATH=paths, **environment)


def test_what_compares_with_torch_is_left_out_where_it_is_not_installed(tmp_path: Path) -> None:
    counts, output = comparing(tmp_path)
    assert counts == {"passed": 3, "skipped": 1, "deselected": 6}
    assert "\n6 tests compare with torch and were left out; CI runs them.\n" in output


def test_nothing_is_left_out_in_ci(tmp_path: Path) -> None:
    counts, output = comparing(tmp_path, CI="true")
    assert counts == {"passed": 3, "failed": 5, "errors": 2}
    assert "left out" not in output


def test_a_missing_tool_is_a_skip_for_a_reader(tmp_path: Path) -> None:
    counts, output = outcomes(tmp_path)
    assert counts == {"passed": 1, "skipped": 5, "xfailed": 1}
    assert "no_such_module is not installed" in output
    assert "no-such-program is not installed" in output


def test_a_missing_tool_is_a_failure_in_ci(tmp_path: Path) -> None:
    counts, output = outcomes(tmp_path, CI="true")
    assert counts == {"passed": 1, "failed": 3, "xfailed": 1, "errors": 2}
    assert "no_such_module is not installed\nWith CI=true no tool may be missing" in output


@pytest.mark.parametrize("steps", ["mypy", "ruff check, mypy"])
def test_what_failed_before_the_tests_is_said_above_the_last_line(tmp_path: Path, steps: str) -> None:
    _, output = outcomes(tmp_path, GLASSTORCH_FAILED_STEPS=steps)
    assert f"{steps}: see the top of this output" in output.splitlines()[-12:]


def alone(plugin: str = "") -> dict[str, str]:
    """The environment for a pytest with this plugin and no other."""
    return os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": plugin, "PYTEST_ADDOPTS": ""}


def test_where_only_the_book_is_installed_the_tests_say_what_to_run(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    settings = '[tool.pytest.ini_options]\naddopts = ["--strict-config"]\ntimeout = 5\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, env=alone(), capture_output=True, text=True, check=False)
    assert done.returncode == pytest.ExitCode.USAGE_ERROR
    assert "the tests need pytest-timeout, which is not installed" in done.stderr
    assert "run `make test` once, or: " in done.stderr
    assert "Unknown config option" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="Windows has no signals that are ignored")
def test_what_tests_start_hears_ctrl_c_where_the_run_itself_was_told_to_ignore_it(tmp_path: Path) -> None:
    test = "import signal\ndef test_it():\n    assert signal.getsignal(signal.SIGINT) is not signal.SIG_IGN\n"
    (tmp_path / "test_it.py").write_text(test)
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "2", str(tmp_path)]
    done = subprocess.run(
        command, cwd=tmp_path, env=alone("xdist.plugin"), capture_output=True, text=True, check=False,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


def test_the_share_of_the_exercises_is_told() -> None:
    durations = [("tests/exercises/test_exercises.py::a", 3.0), ("tests/workbook/exercises/test_say.py::b", 1.0)]
    assert share_of_exercises([*durations, ("tests/core/test_keys.py::c", 12.0)]) == (
        "Exercises: 4 s of 16 s of tests (25%)."
    )
    assert share_of_exercises([("tests/core/test_keys.py::c", 12.0)]) == ""


def test_the_folders_that_take_long_are_told() -> None:
    durations = [("tests/core/test_keys.py::a", 40.0), ("tests/core/test_geometry.py::b", 30.0)]
    durations += [("tests/test_plain.py::c", 90.0), ("tests/nn/test_linear.py::d", 59.0)]
    assert time_by_folder(durations) == "Where the time went: test_plain.py 90 s, core 70 s."
    assert time_by_folder(durations[:1]) == ""
