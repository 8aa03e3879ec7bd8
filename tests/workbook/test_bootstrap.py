"""Does a Python that is too old get an answer instead of a traceback?"""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

BOOTSTRAP = Path(__file__).parents[2] / "workbook" / "bootstrap.py"

# Another Python is played by telling this one that it is older, before the file runs as a script.
PRETEND = """
import runpy, shutil, sys
sys.version_info = (3, {minor}, 1, "final", 0)
sys.argv = [{path!r}, "test"]
{more}
runpy.run_path({path!r}, run_name="__main__")
"""


def run_as(minor: int, more: str = "") -> subprocess.CompletedProcess[str]:
    script = PRETEND.format(minor=minor, path=str(BOOTSTRAP), more=more)
    return subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)


def test_python_3_6_can_read_the_file() -> None:
    ast.parse(BOOTSTRAP.read_text(encoding="utf-8"), feature_version=(3, 6))


@pytest.mark.parametrize("minor", [6, 10])
def test_an_old_python_is_told_what_to_do(minor: int) -> None:
    done = run_as(minor, "shutil.which = lambda name: None")
    assert done.returncode == 1
    assert f"Glass Torch needs Python 3.11 or newer; this is Python 3.{minor} ({sys.executable})." in done.stderr
    assert "Install a newer one" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_old_python_names_the_newer_one_beside_it() -> None:
    found = f"shutil.which = lambda name: {sys.executable!r} if name == 'python3.12' else None"
    done = run_as(10, found)
    assert done.returncode == 1
    assert "This machine has a newer one; run: " in done.stderr
    assert "python3.12" in done.stderr


def test_a_name_that_does_not_start_is_not_recommended(tmp_path: Path) -> None:
    shim = tmp_path / "python3.12"
    shim.write_text("not a program")
    shim.chmod(0o755)
    found = (
        "import subprocess\n"
        f"shutil.which = lambda name: {str(shim)!r} if name == 'python3.12' else None\n"
        "subprocess.call = lambda *_, **__: 127\n"
    )
    assert "PYTHON=python3.12" not in run_as(10, found).stderr


def test_from_any_folder_it_lists_the_targets(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, BOOTSTRAP], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "make study" in done.stdout
