"""Does PyTorch print today what was recorded?"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbook.book.behaviours import comparable, recorded

ROOT = Path(__file__).parents[2]
BEHAVIOURS = recorded(ROOT)
RUN_ALL = """
import json, sys
from workbook.book.behaviours import observed
json.dump({name: observed(code) for name, code in json.load(sys.stdin).items()}, sys.stdout)
"""


@pytest.fixture(scope="module")
def outputs(require: Callable[[str], Any]) -> dict[str, str]:
    """What torch prints for each recorded program, all run in one fresh process."""
    require("torch")
    programs = json.dumps({name: behaviour.code for name, behaviour in BEHAVIOURS.items()})
    done = subprocess.run(
        [sys.executable, "-c", RUN_ALL],
        input=programs,
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    printed: dict[str, str] = json.loads(done.stdout)
    return printed


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_torch_still_prints_it(outputs: dict[str, str], name: str) -> None:
    assert outputs[name] == BEHAVIOURS[name].output


def test_outputs_are_compared_without_what_changes_from_run_to_run() -> None:
    text = '\x1b[1mat\x1b[0m <T 0x7f1234567890> "/a/b/site-packages/torch/x.py:3" /tmp/q/snippet.py:4:0\n'
    assert comparable(text) == 'at <T 0x…> "…/site-packages/torch/x.py:3" …/snippet.py'
