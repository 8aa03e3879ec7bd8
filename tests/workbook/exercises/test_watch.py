"""Does the watch check on each save, listen to its keys, and leave nothing behind?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.workbook.exercises.tree import make_clone, stand_in
from workbook.book.project import shown
from workbook.exercises import desk
from workbook.exercises import state as states
from workbook.exercises import watch as watching
from workbook.exercises.catalogue import Exercise, find
from workbook.exercises.keys import NoKeys
from workbook.exercises.state import digest, load, note
from workbook.exercises.watch import Check, Folder, Watch, watch

Output = pytest.CaptureFixture[str]
PLACES = ("02-tensor-storage/01_strides", "02-tensor-storage/02_view")
ROOT = Path(__file__).parents[3]
PROMPT = "n next / h hint / l list / c check all / x reset / r run / q quit"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with two exercises; the reader stands in it, before 100 columns."""
    stand_in(tmp_path, monkeypatch)
    return make_clone(tmp_path, *PLACES)


@pytest.fixture
def strides(clone: Path) -> Exercise:
    """The first exercise, started."""
    exercise = find(clone, "02.1")
    desk.begin(exercise)
    return exercise


class Typed(NoKeys):
    """Keys that come from a list; what is not a text is done instead of pressing a key."""

    available = True

    def __init__(self, *typed: str | Callable[[], object]) -> None:
        self.typed = list(typed)

    def read(self, seconds: float) -> str:
        key = self.typed.pop(0) if self.typed else "q"
        if callable(key):
            key()
            return ""
        return key


class Quick:
    """A check that ends at once, or never; remembers what was asked."""

    asked: list[tuple[str, ...]]
    stopped: int
    ends = True
    code = 0

    def __init__(self, *arguments: str) -> None:
        type(self).asked.append(arguments)
        self.process = self
        self.returncode = self.code

    def running(self) -> bool:
        return not self.ends

    def stop(self) -> None:
        type(self).stopped += 1


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> type[Quick]:
    """Checks that cost nothing, and no second between two looks at the file."""

    class Fresh(Quick):
        asked: list[tuple[str, ...]] = []  # noqa: RUF012
        stopped = 0

    monkeypatch.setattr(watching, "Check", Fresh)
    monkeypatch.setattr(watching, "LOOK", 0.0)
    return Fresh


def session(clone: Path, exercise: Exercise, *typed: str | Callable[[], object]) -> Watch:
    """A watch at which these keys are pressed, run to its end."""
    opened = Watch(clone, exercise, Typed(*typed))
    try:
        assert opened.loop() == 0
    finally:
        opened.close()
    return opened


# --- keys ---


def test_it_checks_once_and_says_which_keys_there_are(
    clone: Path, strides: Exercise, quick: type[Quick], capsys: Output
) -> None:
    session(clone, strides, "", "q")
    assert quick.asked == [("02.1",)]
    assert capsys.readouterr().out.endswith(f"\n{PROMPT}\n")


def test_each_key_does_what_it_says(clone: Path, strides: Exercise, quick: type[Quick], capsys: Output) -> None:
    session(clone, strides, "", "h", "l", "c", "", "r", "", "z", "q")
    out = capsys.readouterr().out
    assert quick.asked == [("02.1",), ("--all",), ("02.1",)]
    assert "Hint 1 of 3" in out
    assert "0 of 2 exercises passed" in out
    assert "There is no key 'z' here." in out
    assert out.count(PROMPT) == 6


