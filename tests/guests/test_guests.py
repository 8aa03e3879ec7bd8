"""Do packages of other people, which need no more of torch than its Python interface, print the same on glasstorch?

Each program here is run twice as it is: by Python with torch, and by `python -m glasstorch`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
REFERENCE = HERE.parents[1] / "reference"
PROGRAMS = {  # the program -> the package that it uses
    "metrics.py": "torchmetrics",
    "model_summary.py": "torchinfo",
    "rearranging.py": "einops",
    "tensor_files.py": "safetensors",
}


def printed(*arguments: str) -> list[str]:
    """What Python prints, run with these arguments; the program has to succeed."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *arguments],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(REFERENCE)},
        timeout=900,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_guest_prints_what_it_prints_under_torch(program: str, require: Callable[[str], Any]) -> None:
    require("torch")
    require(PROGRAMS[program])
    path = str(HERE / program)
    ours = printed("-m", "glasstorch", path)
    assert len(ours) > 10
    assert ours == printed(path)
