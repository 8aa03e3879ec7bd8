"""Does each command do what it says, and end with a message instead of a traceback?"""

from __future__ import annotations

import os
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Self

import pytest

from tests.workbook.exercises.tree import make_clone
from workbook import cli, commands, targets
from workbook.book.errors import BookError
from workbook.commands import CommandError
from workbook.exercises import state as states
from workbook.exercises.catalogue import find
from workbook.exercises.say import command, installation
from workbook.readme_table import BEGIN, END
from workbook.targets import TARGETS

ROOT = Path(__file__).parents[2]
NAMES = ("read", "study", "site", "lab", "test", "bench", "gen", "notebooks", "dev")
EXERCISES = ("doctor", "next", "start", "check", "watch", "hint", "solution", "source", "reset", "progress", "review")
Output = pytest.CaptureFixture[str]


@pytest.fixture
def workbook(monkeypatch: pytest.MonkeyPatch) -> Callable[..., int]:
    """Runs the command line in this process; gives the exit code."""

    def run(*arguments: str) -> int:
        monkeypatch.setattr(sys, "argv", ["workbook", *arguments])
        return cli.main()

    return run


@pytest.fixture
def pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A book that is built at once."""
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text("<h1>Home</h1>")
    monkeypatch.setattr(commands, "build", lambda root: folder)
    return folder


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What a command starts as a program of its own; nothing is run, and 3 is the exit code."""
    calls: list[list[str]] = []
    monkeypatch.setattr(targets, "hand_over", lambda command, environment: calls.append(command) or 3)
    return calls


# --- the command line itself ---


@pytest.mark.parametrize("columns", ["40", "200"])
def test_help_names_every_command_without_colour(columns: str) -> None:
    environment = {**os.environ, "COLUMNS": columns, "NO_COLOR": "1"}
    command = [sys.executable, "-m", "workbook"]
    done = subprocess.run([*command, "-h"], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert {*NAMES, *EXERCISES} <= {line.split()[0] for line in done.stdout.splitlines() if line.startswith("  ")}


def test_the_version_is_that_of_the_project(workbook: Callable[..., int], capsys: Output) -> None:
    assert workbook("--version") == 0
    shown = capsys.readouterr().out.split()[1]
    assert f'version = "{shown}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["reed"], "No such command 'reed'"),
        (["read", "--port", "http"], "Invalid value for '--port'"),
        (["read", "--port", "70000"], "Invalid value for '--port'"),
        (["site", "now"], "Got unexpected extra argument"),
    ],
)
def test_what_is_not_understood_is_said(
    workbook: Callable[..., int], capsys: Output, arguments: list[str], words: str
) -> None:
    assert workbook(*arguments) == 2
    assert words in capsys.readouterr().err


