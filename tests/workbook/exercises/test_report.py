"""Does a report read like a good teacher, wide and narrow, and survive the way through JSON?"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from workbook.exercises import report as module
from workbook.exercises.report import (
    BROKEN,
    NOT_RUN,
    NOT_STARTED,
    PASSED,
    REFUSED,
    RUNGS,
    Refusal,
    Report,
    RungResult,
    kind,
    listing,
    render,
    rung_text,
    short_path,
)

ANSWER = "exercises/02-tensor-storage/01_strides/answer.py"
TOLD = Refusal(
    asked="the row-major strides of this shape",
    input="contiguous_strides((2, 0, 3))",
    came="(0, 3, 1)",
    accepted="(3, 3, 1)",
    because="a size 0 counts as 1",
    line=31,
)
REFUSED_REPORT = Report(
    "02.1",
    "Row-major strides",
    ANSWER,
    (RungResult("check", REFUSED, 0.71, refusal=TOLD), RungResult("lab"), RungResult("graft")),
)
PASSED_REPORT = Report(
    "02.1",
    "Row-major strides",
    ANSWER,
    (
        RungResult("check", PASSED, 0.2, 4),
        RungResult("lab", PASSED, 1.2, 6, printed=("hello", "... and 5 MB more")),
        RungResult("graft", PASSED, 1.6, 90, replaced=("f of a.py is yours; it was called twice",), calls={"f": 2}),
    ),
)
WIDE = """\
02.1  Row-major strides    exercises/02-tensor-storage/01_strides/answer.py

1  its own tests      refused  0.7 s
   asked      the row-major strides of this shape
   input      contiguous_strides((2, 0, 3))
   got        (0, 3, 1)
   expected   (3, 3, 1)
   because    a size 0 counts as 1
2  the lab sheet      not run
3  inside glasstorch  not run

Next: fix answer.py (line 31), then `workbook check 02.1` again. Stuck? `workbook hint 02.1`
"""


@pytest.fixture(autouse=True)
def plain_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands as they are typed where `workbook` is on the search path."""
    monkeypatch.setattr(module, "command", lambda words: f"`workbook {words}`")


def changed(**values: object) -> Report:
    """The refused report with another refused rung."""
    first = replace(REFUSED_REPORT.rungs[0], **values)  # type: ignore[arg-type]
    return replace(REFUSED_REPORT, rungs=(first, *REFUSED_REPORT.rungs[1:]))


def test_a_refusal_reads_as_a_teacher_says_it() -> None:
    assert render(REFUSED_REPORT, 100) == WIDE


@pytest.mark.parametrize("report", [REFUSED_REPORT, PASSED_REPORT])
@pytest.mark.parametrize("width", [40, 60])
def test_a_narrow_terminal_is_enough(report: Report, width: int) -> None:
    lines = render(report, width).splitlines()
    assert all(len(line) <= width or " " not in line.strip() or "`" in line for line in lines)


def test_labels_stand_above_their_text_where_it_is_narrow() -> None:
    text = rung_text(REFUSED_REPORT.rungs[0], 40)
    assert "   asked\n     the row-major strides of this shape" in text


def test_a_command_is_not_broken_between_two_lines() -> None:
    for width in range(30, 90):
        assert "`workbook hint 02.1`" in render(REFUSED_REPORT, width)


def test_a_path_and_a_long_command_are_not_broken_either() -> None:
    edited = replace(REFUSED_REPORT, edited=(f"{ANSWER[:-9]}check_strides.py",))
    for width in range(30, 90):
        text = render(edited, width)
        assert f"\n`git checkout -- {edited.edited[0]}`" in text or f" `git checkout -- {edited.edited[0]}`" in text
        assert ANSWER in render(changed(outcome=NOT_STARTED), width).rpartition("write")[2]


def test_a_caret_stays_below_its_place() -> None:
    refusal = Refusal(came="SyntaxError: invalid syntax", trace=("line 1", "def f(:", "      ^"))
    lines = rung_text(RungResult("check", REFUSED, refusal=refusal), 80).splitlines()
    assert lines[-1].index("^") == lines[-2].index(":")


