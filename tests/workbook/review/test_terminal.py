"""Does the command hold its own in a real terminal, in a pipe, and when either goes away?"""

from __future__ import annotations

import io
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workbook.exercises.copies import ROOT, plain_environment
from tests.workbook.review.book import make_book
from workbook.review.interview import key_of
from workbook.review.sitting import on_terminal

if sys.platform == "win32":
    pytest.skip("Windows has no pseudo-terminals", allow_module_level=True)

import fcntl
import pty
import termios

PATIENCE = 120  # seconds to wait for a prompt: the machine may be busy
GRADE = "How was it? a, h, g or e: "
ANSWER = "\n> "
MAIN = (
    "import sys; from pathlib import Path; import workbook.commands; clone = Path(sys.argv[1])\n"
    "workbook.commands.root = lambda: clone; sys.argv = ['workbook', *sys.argv[2:]]\n"
    "from workbook.cli import main; code = main()\n"
    "{then}\nsys.exit(code)"
)


def arguments(clone: Path, *words: str, then: str = "") -> list[str]:
    """The program that runs a command in this clone, and a line of Python after it."""
    return [sys.executable, "-c", MAIN.format(then=then), str(clone), *words]


def environment() -> dict[str, str]:
    """That of a reader whose terminal has 100 columns and no colours."""
    return plain_environment(PYTHONPATH=str(ROOT), TERM="dumb", PYTHONIOENCODING="utf-8:strict")


class Terminal:
    """A command in a terminal of its own, and somebody who types."""

    def __init__(self, clone: Path, *words: str) -> None:
        self.end, other = pty.openpty()
        self.process = subprocess.Popen(
            arguments(clone, *words),
            env=environment(),
            stdin=other,
            stdout=other,
            stderr=other,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 (no threads here)
        )
        os.close(other)
        self.printed = ""

    def read(self) -> bool:
        """Take what was printed meanwhile. Returns whether the command may print more."""
        if not select.select([self.end], [], [], 0.1)[0]:
            return True
        try:
            content = os.read(self.end, 65_536)
        except OSError:  # Linux says that the other end was closed
            return False
        self.printed += content.decode(errors="replace").replace("\r\n", "\n")
        return bool(content)

    def wait_for(self, prompt: str, times: int = 1) -> None:
        """Wait until a prompt was printed so many times."""
        end = time.monotonic() + PATIENCE
        while self.printed.count(prompt) < times:
            assert self.read(), self.printed
            assert time.monotonic() < end, self.printed
        time.sleep(0.2)  # what is typed before a prompt is thrown away

    def type(self, content: bytes) -> None:
        """Type, while the command prints."""
        while content:
            if select.select([], [self.end], [], 0.1)[1]:
                content = content[os.write(self.end, content[:1024]) :]
            self.read()

    def paste(self, content: bytes) -> None:
        """Have a text wait for the command whole, however slowly this machine hands it over: at most 4,095 bytes."""
        self.process.send_signal(signal.SIGSTOP)
        self.type(content)
        self.process.send_signal(signal.SIGCONT)

    def finish(self) -> int:
        """Wait for the end. Returns the exit code."""
        end = time.monotonic() + PATIENCE
        while self.read():
            assert time.monotonic() < end, self.printed
        return self.process.wait(PATIENCE)

    def hang_up(self) -> None:
        """Close the window."""
        os.close(self.end)
        self.end = -1

    def close(self) -> None:
        """End all that is left."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.end >= 0:
            os.close(self.end)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with two questions that are new."""
    return make_book(tmp_path)


@pytest.fixture
def terminal(clone: Path) -> Iterator[Terminal]:
    """The command, which has asked its first question."""
    opened = Terminal(clone, "review")
    opened.wait_for(ANSWER)
    yield opened
    assert "Traceback" not in opened.printed
    opened.close()


def cards(clone: Path) -> dict[str, object]:
    """The cards of the reader's record."""
    record = clone / "exercises" / "progress.json"
    return json.loads(record.read_text(encoding="utf-8"))["cards"] if record.exists() else {}


def answer(terminal: Terminal, content: bytes = b"\n") -> None:
    """Answer the first question, with "good"."""
    terminal.type(content)
    terminal.wait_for(GRADE)
    terminal.type(b"g\n")
    terminal.wait_for(ANSWER, 2)


FIRST, SECOND = key_of("What is a tensor?"), key_of("What is a view?")


def test_a_sitting_in_a_terminal(clone: Path, terminal: Terminal) -> None:
    answer(terminal, b"numbers\n")
    terminal.type(b"\n")
    terminal.wait_for(GRADE, 2)
    terminal.type(b"a\n")
    assert terminal.finish() == 0
    assert "2 cards answered. The next comes back tomorrow." in terminal.printed
    assert set(cards(clone)) == {FIRST, SECOND}


def test_ctrl_c_keeps_what_was_answered_and_says_so(clone: Path, terminal: Terminal) -> None:
    answer(terminal)
    terminal.type(b"\x03")
    assert terminal.finish() == 130
    assert "1 card answered. The next comes back in 2 days, on " in terminal.printed
    assert terminal.printed.endswith("\nStopped.\n")
    assert set(cards(clone)) == {FIRST}


def test_the_end_of_the_input_ends_the_sitting(clone: Path, terminal: Terminal) -> None:
    answer(terminal)
    terminal.type(b"\x04")
    assert terminal.finish() == 0
    assert "1 card answered." in terminal.printed
    assert set(cards(clone)) == {FIRST}


def test_a_closed_terminal_loses_nothing_that_was_answered(clone: Path, terminal: Terminal) -> None:
    answer(terminal)
    terminal.hang_up()
    terminal.process.wait(PATIENCE)
    assert set(cards(clone)) == {FIRST}
    assert [path.name for path in (clone / "exercises").iterdir()] == ["progress.json"]


