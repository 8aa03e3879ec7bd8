"""Is what is missing told, with what it costs and how to fix it?"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from tests.workbook.exercises.tree import make_clone, make_exercise
from workbook.book import vendor
from workbook.exercises import doctor as doctors
from workbook.exercises import manifest, say
from workbook.exercises.doctor import MISSING, THERE, WITHOUT, Finding, doctor
from workbook.exercises.say import installation

Output = pytest.CaptureFixture[str]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with an exercise, on a machine that has everything."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(say, "program", lambda: "workbook")
    versions = {"torch": "2.13.0+cpu"}
    monkeypatch.setattr(doctors, "installed", lambda name: versions.get(name, "1.0"))
    monkeypatch.setattr(doctors, "ask", lambda *arguments: (0, "true"))
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    make_clone(tmp_path, "02-tensor-storage/01_strides")
    manifest.write(tmp_path)
    return tmp_path


def found(root: Path, name: str) -> Finding:
    """What was found under this name."""
    (finding,) = [finding for look in doctors.LOOKS for finding in look(root) if finding.name == name]
    return finding


def absent(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Have these packages not installed."""
    monkeypatch.setattr(doctors, "installed", lambda name: None if name in names else "1.0")


def test_where_nothing_is_missing_it_says_how_to_go_on(clone: Path, capsys: Output) -> None:
    assert doctor(clone) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line[:8] for line in lines if line and line[0] != " "} == {"ok      ", "The exer", "Go on: `"}
    assert lines[-2:] == ["The exercises can run.", "Go on: `workbook next`"]