def test_starting_imports_nothing_heavy() -> None:
    script = (
        "import sys; sys.argv = ['workbook', '--version']; from workbook.cli import main; main()\n"
        "heavy = {'numpy', 'rich', 'jupytext', 'nbformat', 'mkdocs', 'http.server', 'glasstorch'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    assert subprocess.call([sys.executable, "-c", script], stdout=subprocess.DEVNULL) == 0


def test_each_make_target_runs_a_command_that_exists() -> None:
    assert {target.command[0] for target in TARGETS.values()} <= set(NAMES)


# --- the exercises ---


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with two exercises; the reader stands in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "root", lambda: tmp_path)
    return make_clone(tmp_path, "02-tensor-storage/01_strides", "02-tensor-storage/02_view")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["start", "02.1"], 0, "Your file"),
        (["start"], 0, "Your file"),
        (["next"], 0, "02.1"),
        (["hint", "strides"], 0, "Hint 1 of 3"),
        (["hint", "02.1", "-n", "2"], 0, "Hint 2 of 3"),
        (["hint", "02.1", "--all"], 0, "Hint 3 of 3"),
        (["solution", "02.1", "--anyway"], 0, "Ours"),
        (["reset", "02.1"], 0, "nothing to reset"),
        (["reset", "02.1", "--lab"], 0, "my_lab.ipynb is not there"),
        (["progress"], 0, "0 of 2 exercises passed"),
        (["list"], 0, "0 of 2 exercises passed"),
        (["progress", "02", "--json"], 0, '"total": 2'),
        (["check", "02.1"], 3, "02.1 is not started"),
        (["check", "--all"], 3, "No exercise is started yet"),
        (["solution", "02.1"], 1, "has not passed yet"),
        (["check"], 1, "no exercise is started"),
        (["hint"], 1, "no exercise is started"),
        (["start", "strids"], 2, "the nearest are:"),
        (["check", "02.7"], 2, "the exercises of chapter 02 are:"),
        (["watch", "strids"], 2, "the nearest are:"),
        (["hint", "02.1", "-n", "9"], 2, "has no hint 9"),
        (["progress", "77"], 2, "no chapter, topic, section or exercise '77' chapters: 02-tensor-storage"),
        (["lab", "strids"], 2, "the nearest are:"),
        (["check", "02.1", "--all"], 2, "--all takes no exercise"),
        (["check", "--answer", "a.py"], 2, "--answer needs the exercise"),
        (["check", "02.1", "--limit", "0"], 2, "Invalid value for '--limit'"),
    ],
)
def test_each_command_ends_with_its_exit_code(
    workbook: Callable[..., int], clone: Path, capsys: Output, arguments: list[str], code: int, words: str
) -> None:
    assert workbook(*arguments) == code
    captured = capsys.readouterr()
    assert words in " ".join((captured.err if code in (1, 2) else captured.out).split())


