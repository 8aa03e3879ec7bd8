"""Does a reader's CUDA C++ carry the library's kernels, and is it refused where it cannot?"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.workbook.exercises.made import answer, make
from workbook.exercises.report import BROKEN, PASSED, REFUSED, Refusal, Report

HEADER = Path(__file__).parents[3] / "reference" / "glasstorch" / "kernels" / "cuda" / "rows.cuh"
ROWS = ("cuda", "rows.cuh", "rows", "")
CARRIED = """
import glasstorch as torch

def test_the_sum_of_a_row():
    torch.cuda.use_simulator()
    x = torch.arange(40.0).view(2, 20)
    assert x.cuda().sum(1).tolist() == x.sum(1).tolist()
"""


@pytest.fixture(autouse=True)
def compiled_apart(require: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache that starts empty: the compiler has to be started."""
    require("g++")
    monkeypatch.setenv("GLASSTORCH_CACHE", str(tmp_path / "cache"))


def returning(text: str) -> str:
    """An answer whose function returns this text."""
    return f"def rows():\n    return {text!r}\n"


def graft(root: Path, text: str, piece: tuple[str, str, str, str] = ROWS, test: str = CARRIED) -> Report:
    """What rung 3 says of an answer."""
    make(root, [piece], test=test)
    return answer(root, text, "graft")


def refusal(report: Report, outcome: str = REFUSED) -> Refusal:
    """Why it did not pass."""
    result = report.rungs[0]
    assert result.outcome == outcome, result
    assert result.refusal is not None
    return result.refusal


def test_a_text_takes_the_place_of_a_header_and_its_launches_are_counted(tmp_path: Path) -> None:
    result = graft(tmp_path, returning(HEADER.read_text(encoding="utf-8"))).rungs[0]
    assert (result.outcome, result.refusal) == (PASSED, None)
    (told,) = result.replaced
    assert told.startswith("rows.cuh of glasstorch/kernels/cuda is yours, in every kernel that includes it; ")
    assert told.endswith("it was called once by the library")


def test_a_wrong_text_breaks_the_library(tmp_path: Path) -> None:
    wrong = HEADER.read_text(encoding="utf-8").replace("distance /= 2", "distance /= 4")
    assert refusal(graft(tmp_path, returning(wrong))).asked.startswith("the sum of a row")


def test_a_text_that_is_no_cuda_is_told_in_the_compilers_words(tmp_path: Path) -> None:
    told = refusal(graft(tmp_path, returning("\nstruct Rows { int; };\nstruct Rows { };\n")))
    assert "rows.cuh:3" in told.came


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    told = refusal(graft(tmp_path, "def rows():\n    return 3\n"))
    assert (told.came, told.accepted) == ("rows() returns an int: 3", "a str")


def test_what_the_function_raises_is_told_with_its_line(tmp_path: Path) -> None:
    told = refusal(graft(tmp_path, "def rows():\n    return {}['a']\n"))
    assert (told.came, told.line) == ("KeyError: 'a'", 2)


def test_a_text_that_nothing_is_launched_with_is_refused(tmp_path: Path) -> None:
    other = (
        "import glasstorch as torch\n\ndef test_it():\n    torch.cuda.use_simulator()\n    torch.ones(2).cuda() + 1\n"
    )
    told = refusal(graft(tmp_path, returning(HEADER.read_text(encoding="utf-8")), test=other))
    assert told.came == "rows took the place of its counterpart, but the library never called it"


def test_a_header_that_is_not_there_is_the_authors_error(tmp_path: Path) -> None:
    told = refusal(graft(tmp_path, returning(""), ("cuda", "no_such.cuh", "rows", "")), BROKEN)
    assert "there is no no_such.cuh among the CUDA kernels" in told.came
