"""Does the small GPT print the losses that PyTorch prints, in every version of Python?"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def printed(*runner: str) -> list[float]:
    """The losses that the program prints."""
    done = subprocess.run(
        [sys.executable, *runner, str(ROOT / "examples" / "zen_gpt.py")],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(ROOT / "reference"), **ONE_THREAD},
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    numbers, losses = zip(*(line.split() for line in done.stdout.splitlines()), strict=True)
    assert [int(number) for number in numbers] == list(range(1, 41))
    return [float(loss) for loss in losses]


def test_the_losses_are_the_recorded_ones() -> None:
    section = ROOT / "chapters" / "07-nn-and-training" / "a-gpt-line-by-line.md"
    _, _, rest = section.read_text(encoding="utf-8").partition('BY_PYTORCH = """')
    recorded = [float(loss) for loss in rest.partition('"""')[0].split()]
    assert printed("-m", "glasstorch") == pytest.approx(recorded, abs=1.01e-3)  # the last digit may be rounded


@pytest.mark.ci
def test_torch_prints_the_same_losses(require: Callable[[str], Any]) -> None:
    require("torch")
    assert printed("-m", "glasstorch") == pytest.approx(printed(), abs=1.01e-3)