LEFT_OUT = """\
workbook: left out: exercises/02-tensor-storage/01_strides/exercise.toml is not TOML: \
Expected '=' after a key in a key/value pair (at end of document); to get it back as it was: \
`git checkout -- exercises/02-tensor-storage/01_strides/exercise.toml`"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["next"], ["start"], ["start", "02.2"], ["progress"], ["progress", "--json"], ["check", "02.2"],
        ["check", "--all"], ["hint", "02.2"], ["solution", "02.2", "--anyway"], ["reset", "02.2"],
    ],
)  # fmt: skip
def test_a_damaged_exercise_is_told_once_and_the_others_go_on(
    workbook: Callable[..., int], clone: Path, capsys: Output, arguments: list[str]
) -> None:
    (clone / "exercises/02-tensor-storage/01_strides/exercise.toml").write_text("title")
    assert workbook(*arguments) == (3 if arguments[0] == "check" else 0)
    captured = capsys.readouterr()
    assert " ".join(captured.err.split()) == LEFT_OUT
    assert captured.out


@pytest.mark.parametrize("arguments", [["next"], ["start"], ["reset", "02.2"]])
def test_it_is_told_also_where_there_is_nothing_to_do(
    workbook: Callable[..., int], clone: Path, capsys: Output, arguments: list[str]
) -> None:
    assert workbook("start", "02.2") == 0
    states.note(clone, find(clone, "02.2"), states.passed(""))
    (clone / "exercises/02-tensor-storage/01_strides/exercise.toml").write_text("title")
    capsys.readouterr()
    assert workbook(*arguments) == 0
    assert " ".join(capsys.readouterr().err.split()) == LEFT_OUT


@pytest.mark.parametrize("arguments", [["start", "02.1"], ["check", "strides"], ["hint"], ["watch", "02.1"]])
def test_a_damaged_exercise_that_is_meant_cannot_be_done(
    workbook: Callable[..., int], clone: Path, capsys: Output, arguments: list[str]
) -> None:
    assert workbook("start", "02.2") == 0
    assert workbook("start", "02.1") == 0
    (clone / "exercises/02-tensor-storage/01_strides/exercise.toml").write_text("title")
    capsys.readouterr()
    assert workbook(*arguments) == 1
    captured = capsys.readouterr()
    assert captured.err.startswith("workbook: exercises/02-tensor-storage/01_strides/exercise.toml is not TOML")
    assert captured.out == ""


def test_the_exit_codes_are_in_the_help_of_check(workbook: Callable[..., int], capsys: Output) -> None:
    assert workbook("check", "--help") == 0
    words = " ".join(capsys.readouterr().out.split())
    assert (
        "Exit codes: 0 passed; 1 not passed, or it could not be done; 2 the command line was not understood;" in words
    )
    assert "3 not started; 130 Ctrl-C." in words


@pytest.mark.parametrize("command", ["check", "watch"])
def test_checking_needs_its_packages(
    workbook: Callable[..., int], clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, command: str
) -> None:
    monkeypatch.setattr(commands, "find_spec", lambda name: None if name == "nbval" else object())
    assert workbook(command, "02.1") == 1
    assert "the package 'nbval' is not installed\n  run `make study`" in capsys.readouterr().err


def test_authors_check_and_hash_the_exercises(workbook: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr("workbook.exercises.dev.check", lambda names: asked.append(names) or 1)
    monkeypatch.setattr("workbook.exercises.dev.manifest", lambda *, check: asked.append(check) or 0)
    assert workbook("dev", "check", "02.1", "04.1") == 1
    assert workbook("dev", "check") == 1
    assert workbook("dev", "manifest") == 0
    assert workbook("dev", "manifest", "--check") == 0
    assert asked == [["02.1", "04.1"], [], False, True]


def test_what_the_system_refuses_is_told_without_a_traceback(
    workbook: Callable[..., int], clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    def refused(root: Path) -> int:
        raise PermissionError(13, "Permission denied", "/usr/bin/python")

    monkeypatch.setattr("workbook.exercises.desk.next_exercise", refused)
    assert workbook("next") == 1
    error = capsys.readouterr().err
    assert error.startswith("workbook: the system refused: [Errno 13] Permission denied: '/usr/bin/python'\n")
    assert error.endswith("doctor\n")


@pytest.mark.skipif(os.name == "nt", reason="Windows deletes no folder in which a program stands")
@pytest.mark.parametrize("arguments", [["progress"], ["hint", "02.1"], ["lab"], ["read", "--no-serve"]])
def test_a_folder_that_was_deleted_is_told(tmp_path: Path, arguments: list[str]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    script = "import os, sys; os.rmdir(os.getcwd()); from workbook.__main__ import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=gone, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = "workbook: this folder no longer exists\n  cd to your clone, and run the command there\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_a_folder_that_is_deleted_while_a_command_runs_is_told(
    workbook: Callable[..., int], clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    def gone(*_: object) -> str:
        raise FileNotFoundError(2, "No such file or directory")

    def deleted(root: Path) -> int:
        monkeypatch.setattr(os, "getcwd", gone)
        return len(os.path.relpath("a"))

    monkeypatch.setattr("workbook.exercises.desk.next_exercise", deleted)
    assert workbook("next") == 1
    assert capsys.readouterr().err.startswith("workbook: this folder no longer exists\n")


def test_ctrl_c_ends_with_one_line(
    workbook: Callable[..., int], clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    def interrupted(root: Path) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("workbook.exercises.desk.next_exercise", interrupted)
    assert workbook("next") == 130
    assert capsys.readouterr() == ("", "\nStopped.\n")


def test_ctrl_c_while_the_command_starts_ends_with_one_line(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(tmp_path), str(ROOT)))}
    done = subprocess.run(
        [sys.executable, "-m", "workbook", "next"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\nStopped.\n")


def run_in(clone: Path, *arguments: str, then: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, on this clone."""
    script = (
        "import sys; from pathlib import Path; import workbook.commands; clone = Path(sys.argv[1])\n"
        "workbook.commands.root = lambda: clone; sys.argv = ['workbook', *sys.argv[2:]]\n"
        f"from workbook.cli import main; code = main()\n{then}\nsys.exit(code)"
    )
    return subprocess.run(
        [sys.executable, "-c", script, str(clone), *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_a_terminal_cannot_show_ends_no_command(clone: Path) -> None:
    facts = clone / "exercises/02-tensor-storage/01_strides/exercise.toml"
    facts.write_text(facts.read_text().replace("About strides", "Schritte und Längen"), encoding="utf-8")
    done = run_in(clone, "progress", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Schritte und L?ngen" in done.stdout


@pytest.mark.parametrize("arguments", [["start", "02.1"], ["hint", "02.1"]])
def test_start_and_hint_import_nothing_heavy(clone: Path, arguments: list[str]) -> None:
    heavy = "{'numpy', 'rich', 'jupytext', 'nbformat', 'mkdocs', 'pytest', 'watchfiles', 'glasstorch', 'fsrs'}"
    done = run_in(clone, *arguments, then=f"print(sorted({heavy} & set(sys.modules)))")
    assert done.stdout.splitlines()[-1] == "[]"


# --- read, study, site ---


def test_read_without_serving_says_where_the_book_is(workbook: Callable[..., int], pages: Path, capsys: Output) -> None:
    assert workbook("read", "--no-serve") == 0
    assert capsys.readouterr().out == f"The book is in {pages / 'index.html'}\n"


class Interrupted:
    """A server that is stopped by Ctrl-C at once."""

    def __init__(self, port: int) -> None:
        self.port, self.key = port, "the-key"
        self.address = f"http://127.0.0.1:{port}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def serve_forever(self) -> None:
        raise KeyboardInterrupt


def test_read_says_what_to_do_next_and_ends_politely(
    workbook: Callable[..., int], pages: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setattr("workbook.serve.bind", lambda folder, port, book: Interrupted(port))
    assert workbook("read") == 0
    captured = capsys.readouterr()
    assert "The book is at http://127.0.0.1:8000" in captured.out
    assert "the-key" not in captured.out
    assert "What to do next" in captured.out
    assert "in use" not in captured.out
    assert captured.out.endswith("Stopped. `make study` brings the book back.\n")
    assert captured.err == ""


def test_read_says_when_the_port_is_in_use(
    workbook: Callable[..., int], pages: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setattr("workbook.serve.bind", lambda folder, port, book: Interrupted(port + 1))
    assert workbook("read") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Port 8000 is in use, maybe by this book in another terminal; the book is at port 8001 instead." in said
    assert "cells that you edited, answers that you typed and did not save, the place where you were" in said
    assert "Recorded predictions, saved answers and your progress are files of this clone" in said


def test_study_hands_its_options_to_the_installer(workbook: Callable[..., int], started: list[list[str]]) -> None:
    assert workbook("study", "--port", "8010", "--no-serve") == 3
    installer = str(ROOT / "workbook" / "bootstrap.py")
    assert started == [[sys.executable, installer, "study", "--port", "8010", "--no-serve", "--browser"]]


def build_raises(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Have the book's builder raise."""

    def build_site(root: Path) -> Path:
        raise error

    module = types.ModuleType("workbook.book.build")
    module.build_site = build_site  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "workbook.book.build", module)


def test_a_broken_book_is_told(workbook: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    build_raises(monkeypatch, BookError("tour.md:12: code cell 3 raised\n  mend the cell"))
    assert workbook("site") == 1
    error = capsys.readouterr().err
    assert error == "workbook: tour.md:12: code cell 3 raised\n  mend the cell\n"


@pytest.mark.parametrize(
    ("arguments", "package", "remedy"),
    [
        (["lab"], "jupyterlab", "make study"),
        (["notebooks"], "jupytext", "make study"),
        (["test"], "pytest", "make test"),
        (["gen"], "yaml", "make test"),
    ],
)
def test_a_missing_package_is_told(
    workbook: Callable[..., int],
    started: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: Output,
    arguments: list[str],
    package: str,
    remedy: str,
) -> None:
    monkeypatch.setattr(commands, "find_spec", lambda name: None)
    assert workbook(*arguments) == 1
    extra = "test" if remedy == "make test" else "book"
    told = f"the package {package!r} is not installed\n  run `{remedy}`, or: {installation(extra)}\n"
    assert told in capsys.readouterr().err
    assert started == []


def test_outside_a_clone_it_says_so(
    workbook: Callable[..., int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Output
) -> None:
    def nowhere(start: Path | None = None) -> Path:
        raise BookError(f"no book found at or above {start}")

    monkeypatch.setattr("workbook.book.project.project_root", nowhere)
    monkeypatch.chdir(tmp_path)
    assert workbook("site") == 1
    assert capsys.readouterr().err == f"workbook: no book found at or above {tmp_path}\n"


def test_the_clone_is_found_from_anywhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert commands.root() == ROOT


# --- what runs as a program of its own ---


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["gen"], ["-m", "glasstorch.operators.gen"]),
        (["gen", "--check"], ["-m", "glasstorch.operators.gen", "--check"]),
        (["notebooks"], ["-m", "workbook.book.notebooks"]),
        (["notebooks", "--check", "a.md", "b"], ["-m", "workbook.book.notebooks", "--check", "a.md", "b"]),
    ],
)
def test_a_module_is_run_and_its_exit_code_passed_on(
    workbook: Callable[..., int], started: list[list[str]], arguments: list[str], expected: list[str]
) -> None:
    assert workbook(*arguments) == 3
    assert started == [[sys.executable, *expected]]


def test_test_runs_the_checks(workbook: Callable[..., int], monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run_checks(root: Path, *, everything: bool) -> int:
        asked.append((root, everything))
        return 1

    monkeypatch.setattr("workbook.checks.run_checks", run_checks)
    assert workbook("test") == 1
    assert workbook("test", "--all") == 1
    assert asked == [(ROOT, False), (ROOT, True)]


# --- lab ---


def test_lab_opens_the_first_chapter(
    workbook: Callable[..., int], started: list[list[str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    chapter = tmp_path / "chapters" / "00-start"
    chapter.mkdir(parents=True)
    monkeypatch.setattr(commands, "root", lambda: tmp_path)
    assert workbook("lab", "--no-browser") == 3
    (command,) = started
    assert command[:3] == [sys.executable, "-m", "jupyterlab"]
    assert {"--LabApp.default_url=/lab/tree/chapters/00-start", "--no-browser"} <= set(command)


def test_lab_says_what_it_can_open(
    workbook: Callable[..., int], started: list[list[str]], tmp_path: Path, capsys: Output
) -> None:
    assert workbook("lab", str(tmp_path / "elsewhere.ipynb")) == 1
    assert "name a chapter or a notebook of this clone" in capsys.readouterr().err
    assert started == []


# --- bench ---


@pytest.fixture
def benchmarks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone whose benchmarks print one line."""
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").touch()  # or the real package, further on the path, would be found
    (tmp_path / "benchmarks" / "__main__.py").write_text("print('| new |')\n")
    (tmp_path / "README.md").write_text(f"{BEGIN}\n{END}\n")
    monkeypatch.setattr(commands, "root", lambda: tmp_path)
    return tmp_path


def test_bench_prints_the_table_and_puts_it_into_the_readme(
    workbook: Callable[..., int], benchmarks: Path, capsys: Output
) -> None:
    assert workbook("bench") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("| new |\n\nThe table in README.md was replaced.\n")
    assert f"run {command('notebooks')}" in printed
    assert (benchmarks / "README.md").read_text() == f"{BEGIN}\n\n| new |\n\n{END}\n"
    assert workbook("bench") == 0
    assert "The table in README.md is unchanged.\n" in capsys.readouterr().out


def test_benchmarks_that_fail_leave_the_readme(workbook: Callable[..., int], benchmarks: Path, capsys: Output) -> None:
    (benchmarks / "benchmarks" / "__main__.py").write_text("print('| half |')\nraise SystemExit(4)\n")
    assert workbook("bench") == 1
    assert "ended with exit code 4; README.md is unchanged" in capsys.readouterr().err
    assert "half" not in (benchmarks / "README.md").read_text()


def test_a_readme_without_a_place_is_told(workbook: Callable[..., int], benchmarks: Path, capsys: Output) -> None:
    (benchmarks / "README.md").write_text("# Title\n")
    assert workbook("bench") == 1
    assert "README.md: there is no place for the table" in capsys.readouterr().err


def test_an_error_of_a_command_names_the_program(
    workbook: Callable[..., int], monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    def fail() -> None:
        raise CommandError("no\n  yes")

    monkeypatch.setattr(commands, "site", fail)
    assert workbook("site") == 1
    assert capsys.readouterr().err == "workbook: no\n  yes\n"