def test_what_is_not_needed_does_not_hinder(clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    absent(monkeypatch, "jupyterlab", "torch", "cupy", "cupy-cuda12x", "cupy-cuda13x")
    monkeypatch.setattr(doctors, "ask", lambda *arguments: (127, ""))
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert doctor(clone) == 0
    text = " ".join(capsys.readouterr().out.split())
    for words in (
        "no JupyterLab: jupyterlab not installed `workbook lab` cannot open notebooks",
        "no git: not a git clone",
        "no compiler: no g++ Chapter 05 and its exercises compile CUDA kernels for a simulated device",
        "Fused loops of traced programs run in NumPy, which is slower.",
        "ok typefaces: TTF files of the Python packages, as npm is not installed The pages are whole; with Node.js",
        "no GPU: no NVIDIA GPU responds CUDA kernels run on a simulated device, on the CPU;",
        "no torch: not installed Comparisons with torch show what was recorded instead of running it.",
        f"No exercise needs it. To fix it: {installation('torch')}",
        "The exercises can run. What is marked `no` is not needed for them.",
    ):
        assert words in text


def test_the_compiler_is_the_one_that_the_library_takes(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: name)
    monkeypatch.setattr(doctors, "ask", lambda *arguments: (0, "7.8" if arguments[0] == "my-c++" else "9"))
    monkeypatch.setenv("CXX", "my-c++")
    doctor(clone)
    assert "my-c++ 7.8" in capsys.readouterr().out
    monkeypatch.setenv("CXX", "")
    doctor(clone)
    assert "g++ 9" in capsys.readouterr().out


def test_the_typefaces_are_those_that_the_next_build_takes(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(clone, "typefaces").found == "woff2 files from npm, which fetches them when the book is built"
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert found(clone, "typefaces").found == "TTF files of the Python packages, as npm is not installed"
    vendor.place_of_npms(clone).mkdir(parents=True)  # by a build while npm was there
    assert vendor.vendored(clone).missing == ""
    assert found(clone, "typefaces").found == "woff2 files from npm"
    vendor.place_of_npms(clone).rmdir()
    absent(monkeypatch, "fontpkg-source-sans-3")
    finding = found(clone, "typefaces")
    assert (finding.state, finding.found) == (WITHOUT, "fontpkg-source-sans-3 not installed")


def test_without_a_needed_package_the_exercises_cannot_run(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    absent(monkeypatch, "nbval", "pytest")
    assert doctor(clone) == 1
    text = " ".join(capsys.readouterr().out.split())
    assert "MISSING packages: pytest, nbval not installed" in text
    assert "To fix it: make study" in text
    assert text.endswith(
        "The exercises cannot run yet: packages. Fix the first of these, then `workbook doctor` again."
    )


def test_a_folder_that_cannot_be_written_to_is_missing(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctors.is_writable(clone)
    assert not doctors.is_writable(clone / "nowhere")
    monkeypatch.setattr(doctors, "is_writable", lambda folder: False)
    finding = found(clone, "a place for your answers")
    assert finding.state == MISSING
    assert finding.found == f"{clone / 'exercises'} and 1 more cannot be written to"


def test_a_damaged_exercise_is_told(clone: Path, capsys: Output) -> None:
    (clone / "exercises/02-tensor-storage/01_strides/exercise.toml").write_text("title = 1")
    finding = found(clone, "exercises")
    assert finding.state == MISSING
    assert "exercise.toml: minutes is missing" in finding.found
    assert "git checkout" in finding.cost
    assert doctor(clone) == 1


def test_a_damaged_exercise_does_not_hinder_the_others(clone: Path, capsys: Output) -> None:
    facts = make_exercise(clone, "02-tensor-storage/02_view") / "exercise.toml"
    facts.write_text("title = 1")
    finding = found(clone, "exercise 02.2")
    assert (finding.state, finding.cost) == (WITHOUT, "The others go on without it.")
    assert "02_view/exercise.toml: minutes is missing" in finding.found
    assert finding.remedy == "`git checkout -- exercises/02-tensor-storage/02_view/exercise.toml`"
    assert found(clone, "exercises").found.startswith("1 in ")
    assert doctor(clone) == 0


def test_an_edited_check_is_told_with_the_command_that_brings_it_back(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workbook.exercises.manifest.edited", lambda root, exercise: ["exercises/check_strides.py"])
    finding = found(clone, "files of the checks")
    assert (finding.state, finding.remedy) == (WITHOUT, "`git checkout -- exercises/check_strides.py`")


def test_an_old_python_and_a_foreign_one_are_told(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found(clone, "Python").state == THERE
    (clone / ".venv").mkdir()
    finding = found(clone, "Python")
    assert finding.state == WITHOUT
    assert "start the command as" in finding.remedy
    monkeypatch.setattr(sys, "prefix", str(clone / ".venv"))
    assert found(clone, "Python").state == THERE
    monkeypatch.setattr(sys, "version_info", (3, 10, 1))
    finding = found(clone, "Python")
    assert (finding.state, finding.cost) == (MISSING, "Python 3.11 or newer is needed.")


def test_a_card_without_its_driver_package_and_another_torch_are_told(
    clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    absent(monkeypatch, "cupy", "cupy-cuda12x", "cupy-cuda13x")
    monkeypatch.setattr(doctors, "ask", lambda *arguments: (0, "A card"))
    assert found(clone, "GPU").found == "A card, but CuPy is not installed"
    assert "2.13" in found(clone, "torch").cost


def test_without_a_keyboard_the_watch_has_no_keys(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: False, raising=False)
    finding = found(clone, "terminal")
    assert finding.state == WITHOUT
    assert "has no keys here" in finding.cost


def test_a_program_that_is_not_there_or_does_not_answer_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctors.ask(sys.executable, "-c", "print(' yes ')") == (0, "yes")
    assert doctors.ask("no-such-program") == (127, "")
    monkeypatch.setattr(doctors, "PATIENCE", 0.1)
    assert doctors.ask(sys.executable, "-c", "import time; time.sleep(9)") == (127, "")


def test_versions_are_found_without_an_import() -> None:
    assert doctors.installed("pytest") == pytest.__version__
    assert doctors.installed("no-such-package") is None
