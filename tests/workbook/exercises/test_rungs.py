"""What do the rungs say of answers, good and bad, from beginning to end?"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import ipykernel
import pytest

from tests.workbook.exercises.made import CHECK, GOOD, PLACE, answer, cell, make
from workbook.exercises import manifest, rungs
from workbook.exercises.catalogue import find
from workbook.exercises.report import (
    BROKEN,
    NOT_RUN,
    NOT_STARTED,
    PASSED,
    REFUSED,
    Refusal,
    Report,
    RungResult,
    render,
)
from workbook.exercises.rungs import amount, run_check

pytestmark = pytest.mark.ci  # each answer is judged in processes of its own

STRIDES = """
def double(shape):
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size or 1
    return tuple(reversed(strides))
"""
CHECK_STRIDES = """
from workbook.exercises.asking import expect

def test_strides(ask):
    expect(ask("double", (2, 3)), (3, 1))
"""
CARRIED = """
import glasstorch as torch

def test_an_empty_tensor_is_row_major():
    assert torch.empty(2, 3).stride() == (3, 1)
"""


@pytest.fixture(autouse=True)
def leftovers(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files; no test leaves one there."""
    folder = tmp_path_factory.mktemp("temporary")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A clone with one exercise: write double."""
    make(tmp_path)
    return tmp_path


def refusal(report: Report) -> Refusal:
    """Why the answer was refused."""
    assert report.failed is not None
    assert report.failed.outcome == REFUSED
    assert report.failed.refusal is not None
    told = repr(report.failed.refusal)
    assert "/workbook/exercises" not in told, "a reader sees nothing of our insides"
    return report.failed.refusal


def test_a_good_answer_passes_all_three_rungs_in_order(tmp_path: Path) -> None:
    sheet = [cell("from answer import double"), cell("double((4, 5))", "(5, 1)")]
    make(tmp_path, check=CHECK_STRIDES, test=CARRIED, sheet=sheet)
    manifest.write(tmp_path)
    (tmp_path / "exercises" / PLACE / "answer.py").write_text(STRIDES)
    told: list[RungResult] = []
    report = run_check(tmp_path, find(tmp_path, "02.1"), told=told.append)
    assert [(r.rung, r.outcome) for r in report.rungs] == [("check", PASSED), ("lab", PASSED), ("graft", PASSED)]
    assert tuple(told) == report.rungs
    assert (report.passed, report.counts, report.exit_code) == (True, True, 0)
    assert report.answer == f"exercises/{PLACE}/answer.py"
    assert report.answer_sha256 == hashlib.sha256(STRIDES.encode()).hexdigest()
    calls = report.rungs[2].calls
    assert calls is not None
    assert calls["double"] > 0
    assert report.rungs[2].replaced[0].startswith("contiguous_strides of glasstorch/core/geometry.py is yours; ")


def test_all_rungs_judge_the_text_that_stood_there_at_the_start(tmp_path: Path) -> None:
    sheet = [cell("from answer import double"), cell("double((4, 5))", "(5, 1)")]
    make(tmp_path, check=CHECK_STRIDES, test=CARRIED, sheet=sheet)
    mine = tmp_path / "exercises" / PLACE / "answer.py"
    mine.write_text(STRIDES)

    def save(result: RungResult) -> None:
        mine.write_text("raise ValueError\n")

    report = run_check(tmp_path, find(tmp_path, "02.1"), told=save)
    assert [rung.outcome for rung in report.rungs] == [PASSED, PASSED, PASSED]
    assert report.answer_sha256 == hashlib.sha256(STRIDES.encode()).hexdigest()


def test_a_refused_rung_is_the_last(root: Path) -> None:
    report = answer(root, "def double(number):\n    return [number]\n")
    assert [rung.outcome for rung in report.rungs] == [REFUSED, NOT_RUN, NOT_RUN]
    assert refusal(report) == Refusal(
        asked="twice the number",
        input="double(1)",
        came="[1], a list",
        accepted="2, an int",
        because="a number and itself",
        line=1,
    )


def test_a_stub_is_not_started(root: Path) -> None:
    report = answer(root, "def double(number):\n    raise NotImplementedError\n")
    assert report.outcome == NOT_STARTED
    assert report.exit_code == 3
    assert report.failed is not None
    assert report.failed.refusal is not None
    assert report.failed.refusal.came == "double is not written yet: it still raises NotImplementedError (line 2)"


def test_what_the_answer_raises_is_shown_with_its_own_lines_only(root: Path) -> None:
    told = refusal(answer(root, "def half(n):\n    return n / 0\n\ndef double(n):\n    return half(n)\n", "check"))
    assert told.came == "ZeroDivisionError: division by zero"
    assert told.trace == ("line 5, in double: return half(n)", "line 2, in half: return n / 0")
    assert told.line == 2


def test_a_syntax_error_shows_line_and_caret(root: Path) -> None:
    told = refusal(answer(root, "def double(number):\n    return number +* 2\n", "check"))
    assert told.came == "SyntaxError: invalid syntax"
    assert told.trace == ("line 2", "return number +* 2", "               ^")
    assert told.line == 2


def hung(root: Path, text: str, rung: str, *limits: float) -> Refusal:
    """Why an answer that hangs was refused; a slow machine gets more time to reach the loop."""
    for limit in limits:
        told = refusal(answer(root, text, rung, limit=limit))
        assert told.came.startswith(f"it was still running after {limit:g} seconds")
        if told.line is not None:
            break
    return told


def test_an_endless_loop_is_ended_and_its_line_named(root: Path) -> None:
    told = hung(root, "def double(number):\n    while True:\n        pass\n", "check", 1, 8, 30, 120)
    assert told.line in (2, 3)
    assert told.trace[0].startswith(f"line {told.line}, in double: ")


def test_an_endless_loop_in_the_lab_sheet_is_ended_and_its_line_named(root: Path) -> None:
    hangs = "def double(number):\n    while number == 21:\n        pass\n"
    assert hung(root, hangs, "lab", 2.5, 10, 30, 120).line in (2, 3)


def test_an_endless_loop_inside_the_library_is_ended_and_its_line_named(tmp_path: Path) -> None:
    make(tmp_path, test=CARRIED)
    assert hung(tmp_path, "def double(shape):\n    while shape:\n        pass\n", "graft", 1, 8, 30, 120).line in (2, 3)


def test_much_output_is_cut_and_counted(root: Path) -> None:
    report = answer(root, GOOD + "print('first')\nprint('x' * 99 * 1000 * 100)\n", "check")
    assert report.rungs[0].outcome == PASSED
    first, second, rest = report.rungs[0].printed
    assert first == "first"
    assert set(second) == {"x"}
    assert rest == "... and 9.9 MB more"


@pytest.mark.parametrize(
    ("end", "came"),
    [
        ("raise SystemExit(0)", "it called sys.exit(0)"),
        ("import sys; sys.exit()", "it called sys.exit()"),
        ("import os; os._exit(0)", "the process ended with exit code 0 without a result"),
        ("import os; os.abort()", "the process was killed (SIGABRT) without a result"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    ],
)
def test_ending_the_process_is_no_pass(root: Path, end: str, came: str) -> None:
    assert refusal(answer(root, f"def double(number):\n    {end}\n", "check")).came == came


def test_ending_the_process_at_the_top_is_no_pass(root: Path) -> None:
    assert refusal(answer(root, "import sys\nsys.exit(0)\n", "check")).came == "it called sys.exit(0)"


def test_ending_the_kernel_is_no_pass(root: Path) -> None:
    told = refusal(answer(root, "import os\ndef double(number):\n    os._exit(0)\n", "lab", limit=300))
    assert told.came.endswith("without a result")


def test_deleting_a_file_is_refused_and_the_file_is_there(root: Path) -> None:
    precious = root / "precious.txt"
    precious.touch()
    catches = f"""
        import os

        def double(number):
            try:
                os.remove({str(precious)!r})
            except OSError:
                pass
            return 2 * number
        """
    report = answer(root, catches, "check")
    assert precious.exists()
    assert refusal(report).came == f"it tried to delete {precious}, outside its temporary folder"
    assert refusal(report).line == 6


BELOW = """
    for _, _, names, folder in os.fwalk({place!r}):
        for name in names:
            os.unlink(name, dir_fd=folder)
