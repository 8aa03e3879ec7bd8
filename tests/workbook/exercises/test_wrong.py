"""Are wrong answers stored as differences from the solution, and read back whole?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workbook.exercises.copies import clone_with_strides
from workbook import commands
from workbook.exercises import dev
from workbook.exercises.catalogue import Exercise, ExerciseError, exercises
from workbook.exercises.wrong import parts, refused_by, store, stored, whole, write_out, written_out

ROOT = Path(__file__).parents[3]
LIST = """\
Gives a list instead of a tuple.

Refused by: check

--- solution.py
+++ wrong_list.py
@@ -8,4 +8,4 @@
     for size in reversed(shape):
-        strides.append(step)
+        strides.insert(0, step)
         step *= max(size, 1)
-    return tuple(reversed(strides))
+    return strides
"""


@pytest.fixture
def exercise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Exercise:
    """Exercise 02.1 in a clone of its own."""
    monkeypatch.setattr(commands, "root", lambda: tmp_path)
    return clone_with_strides(tmp_path)


def change(path: Path, old: str, new: str) -> None:
    """Replace a text that stands in a file."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_every_wrong_answer_is_stored_as_its_difference_where_that_is_shorter() -> None:
    diffs = 0
    for exercise in exercises(ROOT):
        for path in exercise.wrong_answers():
            assert stored(exercise, path.stem, whole(exercise, path)) == (path, path.read_text(encoding="utf-8"))
            diffs += path.suffix == ".diff"
    assert diffs > 100


def test_a_whole_wrong_answer_is_the_solution_with_its_docstring_and_its_mistake(exercise: Exercise) -> None:
    path = exercise.solutions / "wrong_list.diff"
    solution = exercise.solution.read_text(encoding="utf-8")
    docstring, code = parts(whole(exercise, path), path)
    assert docstring == "Gives a list instead of a tuple.\n\nRefused by: check\n"
    mistake = {"append(step)": "insert(0, step)", "tuple(reversed(strides))": "strides"}
    expected = parts(solution, path)[1]
    for right, wrong in mistake.items():
        expected = expected.replace(right, wrong)
    assert code == expected


def test_whole_answers_are_there_as_long_as_they_are_asked_for(exercise: Exercise) -> None:
    with written_out(exercise) as wrong:
        assert [path.stem for path in wrong] == [path.stem for path in exercise.wrong_answers()]
        assert {path.suffix for path in wrong} == {".py"}
        assert {refused_by(path) for path in wrong} == {"check", "graft"}
    assert not any(path.exists() for path in wrong)


def test_an_answer_that_names_no_rung_names_nothing(tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text('"""Wrong. Refused by: check"""\n')
    assert refused_by(path) == ""


def test_a_difference_that_does_not_apply_names_the_file_the_hunk_and_what_to_do(exercise: Exercise) -> None:
    path = exercise.solutions / "wrong_list.diff"
    change(exercise.solution, "max(size, 1)", "size or 1")
    with pytest.raises(ExerciseError) as caught:
        whole(exercise, path)
    assert str(caught.value) == (
        "exercises/solutions/02-tensor-storage/01_strides/wrong_list.diff: hunk 1 (@@ -8,4 +8,4 @@) does not apply: "
        "line 10 of solution.py is '        step *= size or 1', and the hunk expects '        step *= max(size, 1)'\n"
        "  `workbook dev wrong 02.1` renumbers hunks whose lines have moved. If lines\n"
        "  have changed, edit the hunk; or write the whole answer to wrong_list.py and run that command"
    )


def test_lines_that_have_moved_are_an_error_until_the_command_has_run(
    exercise: Exercise, capsys: pytest.CaptureFixture[str]
) -> None:
    path = exercise.solutions / "wrong_list.diff"
    before = whole(exercise, path)
    change(exercise.solution, "    strides = []\n", "    # from the right\n    strides = []\n")
    with pytest.raises(ExerciseError, match="does not apply"):
        whole(exercise, path)
    dev.wrong_answers("02.1", None)
    assert "exercises/solutions/02-tensor-storage/01_strides/wrong_list.diff was written.\n" in capsys.readouterr().out
    assert whole(exercise, path) == before.replace("    strides = []\n", "    # from the right\n    strides = []\n")


def test_a_difference_that_applies_nowhere_is_left_alone_and_told(
    exercise: Exercise, capsys: pytest.CaptureFixture[str]
) -> None:
    path = exercise.solutions / "wrong_list.diff"
    change(path, "-    return tuple", "-    give tuple")
    before = path.read_text(encoding="utf-8")
    assert dev.wrong_answers("02.1", None) == 1
    assert "wrong_list.diff: hunk 1 (@@ -8,4 +8,4 @@) does not apply: line 11" in capsys.readouterr().out
    assert path.read_text(encoding="utf-8") == before


def test_an_answer_is_written_out_edited_and_stored_again(
    exercise: Exercise, capsys: pytest.CaptureFixture[str]
) -> None:
    path = exercise.solutions / "wrong_list.diff"
    assert path.read_text(encoding="utf-8") == LIST
    assert dev.wrong_answers("strides", "list") == 0
    file = path.with_suffix(".py")
    change(file, "insert(0, step)", "insert(False, step)")
    assert dev.wrong_answers("strides", None) == 0
    assert capsys.readouterr().out.splitlines() == [
        "exercises/solutions/02-tensor-storage/01_strides/wrong_list.py is the whole answer: edit it.",
        "Then `workbook dev wrong 02.1` stores it as its difference from the solution.",
        "exercises/solutions/02-tensor-storage/01_strides/wrong_list.diff was written.",
        "9 of 10 wrong answers are unchanged.",
    ]
    assert not file.exists()
    assert path.read_text(encoding="utf-8") == LIST.replace("insert(0, step)", "insert(False, step)")


def test_a_new_answer_begins_as_the_solution(exercise: Exercise) -> None:
    file = write_out(exercise, "new")
    assert file.name == "wrong_new.py"
    assert (
        parts(file.read_text(encoding="utf-8"), file)[1]
        == parts(exercise.solution.read_text(encoding="utf-8"), file)[1]
    )
    change(file, "step = 1", "step = 2")
    assert store(exercise) == ([file.with_suffix(".diff")], [])


def test_what_was_written_out_is_not_written_over(exercise: Exercise) -> None:
    write_out(exercise, "wrong_list")
    with pytest.raises(
        ExerciseError, match=r"wrong_list\.py is there already\n  edit it, then `workbook dev wrong 02\.1`"
    ):
        write_out(exercise, "list")


@pytest.mark.parametrize("name", ["", "../list", "List"])
def test_what_is_no_name_is_refused(exercise: Exercise, name: str) -> None:
    with pytest.raises(ExerciseError, match="cannot be the name of a wrong answer"):
        write_out(exercise, name)
