"""Is a unified diff applied strictly, and is what clashes said?"""

from __future__ import annotations

import random
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbook.exercises.difference import DifferenceError, applied, hunks, moved, unified

OLD = "".join(f"line {number}\n" for number in range(1, 10))
NEW = OLD.replace("line 2\n", "two\n\n").replace("line 7\nline 8\n", "")
DIFF = """\
--- old
+++ new
@@ -1,3 +1,4 @@
 line 1
-line 2
+two
+
 line 3
@@ -6,4 +7,2 @@
 line 6
-line 7
-line 8
 line 9
"""


def test_a_diff_is_unified_with_one_line_around_each_change() -> None:
    assert unified(OLD, NEW, "old", "new") == DIFF
    assert applied(OLD, hunks(DIFF), "old") == NEW


@pytest.mark.parametrize("seed", range(40))
def test_a_diff_makes_the_new_text_of_the_old_one(seed: int) -> None:
    dice = random.Random(seed)
    old, new = ("".join(dice.choice(("a\n", "b\n", "\n", " c\n", "-d\n")) for _ in range(12)) for _ in range(2))
    assert applied(old, hunks(unified(old, new, "old", "new")) if old != new else [], "old") == new


def test_git_reads_the_diff_as_well(tmp_path: Path, require: Callable[[str], Any]) -> None:
    old, new = "a\n\nb\nc\n", "a\n\nB\nc\n"
    (tmp_path / "old").write_text(old)
    diff = unified(old, new, "old", "old")
    assert "\n\n-b\n" in diff  # an empty line without a space in front
    subprocess.run([require("git"), "apply", "-p0", "-"], cwd=tmp_path, input=diff, text=True, check=True)
    assert (tmp_path / "old").read_text() == new


@pytest.mark.parametrize(
    ("old", "words"),
    [
        (OLD.replace("line 2\n", "line two\n"), "hunk 1 (@@ -1,3 +1,4 @@) does not apply: line 2 of old is 'line two'"),
        ("line 0\n" + OLD, "line 1 of old is 'line 0', and the hunk expects 'line 1'"),
        (OLD.replace("line 9\n", ""), "hunk 2 (@@ -6,4 +7,2 @@) does not apply: line 9 of old is not there"),
        (OLD.replace("line 7\n", "line 7 \n"), "does not apply: line 7 of old is 'line 7', and"),
    ],
)  # fmt: skip
def test_lines_that_are_not_as_expected_are_an_error(old: str, words: str) -> None:
    with pytest.raises(DifferenceError) as caught:
        applied(old, hunks(DIFF), "old")
    assert words in str(caught.value)


def test_a_hunk_inside_another_is_an_error() -> None:
    twice = DIFF + "".join(DIFF.splitlines(keepends=True)[2:8])
    with pytest.raises(DifferenceError, match=r"hunk 3 \(@@ -1,3 \+1,4 @@\) does not apply: it begins inside"):
        applied(OLD, hunks(twice), "old")


@pytest.mark.parametrize(
    ("diff", "words"),
    [
        ("", "a diff begins with a line `--- OLD`"),
        (DIFF.replace("+++ new\n", ""), "a diff begins with a line `--- OLD`"),
        (DIFF.replace("@@ -1,3 +1,4 @@", "@@ 1 @@"), "'@@ 1 @@' is not the heading of hunk 1"),
        (DIFF.replace("-1,3", "-1,4"), "hunk 1: the line '@@ -6,4 +7,2 @@' begins with none of ' ', '-', '+'"),
        (DIFF.replace(" line 9\n", ""), "hunk 2 (@@ -6,4 +7,2 @@) has 3 old and 1 new lines; its heading says 4 and 2"),
        (DIFF + "\\ No newline at end of file\n", "is not the heading of hunk 3"),
    ],
)
def test_what_is_no_unified_diff_is_an_error(diff: str, words: str) -> None:
    with pytest.raises(DifferenceError) as caught:
        hunks(diff)
    assert words in str(caught.value)


def test_hunks_follow_their_lines() -> None:
    longer = "line 0\n" + OLD.replace("line 5\n", "line 5\nline 5a\n")
    found = moved(longer, hunks(DIFF), "old")
    assert [hunk.start for hunk in found] == [1, 7]
    assert applied(longer, found, "old") == "line 0\n" + NEW.replace("line 5\n", "line 5\nline 5a\n")


def test_a_hunk_whose_lines_stand_nowhere_or_at_several_places_does_not_move() -> None:
    with pytest.raises(DifferenceError, match="line 2 of old is 'x', and the hunk expects 'line 2'"):
        moved(OLD.replace("line 2\n", "x\n"), hunks(DIFF), "old")
    with pytest.raises(DifferenceError, match="; its lines stand at 2 other places"):
        moved("line 0\n" + OLD + OLD, hunks(DIFF), "old")
