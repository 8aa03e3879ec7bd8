"""Does what a reader writes stay out of the repository?"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from workbook.exercises.catalogue import exercises

ROOT = Path(__file__).parents[2]


def git(*arguments: str) -> list[str]:
    """The lines that git prints; skips the test where the project is no clone."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("git, or its folder, is not there")
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.splitlines()


def test_nothing_that_a_reader_writes_is_committed() -> None:
    written = ("answer.py", "my_lab.ipynb", "progress.json")
    kept = [
        name
        for name in git("ls-files", "exercises")
        if name.endswith(written) or "/kept/" in name or "/faulty/" in name
    ]
    assert kept == []


def test_git_ignores_all_that_a_reader_writes() -> None:
    folders = [exercise.place for exercise in exercises(ROOT)]
    written = [f"{place}/{name}" for place in folders for name in ("answer.py", "my_lab.ipynb", "kept/answer-1.py")]
    written += [f"{place}/faulty/glasstorch/core/device.py" for place in folders]
    written += ["exercises/progress.json", "exercises/progress.json.damaged-1"]
    assert git("check-ignore", "--no-index", *written) == written


def test_git_ignores_nothing_that_is_shipped() -> None:
    shipped = [
        path.relative_to(ROOT).as_posix()
        for exercise in exercises(ROOT)
        for path in [exercise.facts, exercise.start, exercise.check, exercise.lab, exercise.solution]
    ]
    assert git("check-ignore", "--no-index", *shipped) == []