def test_a_pass_says_what_was_replaced_and_what_was_printed() -> None:
    text = render(PASSED_REPORT)
    assert "f of a.py is yours; it was called twice" in text
    assert "   printed    hello\n              ... and 5 MB more\n" in text
    assert "Done. Compare with ours: `workbook solution 02.1`. Go on: `workbook next`." in text


def test_the_outcome_is_that_of_the_rung_that_did_not_pass() -> None:
    assert (REFUSED_REPORT.outcome, REFUSED_REPORT.exit_code) == (REFUSED, 1)
    assert (PASSED_REPORT.outcome, PASSED_REPORT.exit_code) == (PASSED, 0)
    assert (changed(outcome=NOT_STARTED).outcome, changed(outcome=NOT_STARTED).exit_code) == (NOT_STARTED, 3)
    assert changed(outcome=BROKEN).exit_code == 1
    assert replace(PASSED_REPORT, edited=("exercises/a/check_a.py",)).exit_code == 1
    assert replace(changed(outcome=NOT_STARTED), edited=("exercises/a/check_a.py",)).exit_code == 3
    nothing = replace(REFUSED_REPORT, rungs=())
    assert (nothing.passed, nothing.outcome) == (False, NOT_RUN)


def test_a_pass_counts_only_unedited_and_on_all_rungs() -> None:
    assert PASSED_REPORT.counts
    assert not replace(PASSED_REPORT, rungs=PASSED_REPORT.rungs[:1]).counts
    edited = replace(PASSED_REPORT, edited=("exercises/a/check_a.py",))
    assert edited.passed
    assert not edited.counts
    assert "exercises/a/check_a.py is not as shipped, so this run does not count as passed." in render(edited, 200)
    assert "To restore it: `git checkout -- exercises/a/check_a.py`" in render(edited, 200)
    assert "Next: bring back what was edited, then `workbook check 02.1` again." in render(edited)


def test_the_next_step_fits_the_outcome() -> None:
    assert "Next: write exercises/" in render(changed(outcome=NOT_STARTED), 200)
    assert "The exercise or the installation is at fault" in render(changed(outcome=BROKEN))
    broken_by_the_reader = render(replace(changed(outcome=BROKEN), edited=("exercises/a/check_a.py",)))
    assert "at fault" not in broken_by_the_reader
    assert "Next: bring back what was edited, then `workbook check 02.1` again." in broken_by_the_reader
    assert "all three rungs" in render(replace(PASSED_REPORT, rungs=PASSED_REPORT.rungs[:1]))
    assert "Next: fix answer.py, then" in render(changed(refusal=replace(TOLD, line=None)))


@pytest.mark.parametrize("report", [REFUSED_REPORT, PASSED_REPORT])
def test_a_report_is_the_same_after_json(report: Report) -> None:
    assert Report.from_json(report.to_json()) == report


def test_every_rung_has_a_title() -> None:
    assert set(module.TITLES) == set(RUNGS)


def test_names_are_listed_as_in_a_sentence() -> None:
    assert [listing(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == ["a", "a and b", "a, b and c"]


def test_what_stands_in_a_files_place_is_named(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere.py")
    os.mkfifo(tmp_path / "pipe")
    assert kind(tmp_path) == "a folder"
    assert kind(tmp_path / "link") == "a link to nowhere.py, which is not there"
    assert kind(tmp_path / "pipe") == "not a plain file"


def test_a_path_is_shown_from_the_top_of_the_clone(tmp_path: Path) -> None:
    assert short_path(tmp_path / "a" / "b.py", tmp_path) == "a/b.py"
    assert short_path(tmp_path / "b.py", tmp_path / "a") == str(tmp_path / "b.py")


def test_no_word_of_the_answers_steers_the_terminal() -> None:
    code, words = "\x1b[2J", r"\x1b[2J"
    told = Refusal(code, code, code, code, code, 1, (code,))
    assert [text for _, text in told.rows()] == [words] * 6
    result = RungResult("check", REFUSED, refusal=told, printed=(code,))
    assert result.printed == (words,)
    assert RungResult.from_json(result.as_json()) == result