"""
DIRECT = """
    os.unlink("precious.txt", dir_fd=os.open({place!r}, os.O_RDONLY))
"""
EMPTIED = """
    os.open("precious.txt", os.O_WRONLY | os.O_TRUNC, dir_fd=os.open({place!r}, os.O_RDONLY))
"""


@pytest.mark.skipif(os.unlink not in os.supports_dir_fd, reason="the system has no such calls")
@pytest.mark.parametrize("deed", [BELOW, DIRECT, EMPTIED])
def test_a_file_named_from_an_open_folder_is_as_safe(root: Path, deed: str) -> None:
    place = root / "place"
    place.mkdir()
    (place / "precious.txt").write_text("mine")
    text = "import os\n\ndef double(number):" + deed.format(place=str(place))
    told = refusal(answer(root, text, "check"))
    assert (place / "precious.txt").read_text() == "mine"
    what = "write to" if deed == EMPTIED else "delete"
    assert told.came == f"it tried to {what} {place / 'precious.txt'}, outside its temporary folder"


@pytest.mark.skipif(os.unlink not in os.supports_dir_fd, reason="the system has no such calls")
def test_the_library_may_go_on_asking_whether_folders_can_be_named_so(root: Path) -> None:
    asks = "import os\n\ndef double(number):\n    return number * (1 + (os.open in os.supports_dir_fd))\n"
    assert answer(root, asks, "check").passed


def test_the_kernel_is_guarded_too(root: Path) -> None:
    precious = root / "precious.txt"
    precious.touch()
    told = refusal(answer(root, f"import os\ndef double(n):\n    os.remove({str(precious)!r})\n", "lab"))
    assert precious.exists()
    assert "it tried to delete" in told.came


def test_a_file_of_its_own_may_be_written(root: Path) -> None:
    writes = "from pathlib import Path\nPath('notes.txt').write_text('mine')\n" + GOOD
    assert answer(root, writes, "check").passed
    assert not (root / "exercises" / PLACE / "notes.txt").exists()


def test_importing_the_solution_is_refused(root: Path) -> None:
    folder = root / "exercises" / "solutions" / PLACE
    text = f"import sys\nsys.path.insert(0, {str(folder)!r})\nfrom solution import double\n"
    told = refusal(answer(root, text, "check"))
    assert told.came.startswith("it tried to read the solution")
    assert told.line == 3


def test_starting_a_program_is_refused(root: Path) -> None:
    told = refusal(answer(root, "import os\nos.system('true')\n" + GOOD, "check"))
    assert told.came == "it tried to start another program (os.system)"


def test_pytorch_is_out_of_reach(root: Path) -> None:
    assert "use `import glasstorch as torch`" in refusal(answer(root, "import torch\n" + GOOD, "check")).came


def test_a_thread_that_stays_does_not_hold_up_the_result(root: Path) -> None:
    stays = "import threading, time\nthreading.Thread(target=time.sleep, args=(60,)).start()\n" + GOOD
    began = time.monotonic()
    assert answer(root, stays, "check", limit=50).passed
    assert time.monotonic() - began < 45


def test_an_answer_that_calls_its_counterpart_is_refused_in_rung_one(root: Path) -> None:
    borrows = """
        from glasstorch.core.geometry import contiguous_strides

        def double(number):
            return contiguous_strides((number, 2))[0]
        """
    told = refusal(answer(root, borrows, "check"))
    assert told.came.startswith("your answer calls the piece that it replaces (glasstorch.core.geometry:contiguous")
    assert (told.asked, told.line) == ("your own double", 5)


def test_a_missing_name_and_a_name_that_is_no_function_are_told(root: Path) -> None:
    assert refusal(answer(root, "def triple(n):\n    return 3 * n\n", "check")).came == (
        "answer.py has no double; it defines triple"
    )
    assert refusal(answer(root, "double = 2\n", "check")).came == "double is an int: 2"


@pytest.mark.parametrize(
    ("content", "came"),
    [
        (b"# caf\xe9\ndouble = 1\n", "line 1 has the byte 0xe9, which is not UTF-8"),
        (b"x = 1\n\x00\n", "null bytes"),
        (b"# coding: no-such\n", "unknown encoding"),
    ],
)
def test_a_file_that_is_no_text_is_told(root: Path, content: bytes, came: str) -> None:
    (root / "exercises" / PLACE / "answer.py").write_bytes(content)
    assert came in refusal(run_check(root, find(root, "02.1"), rungs=["check"])).came


def test_a_missing_answer_a_folder_a_link_and_a_huge_file_are_told(root: Path) -> None:
    exercise = find(root, "02.1")
    assert refusal(run_check(root, exercise)).came == "there is no answer.py"
    exercise.answer.mkdir()
    assert refusal(run_check(root, exercise)).came == "answer.py is a folder"
    exercise.answer.rmdir()
    exercise.answer.symlink_to("elsewhere.py")
    told = refusal(run_check(root, exercise))
    assert told.came == "answer.py is a link to elsewhere.py, which is not there"
    assert told.accepted.startswith("a file: move away what stands there; ")
    exercise.answer.unlink()
    exercise.answer.write_bytes(b"#" * (1 << 21))
    assert refusal(run_check(root, exercise)).came == "answer.py is larger than a megabyte"


def test_a_wrong_cell_shows_what_came_and_what_was_accepted(root: Path) -> None:
    told = refusal(answer(root, "def double(number):\n    return number\n", "lab"))
    assert told == Refusal(asked="the cell below 'Twice' in lab.ipynb", input="double(21)", came="21", accepted="42")


def test_a_cell_that_raises_shows_the_line_of_the_answer(root: Path) -> None:
    told = refusal(answer(root, "def double(number):\n    return number / 0\n", "lab"))
    assert told.came == "ZeroDivisionError: division by zero"
    assert told.line == 2
    assert told.trace == ("line 2: return number / 0",)


def test_a_check_file_that_fails_by_itself_is_the_authors_fault(tmp_path: Path) -> None:
    make(tmp_path, check="def test_it(ask):\n    assert 1 == 2\n")
    report = answer(tmp_path, GOOD, "check")
    assert (report.outcome, report.exit_code) == (BROKEN, 1)
    make_check = tmp_path / "exercises" / PLACE / "check_double.py"
    make_check.write_text("def test_it(ask:\n")
    assert answer(tmp_path, GOOD, "check").outcome == BROKEN
    make_check.write_text("x = 1\n")
    report = answer(tmp_path, GOOD, "check")
    assert report.failed is not None
    assert report.failed.refusal is not None
    assert report.failed.refusal.came == "the check file: no test ran"


def test_a_plain_assert_is_a_refusal_that_shows_the_last_call(tmp_path: Path) -> None:
    make(tmp_path, check="def test_it(ask):\n    '''a number'''\n    assert ask('double', 4).value > 7\n")
    told = refusal(answer(tmp_path, "def double(n):\n    return n\n", "check"))
    assert (told.asked, told.input, told.came) == ("a number", "double(4)", "4")
    assert told.accepted == "assert ask('double', 4).value > 7"


def test_a_value_that_the_check_cannot_go_on_with_is_a_refusal(tmp_path: Path) -> None:
    make(tmp_path, check="def test_it(ask):\n    len(ask('double', 4).value)\n")
    told = refusal(answer(tmp_path, GOOD, "check"))
    assert told.because == "the check cannot go on with it: TypeError: object of type 'int' has no len()"


def test_an_edited_check_is_said_and_does_not_count(root: Path) -> None:
    manifest.write(root)
    path = root / "exercises" / PLACE / "check_double.py"
    path.write_text(path.read_text() + "\n")
    report = answer(root, GOOD, "check")
    assert report.edited == (f"exercises/{PLACE}/check_double.py",)
    assert report.passed
    assert not report.counts


def test_the_environment_of_the_reader_changes_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    monkeypatch.setenv("CI", "true")
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = ['--no-such-option']\n")
    assert answer(root, GOOD, "check").passed


def test_a_read_only_folder_is_no_hindrance(root: Path) -> None:
    folder = root / "exercises" / PLACE
    (folder / "answer.py").write_text(GOOD)
    folder.chmod(0o500)
    try:
        assert run_check(root, find(root, "02.1"), rungs=["check"]).passed
    finally:
        folder.chmod(0o700)


def test_nothing_is_left_behind(root: Path, leftovers: Path) -> None:
    locks = "import os\nos.mkdir('locked')\nopen('locked/file', 'w').close()\nos.chmod('locked', 0)\n"
    answer(root, locks + GOOD, "check")
    assert not list(leftovers.iterdir())


INTERRUPTED = """
import sys, tempfile
from pathlib import Path
from workbook.exercises.catalogue import find
from workbook.exercises.rungs import run_check
root, tempfile.tempdir = Path(sys.argv[1]), sys.argv[2]
run_check(root, find(root, "02.1"), rungs=[sys.argv[3]])
"""


@pytest.mark.skipif(os.name == "nt", reason="a signal to one process is sent otherwise there")
@pytest.mark.parametrize("rung", ["check", "lab"])
def test_an_interrupt_ends_everything_and_leaves_nothing(root: Path, leftovers: Path, rung: str) -> None:
    began = root / "began.txt"
    text = f"def double(number):\n    while True:\n        {str(began)!r}\n"
    (root / "exercises" / PLACE / "answer.py").write_text(text)
    command = [sys.executable, "-c", INTERRUPTED, str(root), str(leftovers), rung]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        for _ in range(6000):
            groups = [int(path.name) for path in leftovers.glob("*/*/groups/*")]
            if list(leftovers.glob("*/*/rung-hang.txt")) or groups:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=300)
    assert process.returncode == -signal.SIGINT
    assert not list(leftovers.iterdir())
    for group in groups:
        with pytest.raises(ProcessLookupError):
            wait_for_end(group)


def wait_for_end(group: int) -> None:
    """Raise ProcessLookupError as soon as there is no such process group."""
    for _ in range(6000):
        os.killpg(group, 0)
        time.sleep(0.05)


def test_a_check_can_run_outside_of_the_main_thread(root: Path) -> None:
    reports: list[Report] = []
    thread = threading.Thread(target=lambda: reports.append(answer(root, GOOD, "check")))
    thread.start()
    thread.join()
    assert reports[0].passed


def test_an_amount_is_said_in_a_unit_that_fits() -> None:
    assert [amount(size) for size in (0, 999, 1000, 10**6)] == ["0 bytes", "999 bytes", "1.0 kB", "1.0 MB"]


def test_the_check_of_the_made_exercise_refuses_what_is_wrong(root: Path) -> None:
    assert "2 * number" in CHECK
    assert refusal(answer(root, "def double(number):\n    return number * number + 1\n", "check")).input == "double(2)"


@pytest.mark.parametrize("rung", ["check", "lab"])
def test_neither_what_it_prints_nor_what_it_raises_steers_the_terminal(root: Path, rung: str) -> None:
    clears = "print('\\x1b[2J')\ndef double(number):\n    raise ValueError('\\x1b[2J\\rgood')\n"
    report = answer(root, clears, rung)
    assert all(character.isprintable() or character == "\n" for character in render(report))
    if rung == "check":
        assert report.rungs[0].printed == (r"\x1b[2J",)
        assert refusal(report).came == r"ValueError: \x1b[2J\rgood"


@pytest.fixture
def installation(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation whose modules stand before all others; its glasstorch is empty."""
    code = tmp_path_factory.mktemp("code")
    (code / "workbook").symlink_to(rungs.CODE / "workbook", target_is_directory=True)
    (code / "reference" / "glasstorch").mkdir(parents=True)
    (code / "reference" / "glasstorch" / "__init__.py").touch()
    monkeypatch.setattr(rungs, "CODE", code)
    return code


