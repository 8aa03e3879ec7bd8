"""Are the exercises found in order and by all their names, and is a damaged one named with its key?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.workbook.exercises.tree import make_clone, make_exercise
from workbook.exercises.catalogue import (
    ExerciseError,
    Piece,
    UnknownExercise,
    exercises,
    find,
    read_exercise,
    read_text,
    survey,
)
from workbook.exercises.say import command

STRIDES = "02-tensor-storage/01_strides"
PLACES = (STRIDES, "02-tensor-storage/02_view", "04-autograd/01_formula")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with three exercises in two chapters."""
    return make_clone(tmp_path, *reversed(PLACES))


def test_exercises_come_in_order(clone: Path) -> None:
    assert [exercise.identity for exercise in exercises(clone)] == ["02.1", "02.2", "04.1"]


def test_an_exercise_says_what_it_declares_and_where_its_files_are(clone: Path) -> None:
    exercise = find(clone, "02.1")
    folder = clone / "exercises" / STRIDES
    assert exercise.title == "About strides"
    assert (exercise.form, exercise.difficulty, exercise.minutes) == ("write", 1, 15)
    assert exercise.place == f"exercises/{STRIDES}"
    assert exercise.pieces == (Piece("function", "glasstorch.core.geometry:strides", "strides"),)
    assert exercise.tests == ("tests/core/test_geometry.py",)
    assert (exercise.answer, exercise.my_lab) == (folder / "answer.py", folder / "my_lab.ipynb")
    shipped = (exercise.start, exercise.check, exercise.lab, exercise.lab_source, exercise.hints_file, exercise.facts)
    assert all(path.is_file() for path in (*shipped, exercise.solution))
    assert [path.name for path in exercise.wrong_answers()] == ["wrong_two.py"]
    assert exercise.hints() == ["Look at `strides`.", "Two.", "Three."]


@pytest.mark.parametrize(
    "name",
    [
        "02.1", "2.1", "2.01", " 02.1 ", "strides", "Strides", "01_strides", "01-strides", STRIDES,
        f"exercises/{STRIDES}/", f"exercises/{STRIDES}/answer.py",
    ],
)  # fmt: skip
def test_each_of_its_names_means_the_exercise(clone: Path, name: str) -> None:
    assert find(clone, name).identity == "02.1"


@pytest.mark.parametrize(("inside", "name"), [(".", "."), (".", "answer.py"), ("..", "01_strides/answer.py")])
def test_a_path_is_seen_from_the_current_folder(
    clone: Path, monkeypatch: pytest.MonkeyPatch, inside: str, name: str
) -> None:
    monkeypatch.chdir(clone / "exercises" / STRIDES / inside)
    assert find(clone, name).identity == "02.1"


@pytest.mark.parametrize(
    ("name", "offered"),
    [
        ("strids", "the nearest are:\n    02.1  strides  (About strides)\n"),
        ("02.9", "the exercises of chapter 02 are:\n    02.1  strides  (About strides)\n    02.2  view  (About view)"),
        ("2", "the exercises of chapter 02 are:"),
        ("02-tensor", "the exercises of chapter 02 are:"),
        ("tensor", "the exercises of chapter 02 are:\n    02.1  strides  (About strides)\n    02.2"),
        ("Tensor storage", "the exercises of chapter 02 are:"),
        ("autograd", "the exercises of chapter 04 are:\n    04.1  formula  (About formula)\n  all of them:"),
        ("for", "the nearest are:\n    04.1  formula  (About formula)\n  all of them:"),
        ("fo", "all of them: "),
        ("", "all of them: "),
        ("zzz", "all of them: "),
        ("99.1", "all of them: "),
    ],
)
def test_an_unknown_name_gets_the_nearest_ones(clone: Path, name: str, offered: str) -> None:
    with pytest.raises(UnknownExercise) as caught:
        find(clone, name)
    message = str(caught.value)
    assert message.startswith(f"there is no exercise {name!r}\n  {offered}")
    assert message.endswith(command("progress"))


def test_a_clone_without_exercises_says_so(tmp_path: Path) -> None:
    with pytest.raises(UnknownExercise, match="there are no exercises in this clone yet"):
        find(make_clone(tmp_path), "02.1")
    with pytest.raises(ExerciseError, match="there is no folder exercises/ in"):
        exercises(tmp_path / "nowhere")


