"""Does each make target install what it needs, and then run its command?"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from workbook import clean, oracles, targets
from workbook.failures import SetupError
from workbook.targets import OTHERS, TARGETS, main

ROOT = Path(__file__).parents[2]
Output = pytest.CaptureFixture[str]


class FakeEnvironment:
    """Remembers which extras were asked for."""

    asked: list[list[str]] = []  # noqa: RUF012

    def __init__(self, root: Path) -> None:
        self.python = root / ".venv" / "bin" / "python"

    def ensure(self, extras: list[str]) -> None:
        self.asked.append(extras)


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that a target hands over to, none of which is run."""
    handed: list[list[str]] = []
    monkeypatch.setattr(targets, "hand_over", lambda command: handed.append(command) or 0)
    monkeypatch.setattr(targets, "Environment", FakeEnvironment)
    monkeypatch.setattr(oracles, "install_tools", lambda name: None)
    monkeypatch.setattr(FakeEnvironment, "asked", [])
    monkeypatch.delenv("CI", raising=False)
    return handed


def test_the_makefile_and_the_table_have_the_same_targets() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    rule = re.search(r"^([a-z -]+):\n\t@\$\(PYTHON\) workbook/bootstrap.py \$@", text, re.MULTILINE)
    assert rule is not None
    assert set(rule[1].split()) == {*TARGETS, *OTHERS}


def test_each_target_has_a_line_of_help(capsys: Output) -> None:
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(any(line.startswith(f"  make {name} ") for line in lines) for name in (*TARGETS, *OTHERS))
    assert max(map(len, lines)) <= 80


def test_a_target_that_is_not_there_is_told(capsys: Output) -> None:
    assert main(["studdy"]) == 2
    assert "There is no target 'studdy'. The targets are: study, test," in capsys.readouterr().err


def test_study_installs_the_book_and_reads_it(commands: list[list[str]]) -> None:
    assert main(["study", "--no-serve"]) == 0
    assert FakeEnvironment.asked == [["book"]]
    assert commands == [[str(ROOT / ".venv/bin/python"), "-m", "workbook", "read", "--no-serve"]]


def test_a_readers_tests_install_no_torch(commands: list[list[str]]) -> None:
    main(["test"])
    assert FakeEnvironment.asked == [["book", "test"]]


@pytest.mark.parametrize("name", ["test", "test-all"])
def test_ci_installs_the_oracles(commands: list[list[str]], monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("CI", "true")
    main([name])
    main(["study"])
    assert FakeEnvironment.asked == [["book", "test", "torch", "nvrtc", "tensorboard", "guests"], ["book"]]


def test_the_slow_bytecode_setting_goes_no_further(commands: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    main(["gen"])
    assert "PYTHONDONTWRITEBYTECODE" not in os.environ


def test_a_failed_installation_ends_without_a_traceback(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    def fail(self: FakeEnvironment, extras: list[str]) -> None:
        raise SetupError("Installing: the disk is full.\nFree about 2 GB.")

    monkeypatch.setattr(FakeEnvironment, "ensure", fail)
    assert main(["study"]) == 1
    assert capsys.readouterr().err == "\nInstalling: the disk is full.\nFree about 2 GB.\n"
    assert commands == []


def test_an_interrupted_installation_says_how_to_go_on(
    commands: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    def interrupt(self: FakeEnvironment, extras: list[str]) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(FakeEnvironment, "ensure", interrupt)
    assert main(["study"]) == 130
    assert "Run the same command again to go on." in capsys.readouterr().err


# --- what CI adds ---


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder in which programs are looked for, on a CI machine where we are root."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)
    return tmp_path


def add(programs: Path, name: str, script: str = "exit 0") -> None:
    (programs / name).write_text(f"#!/bin/sh\n{script}\n")
    (programs / name).chmod(0o755)


@pytest.mark.skipif(os.name == "nt", reason="there is no apt-get on Windows")
@pytest.mark.parametrize(
    ("present", "installed"),
    [
        ([], ["g++", "chromium", "fonts-liberation", "nodejs", "npm"]),
        (["g++", "node", "npm"], ["chromium", "fonts-liberation"]),
        (["g++", "chromium", "node", "npm"], []),
    ],
)
def test_ci_installs_the_programs_that_are_missing(programs: Path, present: list[str], installed: list[str]) -> None:
    add(programs, "apt-get", f"echo \"$@\" >> '{programs}/calls'")
    for name in present:
        add(programs, name)
    oracles.install_tools("test")
    calls = (programs / "calls").read_text().splitlines() if installed else []
    expected = ["update", " ".join(["install --yes --no-install-recommends", *installed])] if installed else []
    assert calls == expected
    assert (programs / "calls").exists() == bool(installed)


@pytest.mark.skipif(os.name == "nt", reason="there is no apt-get on Windows")
def test_a_program_that_cannot_be_installed_is_told(programs: Path) -> None:
    add(programs, "apt-get", "echo 'E: Unable to locate package chromium'; exit 100")
    with pytest.raises(SetupError, match="E: Unable to locate package chromium"):
        oracles.install_tools("test")


def test_without_apt_get_the_missing_programs_are_named(programs: Path, capsys: Output) -> None:
    oracles.install_tools("test")
    assert "cannot install the missing programs (g++, chromium, node, npm)" in capsys.readouterr().err


def test_a_reader_gets_no_programs(programs: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.delenv("CI")
    add(programs, "apt-get", f"touch '{programs}/calls'")
    oracles.install_tools("test")
    assert not (programs / "calls").exists()
    assert capsys.readouterr() == ("", "")


# --- clean ---


READERS = (
    "exercises/progress.json",
    "exercises/03-dispatcher/02_table/answer.py",
    "exercises/03-dispatcher/02_table/my_lab.ipynb",
    "exercises/03-dispatcher/02_table/.ipynb_checkpoints/my_lab-checkpoint.ipynb",
    "exercises/03-dispatcher/02_table/kept/answer-1.py",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A clone in which things were built, and in which a reader has written an answer."""
    for name in (
        "site/index.html",
        "site/.gitignore",
        "site/assets/a.css",
        ".mypy_cache/x",
        "reference/glasstorch/__pycache__/x.pyc",
        "chapters/00-start/.ipynb_checkpoints/x.md",
        *READERS,
        "exercises/03-dispatcher/02_table/__pycache__/answer.pyc",
        ".venv/pyvenv.cfg",
        ".cache/install.log",
        "notes.txt",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def left(tree: Path) -> set[str]:
    return {str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file()}


def test_clean_removes_what_was_built_and_nothing_a_reader_wrote(tree: Path, capsys: Output) -> None:
    assert clean.main([], tree) == 0
    assert left(tree) == {"site/.gitignore", *READERS, ".venv/pyvenv.cfg", ".cache/install.log", "notes.txt"}
    assert clean.main(["--all"], tree) == 0
    assert left(tree) == {"site/.gitignore", *READERS, "notes.txt"}
    assert clean.main([], tree) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "Nothing to remove."


def test_clean_refuses_what_it_does_not_know(tree: Path, capsys: Output) -> None:
    before = left(tree)
    assert clean.main(["--al"], tree) == 2
    assert left(tree) == before
    assert "the only option is --all" in capsys.readouterr().err
