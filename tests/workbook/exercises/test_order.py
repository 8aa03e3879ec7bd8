"""Does the next exercise stand after its section and what it needs, and come before harder ones of that section?"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.workbook.exercises.tree import make_clone
from workbook.exercises import state as states
from workbook.exercises.catalogue import HARDEST, Exercise, exercises, find
from workbook.exercises.order import following, in_order
from workbook.exercises.state import State, digest, note

ROOT = Path(__file__).parents[3]
BOOK = "nav:\n  - 02-tensor-storage/first.md\n  - 02-tensor-storage/second.md\n  - 04-autograd/third.md\n"
# place, section, difficulty, needs
FACTS: tuple[tuple[str, str, int, list[str]], ...] = (
    ("02-tensor-storage/01_late", "02-tensor-storage/second", 1, []),
    ("02-tensor-storage/02_hard", "02-tensor-storage/first", 3, []),
    ("02-tensor-storage/03_easy", "02-tensor-storage/first", 1, []),
    ("02-tensor-storage/04_needs", "02-tensor-storage/first", 1, ["02.2"]),
    ("04-autograd/01_other", "04-autograd/third", 1, []),
)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with five exercises on three sections."""
    make_clone(tmp_path, *(place for place, *_ in FACTS))
    (tmp_path / "mkdocs.yml").write_text(BOOK, encoding="utf-8")
    for place, section, difficulty, needs in FACTS:
        file = tmp_path / "exercises" / place / "exercise.toml"
        text = file.read_text(encoding="utf-8").replace("02-tensor-storage/one-buffer-many-views", section)
        text = text.replace("difficulty = 1", f"difficulty = {difficulty}").replace("needs = []", f"needs = {needs}")
        file.write_text(text, encoding="utf-8")
    return tmp_path


def following_in(clone: Path, besides: str = "") -> str | None:
    """The identity of the next exercise."""
    found = following(clone, exercises(clone), states.load(clone), besides)
    return found.identity if found is not None else None


def passes(clone: Path, *names: str) -> None:
    """Have these exercises pass, in this order."""
    for name in names:
        exercise = find(clone, name)
        exercise.answer.touch()
        note(clone, exercise, states.passed(digest(exercise.answer)))


def test_exercises_follow_the_sections_of_the_book_and_then_their_difficulty(clone: Path) -> None:
    assert [one.identity for one in in_order(clone, exercises(clone))] == ["02.3", "02.4", "02.2", "02.1", "04.1"]


def test_without_a_navigation_they_follow_their_difficulty_and_number(clone: Path) -> None:
    (clone / "mkdocs.yml").unlink()
    assert [one.identity for one in in_order(clone, exercises(clone))] == ["02.1", "02.3", "02.4", "02.2", "04.1"]


def test_all_exercises_come_in_order_and_none_before_what_it_needs(clone: Path) -> None:
    came: list[str] = []
    while (identity := following_in(clone)) is not None:
        came.append(identity)
        passes(clone, identity)
    assert came == ["02.3", "02.2", "02.4", "02.1", "04.1"]


def test_an_easier_one_of_the_same_section_comes_before_the_next_section(clone: Path) -> None:
    passes(clone, "02.2")
    assert following_in(clone) == "02.3"


def test_a_section_that_was_left_out_comes_at_the_end(clone: Path) -> None:
    passes(clone, "02.1")
    assert following_in(clone) == "04.1"
    passes(clone, "04.1")
    assert following_in(clone) == "02.3"


def test_what_is_being_worked_on_comes_first_unless_another_is_asked_for(clone: Path) -> None:
    exercise = find(clone, "02.4")  # it needs 02.2, and was begun all the same
    exercise.answer.touch()
    note(clone, exercise, states.begun)
    assert following_in(clone) == "02.4"
    assert following_in(clone, besides="02.4") == "02.3"


def test_what_needs_another_is_named_where_nothing_else_is_left(clone: Path) -> None:
    passes(clone, "02.1", "02.3", "04.1")
    assert following_in(clone, besides="02.2") == "02.4"


def test_the_projects_own_exercises_come_after_what_they_need_and_easier_ones_of_their_section() -> None:
    ordered = in_order(ROOT, exercises(ROOT))
    for place, exercise in enumerate(ordered):
        assert not exercise.needs or {one.identity for one in ordered[:place]} >= set(exercise.needs)
    for one, other in pairwise(ordered):
        assert one.section != other.section or one.difficulty <= other.difficulty


def first_of(chapter: str) -> Exercise:
    """The exercise with which a chapter begins."""
    return next(one for one in in_order(ROOT, exercises(ROOT)) if one.chapter.startswith(chapter))


def test_no_chapter_begins_with_one_of_the_hardest() -> None:
    for chapter in ("01", "02", "03", "04", "05", "06"):
        assert first_of(chapter).difficulty < HARDEST, chapter


def test_the_readme_begins_where_the_command_does() -> None:
    first = following(ROOT, exercises(ROOT), State())
    assert first is not None
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"which exercise comes next (at first {first.identity})" in readme
    assert f"starts it: makes {first.place}/answer.py" in readme
