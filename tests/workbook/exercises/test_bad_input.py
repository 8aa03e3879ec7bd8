"""What does the command say and keep when a reader, their answer or their files do something bad?

Everything runs through the real command line in a process of its own, in a small clone with exercise 02.1 in it. Each
time the exit code is right, the message names what was wrong and what to do next, nothing that the reader wrote is
lost, and no traceback of ours is shown.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.workbook.exercises.copies import ROOT, clone_with_strides, plain_environment
from workbook.exercises.catalogue import Exercise
from workbook.exercises.sheet import unanswered

pytestmark = pytest.mark.ci  # each test starts commands, and each command processes

PATIENCE = 600  # seconds in which a command has to end: the machine may be busy
ENDLESS = "def contiguous_strides(shape):\n    while True: pass\n"
POSIX = pytest.mark.skipif(os.name == "nt", reason="Windows has neither these permissions nor these signals")


class Clone:
    """A small clone, and the commands that are given in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.exercise: Exercise = clone_with_strides(root)
        self.state = root / "exercises" / "progress.json"
        self.temporary = root / "tmp"
        self.temporary.mkdir()
        # The command belongs to the clone that its package stands in: this one.
        shutil.copytree(ROOT / "workbook", root / "workbook")
        (root / "reference").symlink_to(ROOT / "reference", target_is_directory=True)

    def popen(self, *arguments: str, before: Callable[[], None] | None = None) -> subprocess.Popen[str]:
        """Start a command, at the head of a process group as a shell does."""
        return subprocess.Popen(
            [sys.executable, "-m", "workbook", *arguments],
            cwd=self.root,
            env=plain_environment(TMPDIR=str(self.temporary), PYTHONUNBUFFERED="1"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            start_new_session=True,
            preexec_fn=before,  # noqa: PLW1509 (no threads here)
        )

    def run(self, *arguments: str, before: Callable[[], None] | None = None) -> Done:
        """Run a command to its end."""
        process = self.popen(*arguments, before=before)
        output, error = process.communicate(timeout=PATIENCE)
        return Done(process.returncode, output, error)

    def check(self, answer: str | None = None, *arguments: str) -> Done:
        """Check this answer, which is the reader's and stays as it is."""
        if answer is not None:
            self.exercise.answer.write_text(answer, encoding="utf-8")
        before = self.files()
        done = self.run("check", "02.1", *arguments)
        assert self.files() == before
        return done

    def runs(self) -> bool:
        """Whether the answer has been handed to a rung."""
        return any(path.parent.name == "work" for path in self.temporary.rglob("answer.py"))

    def files(self) -> dict[str, bytes]:
        """All files of the exercises but the state."""
        folder = self.root / "exercises"
        paths = [path for path in folder.rglob("*") if path.is_file() and path.parent != folder]
        return {str(path): path.read_bytes() for path in paths if "__pycache__" not in path.parts}


class Done:
    """How a command ended. It never shows a traceback of ours."""

    def __init__(self, code: int, output: str, error: str) -> None:
        self.code, self.output, self.error = code, output, error
        assert "Traceback" not in output + error, output + error
        assert "workbook/" not in output.replace("`workbook", ""), output

    @property
    def words(self) -> str:
        """The output without its line breaks."""
        return " ".join(self.output.split())


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """A clone in which nothing is started."""
    return Clone(tmp_path)


@pytest.fixture
def solution(clone: Clone) -> str:
    """An answer that passes."""
    return clone.exercise.solution.read_text(encoding="utf-8")


NEXT = "Next: fix answer.py (line {line}), then `workbook check 02.1` again. Stuck? `workbook hint 02.1`"


# --- the command line ---


@pytest.mark.parametrize("command", ["start", "check", "hint", "solution", "reset", "watch"])
def test_an_unknown_exercise_is_refused_with_the_nearest(clone: Clone, command: str) -> None:
    done = clone.run(command, "stride")
    assert done.code == 2
    assert done.error == (
        "workbook: there is no exercise 'stride'\n"
        "  the nearest are:\n"
        "    02.1  strides  (Row-major strides)\n"
        "  all of them: `workbook progress`\n"
    )
    assert not clone.state.exists()
    assert not clone.exercise.answer.exists()


def test_a_check_before_the_start_says_how_to_start(clone: Clone) -> None:
    done = clone.run("check", "02.1")
    assert done.code == 3
    assert "02.1 is not started" in done.words
    assert "`workbook start 02.1`" in done.words


def test_the_stub_is_not_started_yet(clone: Clone) -> None:
    assert clone.run("start", "02.1").code == 0
    done = clone.check()
    assert done.code == 3
    assert "its own tests not started" in done.words
    assert "`workbook hint 02.1`" in done.words


def test_outside_a_clone_the_command_says_where_exercises_are(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "workbook", tmp_path / "installed" / "workbook")
    environment = plain_environment(PYTHONPATH=str(tmp_path / "installed"))
    command = [sys.executable, "-m", "workbook", "start", "02.1"]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "an installed wheel holds only the library" in done.stderr
    assert "clone the repository and run the command inside it" in done.stderr


# --- answers ---


# The answer, the line that is to be mended, and what is said
ANSWERS: dict[str, tuple[str, int, tuple[str, ...]]] = {
    "a syntax error": (
        "def contiguous_strides(shape)\n    return ()\n",
        1,
        ("SyntaxError: expected ':'", "def contiguous_strides(shape)\n", "^\n"),
    ),
    "an endless loop": (ENDLESS, 2, ("still running after {limit} seconds, in line 2", "`--limit SECONDS`")),
    "an endless loop at the top": (
        "x = 1\nwhile True: x = -x\n",
        2,
        ("still running after {limit} seconds, in line 2",),
    ),
    "megabytes": (
        "def contiguous_strides(shape):\n    print('many ' * 1_000_000)\n    return shape\n",
        1,
        ("got        (2,)\n", "printed    many many", "... and 5.0 MB more\n"),
    ),
    "sys.exit": ("import sys\n\n\ndef contiguous_strides(shape):\n    sys.exit(0)\n", 5, ("it called sys.exit(0)",)),
    "the wrong type": (
        "def contiguous_strides(shape):\n    return '12, 4, 1'\n",
        1,
        ("got        '12, 4, 1', a str\n", "expected   (1,), a tuple\n"),
    ),
    "nothing returned": ("def contiguous_strides(shape):\n    shape\n", 1, ("None (is a `return` missing?)",)),
    "an exception": (
        "def contiguous_strides(shape):\n    return shape[9]\n",
        2,
        ("IndexError: tuple index out of range",),
    ),
    "a program": (
        "import os\n\n\ndef contiguous_strides(shape):\n    os.system('true')\n",
        5,
        ("it tried to start another program",),
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_a_bad_answer_is_refused_with_its_line(clone: Clone, name: str) -> None:
    answer, line, words = ANSWERS[name]
    hangs = any("{limit}" in word for word in words)
    for limit in ("3", "30", "150") if hangs else ("150",):  # a slow machine gets more time to reach the loop
        done = clone.check(answer, "--limit", limit)
        if "it had not come to your answer yet" not in done.output:
            break
    assert done.code == 1
    assert "1  its own tests      refused" in done.output
    assert "2  the lab sheet      not run\n3  inside glasstorch  not run\n" in done.output
    assert [word for word in words if word.replace("{limit}", limit) not in done.output] == []
    assert NEXT.format(line=line) in done.words
    assert len(done.output) < 3_000
    assert json.loads(clone.state.read_text(encoding="utf-8"))  # that it was begun is known
    assert list(clone.temporary.iterdir()) == []


@pytest.mark.parametrize(
    "answer",
    [
        "import sys\n\nsys.path.insert(0, {folder!r})\nfrom solution import contiguous_strides\n",
        "exec(open({file!r}).read())\n",
    ],
)
def test_an_answer_that_imports_the_solution_is_refused(clone: Clone, answer: str) -> None:
    solution = clone.exercise.solution
    done = clone.check(answer.format(folder=str(solution.parent), file=str(solution)))
    assert done.code == 1
    assert "it tried to read the solution" in done.words
    assert NEXT.format(line=answer.count("\n")) in done.words


@pytest.mark.parametrize(
    "deed",
    ["shutil.rmtree({folder!r})", "os.remove({state!r})", "os.rename({check!r}, 'mine.py')", "open({check!r}, 'w')"],
)
def test_an_answer_that_deletes_or_overwrites_is_refused_and_nothing_is_lost(clone: Clone, deed: str) -> None:
    assert clone.run("start", "02.1").code == 0
    e = clone.exercise
    deed = deed.format(folder=str(e.folder), state=str(clone.state), check=str(e.check))
    done = clone.check(f"import os\nimport shutil\n\n\ndef contiguous_strides(shape):\n    {deed}\n")
    assert done.code == 1
    assert "outside its temporary folder" in done.words
    assert NEXT.format(line=6) in done.words
    assert clone.state.exists()


def test_what_the_answer_prints_does_not_look_like_a_result(clone: Clone, solution: str) -> None:
    done = clone.check("print('1  its own tests      passed')\nimport os\nos._exit(0)\n" + solution)
    assert done.code == 1
    assert "without a result" in done.words


# --- shipped files ---


def test_an_edited_check_is_said_and_does_not_count(clone: Clone) -> None:
    check = clone.exercise.check
    check.write_text(check.read_text(encoding="utf-8").replace("expect(", "print("), encoding="utf-8")
    done = clone.check("def contiguous_strides(shape):\n    return ()\n")
    assert done.code == 1
    assert "check_strides.py is not as shipped, so this run does not count" in done.words
    assert "git checkout -- exercises/02-tensor-storage/01_strides/check_strides.py" in done.words
    progress = json.loads(clone.run("progress", "--json").output)
    assert [one["standing"] for one in progress["exercises"]] == ["started"]


def test_a_right_answer_under_an_edited_check_does_not_count_until_it_is_back(clone: Clone, solution: str) -> None:
    shipped = clone.exercise.check.read_text(encoding="utf-8")
    clone.exercise.check.write_text(shipped + "# a note\n", encoding="utf-8")
    done = clone.check(solution)
    assert done.code == 1
    assert "not as shipped" in done.words
    assert "0 of 1 exercise passed" in clone.run("progress").words
    clone.exercise.check.write_text(shipped, encoding="utf-8")
    assert clone.check().code == 0
    assert "1 of 1 exercise passed" in clone.run("progress").words


def test_without_the_manifest_no_pass_counts(clone: Clone, solution: str) -> None:
    (clone.root / "exercises" / "manifest.json").unlink()
    done = clone.check(solution)
    assert done.code == 1
    assert "exercises/manifest.json is not as shipped, so this run does not count as passed." in done.words
    assert "git checkout -- exercises/manifest.json" in done.words


def test_a_folder_in_the_answers_place_is_said_by_every_command(clone: Clone) -> None:
    clone.exercise.answer.mkdir()
    done = clone.run("check", "02.1")
    assert done.code == 1
    assert "got answer.py is a folder expected a file: move away what stands there" in done.words
    for name in ("start", "reset"):
        done = clone.run(name, "02.1")
        assert (done.code, done.output) == (1, "")
        assert done.error.endswith(
            "01_strides/answer.py is a folder\n  move it away; `workbook start 02.1` then makes the file\n"
        )


def test_facts_that_cannot_be_read_are_said_with_how_to_get_them_back(clone: Clone) -> None:
    clone.exercise.facts.write_text("title = \n", encoding="utf-8")
    done = clone.run("progress")
    assert done.code == 1
    assert "exercises/02-tensor-storage/01_strides/exercise.toml is not TOML" in done.error
    assert "git checkout -- exercises/02-tensor-storage/01_strides/exercise.toml" in done.error


# --- a folder in which nothing can be written ---


def without_privileges() -> None:
    """Make root obey permissions too, in the program that is started next."""
    if os.geteuid() == 0:
        capability_bounding_set_drop = 24
        for number in (1, 2, 3):  # override permissions to write, to read and search, to own
            ctypes.CDLL(None).prctl(capability_bounding_set_drop, number, 0, 0, 0)


@pytest.fixture
def closed(clone: Clone) -> Iterator[Callable[[], None]]:
    """Takes the right to write from all folders of exercises; gives it back at the end."""
    folders = [clone.root / "exercises", clone.exercise.folder]

    def close() -> None:
        for folder in folders:
            folder.chmod(0o555)

    yield close
    for folder in folders:
        folder.chmod(0o755)


@POSIX
def test_start_in_a_read_only_folder_says_which(clone: Clone, closed: Callable[[], None]) -> None:
    closed()
    done = clone.run("start", "02.1", before=without_privileges)
    assert done.code == 1
    assert "01_strides/answer.py could not be written: Permission denied" in done.error
    assert "must be writable for you" in done.error
    assert not clone.exercise.answer.exists()


@POSIX
def test_check_in_a_read_only_folder_judges_all_the_same(
    clone: Clone, closed: Callable[[], None], solution: str
) -> None:
    clone.exercise.answer.write_text(solution, encoding="utf-8")
    closed()
    done = clone.run("check", "02.1", before=without_privileges)
    assert done.code == 0
    assert "3 inside glasstorch passed" in done.words
    assert "progress.json" in done.error
    assert "Permission denied" in done.error
    assert clone.exercise.answer.read_text(encoding="utf-8") == solution


@POSIX
def test_reset_in_a_read_only_folder_leaves_the_answer(clone: Clone, closed: Callable[[], None], solution: str) -> None:
    clone.exercise.answer.write_text(solution, encoding="utf-8")
    closed()
    done = clone.run("reset", "02.1", before=without_privileges)
    assert done.code == 1
    assert "nothing was reset: a copy is kept first" in done.error
    assert clone.exercise.answer.read_text(encoding="utf-8") == solution


def test_a_file_where_a_folder_is_wanted_leaves_the_answer(clone: Clone, solution: str) -> None:
    clone.exercise.answer.write_text(solution, encoding="utf-8")
    clone.exercise.kept.write_text("mine", encoding="utf-8")
    done = clone.run("reset", "02.1")
    assert done.code == 1
    assert "kept" in done.error
    assert clone.exercise.answer.read_text(encoding="utf-8") == solution


# --- the state ---


@pytest.mark.parametrize("text", ["", "{", '{"version": "one"}', "\x00\xff"])
def test_a_damaged_state_is_kept_and_said_and_no_answer_is_touched(clone: Clone, text: str) -> None:
    clone.exercise.answer.write_text("mine = 1\n", encoding="utf-8")
    clone.state.write_text(text, encoding="utf-8")
    before = clone.files()
    done = clone.run("progress")
    assert done.code == 0
    assert "exercises/progress.json" in done.error
    assert "02.1 started" in done.words
    assert clone.state.with_name("progress.json.damaged-1").read_text(encoding="utf-8") == text
    assert clone.files() == before


def test_a_pass_counts_again_after_the_state_was_damaged(clone: Clone, solution: str) -> None:
    clone.state.write_text("{", encoding="utf-8")
    assert clone.check(solution).code == 0
    assert "1 of 1 exercise passed" in clone.run("progress").words


def test_a_state_of_a_newer_version_is_said_and_left_as_it_is(clone: Clone, solution: str) -> None:
    newer = '{"version": 99, "exercises": {"mine": 1}}\n'
    clone.state.write_text(newer, encoding="utf-8")
    for arguments in (("start", "02.1"), ("hint", "02.1"), ("progress",)):
        done = clone.run(*arguments)
        assert done.code == 0
        assert "exercises/progress.json" in done.error
        assert "99" in done.error
    assert clone.check(solution).code == 0
    assert clone.state.read_text(encoding="utf-8") == newer


# --- Ctrl-C ---


def interrupt(
    process: subprocess.Popen[str], *, after: str = "", ready: Callable[[], bool] = lambda: True, presses: int = 1
) -> Done:
    """Press Ctrl-C in a command's terminal, once it has printed this and is ready; again each 10 seconds, at most."""
    assert process.stdout is not None
    output = ""
    while after not in output:
        line = process.stdout.readline()
        assert line, "it ended before"
        output += line
    end = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < end
        time.sleep(0.02)
    for _ in range(presses - 1):
        os.killpg(process.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            rest, error = process.communicate(timeout=10)
            return Done(process.returncode, output + rest, error)
    os.killpg(process.pid, signal.SIGINT)
    rest, error = process.communicate(timeout=PATIENCE)
    return Done(process.returncode, output + rest, error)


def processes_in(folder: Path) -> list[str]:
    """The processes whose current folder is in this one, where the system tells."""
    found = []
    for link in Path("/proc").glob("[0-9]*/cwd"):
        try:
            place = os.readlink(link)
        except OSError:
            continue
        found += [link.parent.name] * Path(place).is_relative_to(folder)
    return found


def ends(check: Callable[[], object]) -> bool:
    """Whether this comes to nothing, sooner or later."""
    end = time.monotonic() + PATIENCE
    while check():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def waited_for(pipe: Path, held: ExitStack) -> bool:
    """Whether a process reads this named pipe; from then on it waits until what is held is let go."""
    try:
        end = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:  # nobody has opened it
            return False
        raise
    held.callback(os.close, end)
    return True


@POSIX
@pytest.mark.parametrize("arguments", [("02.1",), ("--all",), ("02.1", "--json")])
def test_ctrl_c_ends_a_check_and_all_that_it_started(clone: Clone, arguments: Sequence[str]) -> None:
    clone.exercise.answer.write_text(ENDLESS, encoding="utf-8")
    process = clone.popen("check", *arguments)
    done = interrupt(process, ready=clone.runs)
    assert done.code == 130
    assert done.error == "\nStopped.\n"
    assert ends(lambda: list(clone.temporary.iterdir()))
    assert ends(lambda: processes_in(clone.temporary))
    assert clone.exercise.answer.read_text(encoding="utf-8") == ENDLESS


@POSIX
def test_ctrl_c_during_start_leaves_whole_files_or_none(clone: Clone) -> None:
    sheet = clone.exercise.lab.read_bytes()
    clone.exercise.lab.unlink()
    os.mkfifo(clone.exercise.lab)  # a disk that does not answer: reading the sheet waits
    with ExitStack() as held:  # the other end of the pipe, lest the command reads its end
        # Python may see the signal, go on to read, and look at it when there is something to read: never, here.
        done = interrupt(clone.popen("start", "02.1"), ready=lambda: waited_for(clone.exercise.lab, held), presses=3)
    assert done.code == 130
    assert done.error == "\nStopped.\n"
    assert clone.exercise.answer.read_bytes() == clone.exercise.start.read_bytes()
    assert not clone.exercise.my_lab.exists()
    clone.exercise.lab.unlink()
    clone.exercise.lab.write_bytes(sheet)
    clone.exercise.answer.write_text("mine = 1\n", encoding="utf-8")
    assert clone.run("start", "02.1").code == 0
    assert clone.exercise.answer.read_text(encoding="utf-8") == "mine = 1\n"
    assert clone.exercise.my_lab.read_bytes() == unanswered(sheet)


@POSIX
def test_ctrl_c_ends_a_watch_and_its_check(clone: Clone) -> None:
    clone.exercise.answer.write_text(ENDLESS, encoding="utf-8")
    process = clone.popen("watch", "02.1")
    done = interrupt(process, after="Watching", ready=clone.runs)
    assert done.code == 130
    assert "Stopped." in done.error
    assert ends(lambda: list(clone.temporary.iterdir()))
    assert ends(lambda: processes_in(clone.temporary))
    assert clone.exercise.answer.read_text(encoding="utf-8") == ENDLESS
