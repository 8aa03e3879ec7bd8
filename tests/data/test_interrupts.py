"""Does a program with workers end cleanly on Ctrl-C, and when it leaves an iterator behind?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """
import multiprocessing, os, sys, time, warnings
warnings.simplefilter("ignore")
from glasstorch.utils.data import DataLoader

class Slow:
    def __len__(self):
        return 1000

    def __getitem__(self, index):
        time.sleep(0.001 if index < 40 else 600)
        return index

def main(method, way):
    loader = DataLoader(Slow(), 2, num_workers=2, multiprocessing_context=method, persistent_workers=way == "kept")
    iterator = iter(loader)
    next(iterator)
    print(*(process.pid for process in iterator._workers), flush=True)
    if way == "interrupted":
        for batch in iterator:
            pass

if __name__ == "__main__":
    main(*sys.argv[1:])
"""


def started(path: Path, *arguments: str) -> tuple[subprocess.Popen[str], list[int]]:
    """The program, as a shell starts it, and the processes of its workers."""
    path.write_text(PROGRAM, encoding="utf-8")
    child = subprocess.Popen(
        [sys.executable, str(path), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "reference")},
        start_new_session=True,  # a group of its own, to which Ctrl-C goes
    )
    assert child.stdout is not None
    return child, [int(pid) for pid in child.stdout.readline().split()]


def is_gone(pid: int) -> bool:
    """Whether a process ends; ten minutes are for a machine that is very busy."""
    end = time.monotonic() + 600
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True  # it has ended, and its parent has ended before it could collect it
        except FileNotFoundError:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="the system does not list processes")
@pytest.mark.parametrize("whole_group", [True, False], ids=["as in a terminal", "the program alone"])
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_ctrl_c_ends_the_program_and_its_workers(method: str, whole_group: bool, tmp_path: Path) -> None:
    child, pids = started(tmp_path / "program.py", method, "interrupted")
    assert len(pids) == 2
    (os.killpg if whole_group else os.kill)(child.pid, signal.SIGINT)
    _, errors = child.communicate(timeout=600)
    assert child.returncode == -signal.SIGINT
    assert errors.count("Traceback") == 1  # that of the program; the workers say nothing
    assert errors.rstrip().endswith("KeyboardInterrupt")
    assert all(is_gone(pid) for pid in pids)


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="the system does not list processes")
@pytest.mark.parametrize("way", ["left", "kept"])
def test_a_program_that_leaves_its_workers_ends_without_a_word(way: str, tmp_path: Path) -> None:
    child, pids = started(tmp_path / "program.py", "fork", way)
    _, errors = child.communicate(timeout=600)
    assert (child.returncode, errors) == (0, "")
    assert len(pids) == 2
    assert all(is_gone(pid) for pid in pids)