@pytest.mark.parametrize("rung", ["check", "lab", "graft"])
@pytest.mark.parametrize(
    ("text", "came"), [("import no_such", "No module named 'no_such'"), ("def (", "invalid syntax")]
)
def test_a_library_that_cannot_be_imported_is_not_the_answers_fault(
    root: Path, installation: Path, rung: str, text: str, came: str
) -> None:
    (installation / "reference" / "glasstorch" / "__init__.py").write_text(text)
    report = answer(root, f"import glasstorch as torch\n{GOOD}", rung, limit=300)
    assert broken(report).startswith("glasstorch cannot be imported: ")
    assert came in broken(report)


@pytest.mark.parametrize(
    ("rung", "file", "text", "came"),
    [
        (
            "graft",
            "reference/glasstorch/__init__.py",
            "import os\nos.write(1, b'no\\nmemory\\n')\nos._exit(3)",
            "memory",
        ),
        ("check", "json.py", "raise ImportError('json is damaged')", "ImportError: json is damaged"),
    ],
)
def test_a_process_that_ends_before_the_answer_is_loaded_is_not_its_fault(
    root: Path, installation: Path, rung: str, file: str, text: str, came: str
) -> None:
    (installation / file).write_text(text)
    assert broken(answer(root, GOOD, rung)).endswith(f" before your answer was reached: {came}")


