"""Are the other Pythons of a machine found, and does each get what it is tried with?"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from workbook import pythons
from workbook.pythons import Interpreter, absent, left_out, others, requirements, summary, try_on

ROOT = Path(__file__).parents[2]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with no Python on its path, and a folder for pyenv's."""
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setattr(pythons.shutil, "which", lambda name: None)
    return tmp_path


def installed(machine: Path, version: str, said: str = "", code: int = 0) -> str:
    """A program that answers as a Python of this version does."""
    program = machine / "versions" / version / "bin" / "python"
    program.parent.mkdir(parents=True)
    said = said or f"{version.replace('.', ' ')} {program}"
    program.write_text(f"#!/bin/sh\necho '{said}'\nexit {code}\n")
    program.chmod(0o755)
    return str(program)


@pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")
def test_the_newest_of_each_other_series_is_found(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for version in ("3.9.1", "3.98.2", f"3.{sys.version_info[1]}.99"):  # too old; older than another; the running one
        installed(machine, version)
    newer, other = installed(machine, "3.98.10"), installed(machine, "3.99.0")
    installed(machine, "3.97.0", code=1)  # does not start
    shim = installed(machine, "shim", said=f"3 99 0 {other}")
    monkeypatch.setattr(pythons.shutil, "which", lambda name: shim if name == "python3.12" else None)
    found = others()
    assert found == [Interpreter((3, 98, 10), newer), Interpreter((3, 99, 0), other)]
    assert summary(found) == f"Other Pythons on this machine: 3.98.10 ({newer}), 3.99.0 ({other})"


def test_where_there_is_none_that_is_said(machine: Path) -> None:
    assert summary(others()) == "Other Pythons on this machine: none"


def test_the_running_python_is_a_python() -> None:
    found = pythons.asked(sys.executable)
    assert found is not None
    assert found.version == sys.version_info[:3]
    assert pythons.asked(str(ROOT / "no-such-python")) is None


def test_the_lowest_numpy_is_the_declared_one() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    (numpy,) = [line for line in declared if line.startswith("numpy")]
    (pin,) = set(requirements(ROOT, lowest=True)) - set(requirements(ROOT, lowest=False))
    assert numpy.startswith(pin.replace("==", ">=").removesuffix(".*"))


def test_all_that_is_needed_is_declared() -> None:
    assert {pythons.name_of(line) for line in requirements(ROOT, lowest=False)} == pythons.NEEDED


def test_a_series_that_is_missing_is_named() -> None:
    found = [Interpreter((3, 98, 1), "/bin/python3.98")]
    here = sys.version_info[:2]
    assert absent(found, [here, (3, 97), (3, 98), (3, 99)]) == "Not on this machine, and so not tried: 3.97, 3.99"
    assert absent(found, [here, (3, 98)]) == "Not on this machine, and so not tried: none"


def test_what_fails_is_shown(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text("def test_a():\n    assert 6 * 7 == 43, 'the answer'\n")
    code, output = try_on(Path(sys.executable), tmp_path, ["test_a.py"])
    assert code == 1
    assert "AssertionError: the answer" in output


def test_a_notebook_of_one_pythons_bytecode_is_left_out(tmp_path: Path) -> None:
    head = "# A title\n\n*25 minutes. Needs: {}, and [FX](fx.md). You will see.*\n"
    (tmp_path / "chapters" / "06-jit").mkdir(parents=True)
    heads = (
        ("guards", "CPython 3.11"), ("fx", "a graph of CPython 3.11"), ("ir", "a look"),
        ("breaks", "CPython 3.11 to 3.13"),
    )  # fmt: skip
    for name, needs in heads:
        (tmp_path / "chapters" / "06-jit" / f"{name}.md").write_text(head.format(needs), encoding="utf-8")
    breaks, guards = "--ignore=chapters/06-jit/breaks.ipynb", "--ignore=chapters/06-jit/guards.ipynb"
    left = {series: left_out(tmp_path, series) for series in ("3.11", "3.12", "3.13", "3.14")}
    assert left == {"3.11": [], "3.12": [guards], "3.13": [guards], "3.14": [breaks, guards]}