def test_the_keys_fit_and_no_key_is_parted_from_its_word(
    clone: Path, strides: Exercise, quick: type[Quick], monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    for columns in range(24, 80):
        monkeypatch.setenv("COLUMNS", str(columns))
        session(clone, strides, "", "q")
        lines = capsys.readouterr().out.split("\n\n")[-1].splitlines()
        assert all(len(line) <= columns for line in lines)
        items = [item for line in lines for item in line.strip().removesuffix(" /").split(" / ")]
        assert items == PROMPT.split(" / ")


@pytest.mark.parametrize("keys", [("h",), ("l",), ("x", "n"), ("n", "n")])
def test_a_check_that_a_key_broke_off_is_begun_again(
    clone: Path, strides: Exercise, quick: type[Quick], keys: tuple[str, ...]
) -> None:
    quick.ends = False
    session(clone, strides, *keys, lambda: setattr(quick, "ends", True), "", "h", "q")
    assert quick.asked == [("02.1",), ("02.1",)]  # once


def test_a_check_that_nobody_wants_any_more_is_not_begun_again(
    clone: Path, strides: Exercise, quick: type[Quick]
) -> None:
    strides.answer.write_text("mine\n")
    quick.ends = False
    session(clone, strides, "x", "y", "h", "q")
    assert quick.asked == [("02.1",)]
    session(clone, strides, "n", "y", "h", "q")
    assert quick.asked[1:] == [("02.1",)]
    session(clone, strides, "c", "h", "q")
    assert quick.asked[2:] == [("02.1",), ("--all",), ("--all",)]


def test_reset_asks_first(clone: Path, strides: Exercise, quick: type[Quick], capsys: Output) -> None:
    strides.answer.write_text("mine\n")
    session(clone, strides, "x", "n", "q")
    assert strides.answer.read_text() == "mine\n"
    assert "Nothing was done." in capsys.readouterr().out
    session(clone, strides, "x", "y", "", "", "q")
    assert strides.answer.read_bytes() == strides.start.read_bytes()
    assert (strides.kept / "answer-1.py").read_text() == "mine\n"
    assert quick.asked == [("02.1",), ("02.1",)]  # the stub is not checked


def test_next_goes_on_when_the_exercise_has_passed(
    clone: Path, strides: Exercise, quick: type[Quick], capsys: Output
) -> None:
    note(clone, strides, states.passed(digest(strides.answer)))
    second = find(clone, "02.2")
    ended = session(clone, strides, "", "n", lambda: second.answer.write_text("saved\n"), "", "q")
    out = capsys.readouterr().out
    assert "When you are done experimenting, press n for the next exercise." in out
    assert f"Your file: {shown(second.answer)}" in out
    assert "each save is checked." in out
    assert f"\nWatching {shown(second.answer)}\n" in out
    assert "`workbook watch" not in out
    assert ended.exercise == second
    assert quick.asked == [("02.1",), ("02.2",)]


def test_a_pass_does_not_go_on_by_itself(clone: Path, strides: Exercise, quick: type[Quick]) -> None:
    note(clone, strides, states.passed(digest(strides.answer)))
    assert session(clone, strides, "", "", "", "q").exercise == strides
    assert not find(clone, "02.2").answer.exists()


def test_next_goes_on_from_an_exercise_whose_facts_were_edited_meanwhile(
    clone: Path, strides: Exercise, quick: type[Quick]
) -> None:
    note(clone, strides, states.passed(digest(strides.answer)))
    strides.facts.write_text(strides.facts.read_text().replace("15", "20"))
    assert session(clone, strides, "n", "q").exercise == find(clone, "02.2")


def test_next_asks_when_it_has_not_passed(clone: Path, strides: Exercise, quick: type[Quick], capsys: Output) -> None:
    quick.code = 1
    assert session(clone, strides, "", "n", "n", "q").exercise == strides
    out = capsys.readouterr().out
    assert "02.1 has not passed yet. Go to the next one all the same? y/n" in out
    assert "experimenting" not in out
    assert session(clone, strides, "n", "y", "q").exercise == find(clone, "02.2")


def test_next_after_the_last_says_that_all_have_passed(
    clone: Path, strides: Exercise, quick: type[Quick], capsys: Output
) -> None:
    for exercise in (strides, find(clone, "02.2")):
        note(clone, exercise, states.passed(digest(exercise.answer)))
    session(clone, strides, "n", "q")
    assert "All 2 exercises have passed" in capsys.readouterr().out


def test_an_error_of_a_key_does_not_end_the_watch(
    clone: Path, strides: Exercise, quick: type[Quick], capsys: Output
) -> None:
    strides.hints_file.unlink()
    session(clone, strides, "h", "l", "q")
    out = capsys.readouterr().out
    assert "hints.md cannot be read" in out
    assert "0 of 2 exercises passed" in out


# --- saves ---


def test_a_save_during_a_check_begins_it_again(clone: Path, strides: Exercise, quick: type[Quick]) -> None:
    quick.ends = False
    session(clone, strides, lambda: strides.answer.write_text("one\n"), "", "q")
    assert quick.asked == [("02.1",), ("02.1",)]
    assert quick.stopped == 2  # at the save, and at the end


def test_a_save_during_a_check_is_said_and_a_question_dropped(
    clone: Path, strides: Exercise, quick: type[Quick], capsys: Output
) -> None:
    quick.ends = False
    session(clone, strides, lambda: strides.answer.write_text("one\n"), "q")
    assert "\nSaved again.\n" in capsys.readouterr().out
    quick.ends = True
    session(clone, strides, "", "x", lambda: strides.answer.write_text("three\n"), "y", "q")
    assert strides.answer.read_text() == "three\n"
    out = capsys.readouterr().out
    assert "There is no key 'y' here." in out
    assert "Saved again." not in out


def replaced(path: Path) -> None:
    """Save as many editors do: a new file in the old one's place."""
    new = path.with_name("answer.py~")
    new.write_text("new\n")
    new.replace(path)


def gone_and_back(path: Path) -> None:
    """Save as some editors do: the old file is moved away first."""
    path.rename(path.with_name("answer.py.bak"))
    path.write_text("new\n")


@pytest.mark.parametrize("save", [lambda path: path.write_text("new\n"), replaced, gone_and_back])
@pytest.mark.parametrize("told", [True, False])
def test_each_way_to_save_is_noticed(
    strides: Exercise, monkeypatch: pytest.MonkeyPatch, save: Callable[[Path], object], told: bool
) -> None:
    if told:
        monkeypatch.setattr(watching, "LOOK", 1000.0)
    else:  # as on a machine where nothing tells of a change
        monkeypatch.setattr("watchfiles.watch", lambda *arguments, **options: 1 / 0)
        monkeypatch.setattr(watching, "LOOK", 0.05)
    folder = Folder(strides.answer)
    try:
        assert not folder.saved()
        while not folder.saved():  # watching has to begin first, in a thread
            strides.answer.touch()
            time.sleep(0.1)
        time.sleep(0.3)
        assert not folder.saved()
        save(strides.answer)
        end = time.monotonic() + 300
        while not folder.saved():
            assert time.monotonic() < end, "the save was not noticed"
            time.sleep(0.02)
        time.sleep(0.3)
        assert not folder.saved()
    finally:
        folder.close()


def test_an_answer_that_is_gone_is_no_save(strides: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "LOOK", 0.0)
    folder = Folder(strides.answer)
    strides.answer.unlink()
    assert not folder.saved()
    folder.close()


# --- from the beginning to the end ---


def test_it_starts_what_is_not_started(
    clone: Path, quick: type[Quick], monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    monkeypatch.setattr(watching, "open_keys", lambda stream: Typed("q"))
    assert watch(clone, None) == 0
    out = capsys.readouterr().out
    assert "Your file: exercises/02-tensor-storage/01_strides/answer.py" in out
    assert out.count("Watching exercises/02-tensor-storage/01_strides/answer.py\n") == 1
    assert "`workbook watch" not in out
    assert watch(clone, "02.1") == 0
    out = capsys.readouterr().out
    assert "Your file" not in out
    assert "Watching exercises/02-tensor-storage/01_strides/answer.py" in out
    assert load(clone).last == "02-tensor-storage/strides"


def test_it_ends_with_the_terminal(
    clone: Path, strides: Exercise, quick: type[Quick], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> None:
        raise EOFError

    monkeypatch.setattr(watching, "open_keys", lambda stream: Typed(gone))
    assert watch(clone, "02.1") == 0
    assert quick.stopped == 0


def test_when_all_have_passed_there_is_nothing_to_watch(clone: Path, capsys: Output) -> None:
    for name in ("02.1", "02.2"):
        note(clone, find(clone, name), states.passed("0"))
    assert watch(clone, None) == 0
    assert "All 2 exercises have passed" in capsys.readouterr().out


# Python may miss a signal that comes just before a long sleep begins, so these programs sleep in short steps; and the
# machine may be busy, so their tests wait for as long as it takes.


def test_a_check_that_is_stopped_ends_with_all_it_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "import pathlib, time\n"
        "try:\n    pathlib.Path('on').touch()\n    while True: time.sleep(0.01)\n"
        "except KeyboardInterrupt:\n    pathlib.Path('off').touch()"
    )
    real: Any = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda command, **o: real([sys.executable, "-c", script], **o))
    monkeypatch.setattr(watching, "PATIENCE", 60)
    monkeypatch.chdir(tmp_path)
    check = Check("02.1")
    while not (tmp_path / "on").exists():
        time.sleep(0.01)
    assert check.running()
    check.stop()
    assert (tmp_path / "off").exists()
    assert not check.running()
    check.stop()


def test_a_check_that_is_stopped_says_nothing_of_it(
    clone: Path, strides: Exercise, monkeypatch: pytest.MonkeyPatch, capfd: Output
) -> None:
    script = (
        "import pathlib, sys, time, workbook.commands; from workbook.__main__ import main\n"
        "def wait(*_):\n    pathlib.Path('on').touch()\n    while True: time.sleep(0.01)\n"
        "workbook.commands.root = wait; sys.argv = ['workbook', 'check']; sys.exit(main())"
    )
    real: Any = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda command, **o: real([sys.executable, "-c", script], **o))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(watching, "PATIENCE", 60)
    check = Check("02.1")
    while not (clone / "on").exists():
        time.sleep(0.01)
    check.stop()
    assert check.process.returncode == 130
    assert capfd.readouterr() == ("", "")