def test_a_closed_terminal_ends_a_command_that_ignores_the_signal(clone: Path) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as `nohup` does; the command takes it over
    opened = Terminal(clone, "review")
    try:
        opened.wait_for(ANSWER)
        answer(opened)
        opened.hang_up()
        opened.process.wait(PATIENCE)
        assert set(cards(clone)) == {FIRST}
    finally:
        signal.signal(signal.SIGHUP, before)
        opened.close()


@pytest.mark.parametrize(
    "content",
    [b"x" * 100_000 + b"\n", b"\x1b[2J\x1b]0;title\x07 \x00\x9b \n", b"\xff\xfe\xc3\n", "caf\u00e9 \u202e\n".encode()],
    ids=["100 kB", "escape sequences", "no text", "characters"],
)
def test_an_answer_of_any_kind_is_taken(clone: Path, terminal: Terminal, content: bytes) -> None:
    answer(terminal, content)
    assert "Answer to: What is a tensor?" in terminal.printed
    assert set(cards(clone)) == {FIRST}


def test_a_pasted_text_is_one_answer_and_grades_nothing(clone: Path, terminal: Terminal) -> None:
    terminal.paste(b"first line\ng\ne\n" + b"g\n" * 2_000)
    terminal.wait_for(GRADE)
    time.sleep(1)
    terminal.read()
    assert cards(clone) == {}
    terminal.type(b"g\n")
    terminal.wait_for(ANSWER, 2)
    assert terminal.printed.count(GRADE) == 1
    assert set(cards(clone)) == {FIRST}


def test_a_terminal_that_can_no_longer_be_read_ends_the_sitting(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def readline(self, size: int | None = -1, /) -> str:  # type: ignore[override]
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sys, "stdin", Gone())
    with pytest.raises(EOFError):
        on_terminal("> ")


# --- no terminal ---


def test_a_pipe_that_stays_open_is_not_waited_for(clone: Path) -> None:
    with subprocess.Popen(
        arguments(clone, "review"), env=environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        error, output = process.stderr.read(), process.stdout.read()  # both end when the command does
        assert process.wait(PATIENCE) == 1
    assert output == ""
    assert error.startswith(
        "workbook: a review asks and waits for answers, and this is not a terminal\n  No card is due, 2 are new.\n"
    )


def test_output_that_goes_to_a_file_is_no_terminal(clone: Path) -> None:
    end, other = pty.openpty()
    done = subprocess.run(
        arguments(clone, "review"), env=environment(), stdin=other,
        capture_output=True, text=True, check=False, timeout=PATIENCE,
    )  # fmt: skip
    os.close(end)
    os.close(other)
    assert (done.returncode, done.stdout) == (1, "")
    assert "this is not a terminal" in done.stderr


@pytest.mark.parametrize(("option", "value"), [("--minutes", "0"), ("--count", "0"), ("--minutes", "ten")])
def test_an_option_that_makes_no_sense_is_refused(clone: Path, option: str, value: str) -> None:
    done = subprocess.run(
        arguments(clone, "review", option, value), env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert f"Invalid value for '{option}'" in done.stderr


def test_a_name_that_is_unknown_ends_with_2(clone: Path) -> None:
    done = subprocess.run(
        arguments(clone, "review", "veiws"), env=environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    first = "workbook: there is no chapter, topic, section or exercise 'veiws'; the nearest is 'views' chapters: "
    assert " ".join(done.stderr.split()).startswith(first)


def test_without_fsrs_it_says_how_to_get_it(clone: Path) -> None:
    script = MAIN.format(then="").replace("from workbook.cli", "sys.modules['fsrs'] = None\nfrom workbook.cli")
    hidden = script.replace(
        "from workbook.cli", "import importlib.util; commands = workbook.commands\n"
        "commands.find_spec = lambda name: None if name == 'fsrs' else importlib.util.find_spec(name)\n"
        "from workbook.cli", 1,
    )  # fmt: skip
    done = subprocess.run(
        [sys.executable, "-c", hidden, str(clone), "review"],
        env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("workbook: the package 'fsrs' is not installed\n  run `make study`")


# --- what is imported ---

COMMANDS = (["progress"], ["next"], ["start"], ["hint", "02.1"], ["reset", "02.1"], ["--version"], ["-h"])


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_other_command_imports_fsrs(tmp_path: Path, words: list[str]) -> None:
    clone = make_book(tmp_path, "02-tensor-storage/01_strides")
    card = {"due": "2020-01-02", "reviewed": "2020-01-01", "stability": 1.0, "difficulty": 5.0}
    record = {"version": 2, "exercises": {}, "predictions": {}, "cards": {FIRST: card}}
    (clone / "exercises" / "progress.json").write_text(json.dumps(record), encoding="utf-8")
    done = subprocess.run(
        arguments(clone, *words, then="print('fsrs' in sys.modules)"),
        env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "False", done.stderr
    assert done.stderr == ""


def test_review_imports_it_and_nothing_heavy(clone: Path) -> None:
    heavy = "{'numpy', 'rich', 'jupytext', 'nbformat', 'mkdocs', 'pytest', 'watchfiles', 'glasstorch', 'yaml', 'torch'}"
    done = subprocess.run(
        arguments(clone, "review", then=f"print('fsrs' in sys.modules, {heavy} & set(sys.modules))"),
        env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "True set()\n"


def test_one_file_names_fsrs() -> None:
    importing = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "workbook").rglob("*.py")
        if "import fsrs" in path.read_text(encoding="utf-8")
    ]
    assert importing == ["workbook/review/schedule.py"]