def test_a_name_that_two_exercises_have_is_not_guessed(clone: Path) -> None:
    make_exercise(clone, "04-autograd/02_view")
    with pytest.raises(UnknownExercise, match=r"(?s)2 exercises are called 'view'.* 02\.2  view .* 04\.2  view "):
        find(clone, "view")
    assert find(clone, "04.2").chapter == "04-autograd"


def test_two_exercises_with_one_number_are_refused(clone: Path) -> None:
    make_exercise(clone, "02-tensor-storage/01_offset")
    with pytest.raises(ExerciseError, match=r"two exercises are 02\.1: .*01_offset and .*01_strides"):
        exercises(clone)
    found, (damaged,) = survey(clone)
    assert [exercise.name for exercise in found] == ["offset", "view", "formula"]
    assert damaged.name == "strides"
    assert find(clone, "02.1").name == "offset"
    with pytest.raises(ExerciseError, match=r"two exercises are 02\.1"):
        find(clone, "strides")


@pytest.mark.parametrize("name", ["02.2", "2.2", "view", "02_view", PLACES[1], f"exercises/{PLACES[1]}/answer.py"])
def test_a_damaged_exercise_hinders_no_other_and_is_told_by_each_of_its_names(clone: Path, name: str) -> None:
    (clone / "exercises" / PLACES[1] / "exercise.toml").write_text("title = 3\n")
    found, (damaged,) = survey(clone)
    assert [exercise.identity for exercise in found] == ["02.1", "04.1"]
    assert (damaged.identity, damaged.name, damaged.chapter, damaged.place) == (
        "02.2", "view", "02-tensor-storage", f"exercises/{PLACES[1]}",
    )  # fmt: skip
    assert find(clone, "strides").identity == "02.1"
    with pytest.raises(ExerciseError, match=r"exercise\.toml: minutes is missing"):
        find(clone, name)


def test_where_no_exercise_can_be_read_the_first_is_told(clone: Path) -> None:
    for place in PLACES:
        (clone / "exercises" / place / "exercise.toml").write_text("title = 3\n")
    with pytest.raises(ExerciseError, match=r"01_strides/exercise\.toml: minutes is missing"):
        survey(clone)


def test_a_folder_that_only_holds_an_answer_is_no_exercise(clone: Path) -> None:
    left = clone / "exercises" / "02-tensor-storage" / "07_gone"
    left.mkdir()
    (left / "answer.py").touch()
    (clone / "exercises" / "notes").mkdir()
    assert len(exercises(clone)) == len(PLACES)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "About strides"', "", "title is missing\n  accepted: a few words"),
        ('title = "About strides"', 'title = ""', "title = '' is not accepted"),
        ('title = "About strides"', "title = 3", "title = 3 is not accepted"),
        ('form = "write"', "", "form is missing\n  accepted: one of write, repair, hunt, count, explain"),
        ('form = "write"', 'form = "read"', "form = 'read' is not accepted\n  accepted: one of write, repair"),
        ("difficulty = 1", "", "difficulty is missing\n  accepted: 1 (easy), 2 or 3 (hard)"),
        ("difficulty = 1", "difficulty = 4", "difficulty = 4 is not accepted\n  accepted: 1 (easy), 2 or 3 (hard)"),
        ("difficulty = 1", "difficulty = 0", "difficulty = 0 is not accepted"),
        ("difficulty = 1", 'difficulty = "easy"', "difficulty = 'easy' is not accepted"),
        ("minutes = 15", "minutes = true", "minutes = True is not accepted"),
        ("minutes = 15", "minutes = 0", "minutes = 0 is not accepted"),
        ("minutes = 15", "minutes = -1", "minutes = -1 is not accepted"),
        ("needs = []", 'needs = "02.1"', "needs = '02.1' is not accepted"),
        ("needs = []", 'needs = ["strides"]', "needs names 'strides'"),
        ("needs = []", "needs = [1]", "needs = [1] is not accepted"),
        ("needs = []", "need = []", "need is not a known key\n  known keys: title, asks"),
        ("[[graft]]", "[graft]", "graft = {"),
        ('kind = "function"', 'kind = "class"', "[[graft]] 1: kind = 'class' is not accepted\n  accepted: one of func"),
        ('kind = "function"', 'kind = "kernel"', "[[graft]] 1: key is missing"),
        ('kind = "function"', 'kind = "function"\nkey = "CPU"', "[[graft]] 1: key has no meaning"),
        ('answer = "strides"', 'answer = "a b"', "[[graft]] 1: answer = 'a b' is not accepted"),
        ('answer = "strides"', "", "[[graft]] 1: answer is missing"),
        ("[carries]", "[carry]", "carry is not a known key"),
        ("tests = [", "tests = [] #", "[carries] tests = [] is not accepted"),
        ("tests = [", "program = 1\ntests = [", "[carries] program is not a known key"),
        ("[carries]", "[carries", "is not TOML: "),
    ],
)
def test_a_damaged_file_is_named_with_its_key(clone: Path, old: str, new: str, said: str) -> None:
    folder = clone / "exercises" / STRIDES
    text = (folder / "exercise.toml").read_text()
    assert text.count(old) == 1
    (folder / "exercise.toml").write_text(text.replace(old, new))
    with pytest.raises(ExerciseError) as caught:
        exercises(clone)
    message = str(caught.value)
    assert message.startswith(f"exercises/{STRIDES}/exercise.toml")
    assert said in message
    assert message.endswith(f"\n  to get it back as it was: `git checkout -- exercises/{STRIDES}/exercise.toml`")


