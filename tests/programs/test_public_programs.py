"""Do programs that were written for PyTorch run unchanged, and print what they print with PyTorch?

Each program lies in `public/` and is run twice in a folder of its own: by Python with the real torch, and by
`python -m glasstorch`. All text between numbers must be the same. A number may differ by one in the last place that is
printed, and by a share of 1e-4 where a program prints more digits than that: roundings grow in training. A program
prints nothing that PyTorch itself prints otherwise on another processor. What the programs do with files, workers and
arguments is theirs.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
PUBLIC = HERE / "public"
PROGRAMS = sorted(path.stem for path in PUBLIC.glob("*.py"))
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d*)?(?:e[-+]?\d+)?")
WITHIN = 1e-4


def run(program: str, folder: Path, *runner: str) -> str:
    """What a program prints when it is run in a folder; its errors are the test's."""
    folder.mkdir()
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, *runner, str(PUBLIC / f"{program}.py")]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


def differences(ours: str, theirs: str) -> list[str]:
    """The lines that differ in their words, or in their numbers by more than is allowed."""
    mine, wanted = ours.splitlines(), theirs.splitlines()
    found = [f"{len(mine)} lines, PyTorch's {len(wanted)}"] if len(mine) != len(wanted) else []
    for number, (left, right) in enumerate(zip(mine, wanted, strict=False), 1):
        if not same_line(left, right):
            found.append(f"line {number}: {left!r}, PyTorch's {right!r}")
    return found


def same_line(mine: str, wanted: str) -> bool:
    """Whether two lines say the same.

    >>> same_line("loss 0.1235 at 3", "loss 0.1234 at 3"), same_line("loss 0.1236 at 3", "loss 0.1234 at 3")
    (True, False)
    >>> same_line("7 of 10", "8 of 10"), same_line("loss 1.0", "error 1.0")
    (False, False)
    """
    if NUMBER.sub("#", mine).split() != NUMBER.sub("#", wanted).split():
        return False
    pairs = zip(NUMBER.findall(mine), NUMBER.findall(wanted), strict=True)
    return all(left == right or near(left, right) for left, right in pairs)


def near(mine: str, wanted: str) -> bool:
    """Whether two printed fractions differ by no more than roundings do; whole numbers are compared as text."""
    if not ("." in mine and "." in wanted):
        return False
    places = len(wanted.partition("e")[0].partition(".")[2])
    scale = 10.0 ** int(wanted.partition("e")[2] or 0)
    return abs(float(mine) - float(wanted)) <= max(1.01 * 10.0**-places * scale, WITHIN * abs(float(wanted)))


@pytest.mark.ci
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_program_prints_what_it_prints_with_torch(
    program: str, tmp_path: Path, require: Callable[[str], Any]
) -> None:
    require("torch")
    theirs = run(program, tmp_path / "torch")
    ours = run(program, tmp_path / "glasstorch", "-m", "glasstorch")
    assert len(theirs.splitlines()) > 6  # it says something that can be compared
    assert differences(ours, theirs) == []


def test_there_are_programs_of_many_kinds() -> None:
    assert len(PROGRAMS) >= 29


@pytest.mark.parametrize(
    ("ours", "theirs", "lines"),
    [
        ("loss 0.50\n", "loss 0.51\n", 0),
        ("loss 0.50\n", "loss 0.52\n", 1),
        ("loss 0.5000\nend\n", "loss 0.5000\n", 1),
        ("loss 1.5e-05", "loss 1.6e-05", 0),
        ("loss 1.5e-05", "loss 1.8e-05", 1),
        ("torch.Size([2, 3])", "torch.Size([2, 4])", 1),
        ("tensor([1., 2.])", "tensor([1., 2.], dtype=torch.float64)", 1),
        ("nan", "1.0", 1),
    ],
)
def test_a_difference_is_seen(ours: str, theirs: str, lines: int) -> None:
    assert len(differences(ours, theirs)) == lines
