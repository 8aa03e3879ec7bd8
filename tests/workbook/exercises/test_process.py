"""Does a child process end when it should, with all that it started, and leave nothing?"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from workbook.exercises.process import (
    KEPT,
    Child,
    Ended,
    environment,
    interrupt,
    python,
    remove,
    spawn,
    temporary_folder,
    uninterrupted,
)

LONG = 300  # seconds in which what ends has ended: the machine may be busy


def child(folder: Path, code: str, **more: str) -> Child:
    """A process that runs this code."""
    return spawn([sys.executable, "-c", code], folder, {**os.environ, **more}, folder)


def gone(process: int) -> bool:
    """Whether a process has ended, after a while."""
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        state = Path(f"/proc/{process}/stat")
        if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
            return True  # it has ended; its new parent has not asked yet
        time.sleep(0.02)
    return False


def test_what_is_printed_comes_back_with_the_exit_code(tmp_path: Path) -> None:
    code = "import sys; print('out', flush=True); print('err', file=sys.stderr); sys.exit(7)"
    ended = child(tmp_path, code).wait(LONG)
    assert (ended.code, ended.output.split(), ended.left_out, ended.timed_out) == (7, ["out", "err"], 0, False)
    assert ended.how == "ended with exit code 7"
    assert 0 < ended.seconds < LONG


def test_the_beginning_of_much_output_is_kept_and_the_rest_counted(tmp_path: Path) -> None:
    ended = child(tmp_path, f"print('x' * {KEPT + 10**6})").wait(LONG)
    assert ended.output == "x" * KEPT
    assert ended.left_out == 10**6 + len(os.linesep)


def test_output_that_is_no_text_is_no_hindrance(tmp_path: Path) -> None:
    ended = child(tmp_path, r"import sys; sys.stdout.buffer.write(b'\xff\xfe')").wait(LONG)
    assert ended.output == "\ufffd\ufffd"


def test_a_process_that_does_not_end_is_ended(tmp_path: Path) -> None:
    ended = child(tmp_path, "import time; time.sleep(60)").wait(-1)
    assert ended.timed_out
    assert ended.code == -signal.SIGKILL
    assert ended.how == "was killed (SIGKILL)"


def test_it_reads_nothing_from_the_terminal(tmp_path: Path) -> None:
    assert "EOFError" in child(tmp_path, "input()").wait(LONG).output


def test_what_it_started_ends_with_it(tmp_path: Path) -> None:
    code = "import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)']).pid)"
    assert gone(int(child(tmp_path, code).wait(LONG).output))


def test_a_group_that_it_wrote_down_ends_with_it(tmp_path: Path) -> None:
    code = """
import pathlib, subprocess, sys
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
pathlib.Path(str(other.pid)).touch()
"""
    child(tmp_path, code).wait(LONG)
    (number,) = (int(path.name) for path in tmp_path.iterdir())
    assert gone(number)


def test_a_name_that_is_no_process_of_its_own_is_left_alone(tmp_path: Path) -> None:
    for name in ("0", "1", str(os.getpgrp()), "notes.txt"):
        (tmp_path / name).touch()
    assert child(tmp_path, "pass").wait(LONG).code == 0


def test_an_end_by_a_signal_without_name_is_said_by_number() -> None:
    assert Ended(-250, 0, False, "", 0).how == "ended with exit code -250"


def interrupted(folders: list[Path]) -> None:
    """Work in a temporary folder until Ctrl-C."""
    with temporary_folder() as folder:
        folders.append(folder)
        (folder / "a" / "b").mkdir(parents=True)
        (folder / "a" / "b" / "file").touch()
        (folder / "a").chmod(0o500)
        raise KeyboardInterrupt


def test_a_temporary_folder_is_gone_afterwards_whatever_is_in_it() -> None:
    folders: list[Path] = []
    with pytest.raises(KeyboardInterrupt):
        interrupted(folders)
    assert not folders[0].exists()


def test_a_folder_without_permissions_is_removed(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    (folder / "b").mkdir(parents=True)
    folder.chmod(0)
    remove(folder)
    assert not folder.exists()


def pressed_inside(reached: list[bool]) -> None:
    """Press Ctrl-C in a block that is not to be interrupted."""
    with uninterrupted():
        signal.raise_signal(signal.SIGINT)
        reached.append(True)


def test_an_interrupt_is_put_off_to_the_end_of_the_block() -> None:
    reached: list[bool] = []
    with pytest.raises(KeyboardInterrupt):
        pressed_inside(reached)
    assert reached == [True]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_environment_is_the_readers_without_what_changes_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PYTEST_ADDOPTS", "PYTHONSTARTUP", "CI", "IPYTHONDIR", "GLASSTORCH_X"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("LANGUAGE", "fr")
    found = environment(tmp_path, tmp_path / "tmp")
    assert not {"PYTEST_ADDOPTS", "PYTHONSTARTUP", "CI", "IPYTHONDIR", "GLASSTORCH_X"} & set(found)
    assert found["LANGUAGE"] == "fr"
    assert found["TMPDIR"] == str(tmp_path / "tmp")
    assert found["PYTHONPATH"].split(os.pathsep) == [str(tmp_path), str(tmp_path / "reference")]


def test_python_searches_no_module_in_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "random.py").write_text("print('mine')\n")
    done = spawn(python("-m", "random"), tmp_path, environment(tmp_path / "a", tmp_path), tmp_path).wait(LONG)
    assert "mine" not in done.output


class Told:
    """A process that notes its signals, or has ended."""

    def __init__(self, *, ended: bool = False) -> None:
        self.ended, self.signals = ended, list[int]()

    def send_signal(self, signal: int, /) -> None:
        self.signals.append(signal)
        if self.ended:
            raise ProcessLookupError


def test_a_process_is_interrupted_as_its_system_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "CTRL_BREAK_EVENT", raising=False)
    process = Told()
    interrupt(process)
    monkeypatch.setattr(signal, "CTRL_BREAK_EVENT", 1, raising=False)  # on Windows, where SIGINT cannot be sent
    interrupt(process)
    assert process.signals == [signal.SIGINT, 1]
    interrupt(Told(ended=True))