@pytest.mark.parametrize(
    ("rung", "file", "came"),
    [
        ("check", "pytest.py", "the rung could not begin: ImportError: damaged"),
        ("lab", "ipykernel/__init__.py", "pytest could not run: exit code"),
        ("lab", "ipykernel/kernelapp.py", "the kernel of the lab sheet did not start: "),
    ],
)
def test_a_tool_that_cannot_be_loaded_is_not_the_answers_fault(
    root: Path, installation: Path, rung: str, file: str, came: str
) -> None:
    (installation / "ipykernel").mkdir()
    (installation / "ipykernel" / "__init__.py").write_text(
        f"__path__ += {ipykernel.__path__!r}\nversion_info = (7,)\n"
    )
    (installation / file).write_text("raise ImportError('damaged')")
    assert broken(answer(root, GOOD, rung, limit=300)).startswith(came)


def test_an_error_of_ours_after_the_answer_has_begun_is_its_doing(root: Path) -> None:
    breaks = "import json\njson.dumps = None\n" + GOOD
    assert "without a result" in refusal(answer(root, breaks, "check")).came


def test_a_time_limit_before_the_answer_is_loaded_blames_no_loop(root: Path, installation: Path) -> None:
    (installation / "reference" / "glasstorch" / "__init__.py").write_text("while True: pass")
    told = refusal(answer(root, GOOD, "graft", limit=3))
    assert told.because == "your answer had not been reached yet. With `--limit SECONDS` it gets more time"


def broken(report: Report) -> str:
    """What is told of an exercise or an installation that is at fault."""
    result = report.rungs[0]
    assert result.outcome == BROKEN, result
    assert result.refusal is not None
    return result.refusal.came