def test_a_check_that_does_not_want_to_end_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "import pathlib, signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "pathlib.Path('on').touch(); time.sleep(60)"
    )
    real: Any = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda command, **o: real([sys.executable, "-c", script], **o))
    monkeypatch.setattr(watching, "PATIENCE", 0.1)
    monkeypatch.chdir(tmp_path)
    check = Check("02.1")
    while not (tmp_path / "on").exists():
        time.sleep(0.01)
    check.stop()
    assert not check.running()


@pytest.fixture
def running(clone: Path, strides: Exercise) -> Iterator[subprocess.Popen[str]]:
    """A real watch without a keyboard, as a process; its checks end at once, for there is no such command."""
    script = (
        "import sys; from pathlib import Path\n"
        "import workbook.commands; clone = Path(sys.argv[1]); workbook.commands.root = lambda: clone\n"
        "import workbook.exercises.watch as watching\n"
        "class Check(watching.Check):\n    def __init__(self, name): super().__init__('--no-such-option')\n"
        "watching.Check = Check\n"
        "from workbook.__main__ import main\n"
        "sys.argv = ['workbook', 'watch', '02.1']; sys.exit(main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(clone)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    yield process
    process.kill()
    process.communicate()


def read_until(process: subprocess.Popen[str], words: str) -> None:
    """Read what a process prints until these words."""
    assert process.stdout is not None
    for line in process.stdout:
        if words in line:
            return
    raise AssertionError(f"it ended without {words!r}")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_without_a_keyboard_it_checks_on_each_save_until_it_is_ended(
    running: subprocess.Popen[str], strides: Exercise, number: signal.Signals, code: int
) -> None:
    read_until(running, "Saving answer.py checks it again. Ctrl-C ends this.")
    strides.answer.write_text("saved\n")
    read_until(running, "Saving answer.py checks it again. Ctrl-C ends this.")
    running.send_signal(number)
    _, error = running.communicate(timeout=300)
    assert running.returncode == code
    assert "Traceback" not in error
    assert error.count("Stopped.\n") == (code == 130)