@pytest.mark.parametrize("pieces", ["graft = []", ""])
def test_an_exercise_without_a_piece_is_refused(clone: Path, pieces: str) -> None:
    facts = clone / "exercises" / STRIDES / "exercise.toml"
    lines = facts.read_text().splitlines()
    start, end = lines.index("[[graft]]"), lines.index("[carries]")
    facts.write_text("\n".join([*lines[:start], pieces, *lines[end:]]))
    with pytest.raises(ExerciseError, match=r"graft is (empty|missing)"):
        read_exercise(facts.parent)


def test_a_repair_names_no_piece_of_the_library(clone: Path) -> None:
    facts = clone / "exercises" / STRIDES / "exercise.toml"
    text = facts.read_text().replace('form = "write"', 'form = "repair"')
    facts.write_text(text)
    with pytest.raises(ExerciseError, match=r"graft tells where the fault is\n  accepted: nothing, with form = "):
        read_exercise(facts.parent)
    before, _, after = text.partition("[[graft]]")
    facts.write_text(f"{before}[carries]{after.partition('[carries]')[2]}")
    exercise = read_exercise(facts.parent)
    assert exercise.is_repair
    assert exercise.pieces == (Piece("repair", "", "mended"),)
    assert exercise.symptom == facts.parent / "symptom.py"
    assert exercise.fault == exercise.solution.parent / "fault.diff"


def test_a_kernel_names_its_key(clone: Path) -> None:
    facts = clone / "exercises" / STRIDES / "exercise.toml"
    facts.write_text(facts.read_text().replace('kind = "function"', 'kind = "kernel"\nkey = "Autograd"'))
    assert find(clone, "02.1").pieces[0].key == "Autograd"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    exercise = find(make_clone(tmp_path / "exercises" / "mine", STRIDES), "02.1")
    exercise.hints_file.write_bytes(b"\xff")
    with pytest.raises(ExerciseError, match=rf"^exercises/{STRIDES}/hints\.md cannot be read: not UTF-8\n"):
        exercise.hints()
    exercise.hints_file.unlink()
    with pytest.raises(ExerciseError, match="cannot be read: No such file"):
        exercise.hints()


@pytest.mark.parametrize("absent", ["clone", "program"])
def test_git_is_advised_only_where_it_is(clone: Path, monkeypatch: pytest.MonkeyPatch, absent: str) -> None:
    exercise = find(clone, "02.1")
    exercise.solution.unlink()
    if absent == "clone":
        (clone / ".git").rmdir()
    else:
        monkeypatch.setenv("PATH", "")
    with pytest.raises(
        ExerciseError, match=r"as it was: take it from a new copy of the repository \(this one has no git"
    ):
        read_text(exercise.solution)


def test_the_catalogue_imports_little() -> None:
    script = (
        "import sys; import workbook.exercises.catalogue\n"
        "heavy = {'typer', 'rich', 'json', 'subprocess', 'difflib', 'watchfiles', 'glasstorch'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)"
    )
    assert subprocess.call([sys.executable, "-c", script]) == 0
