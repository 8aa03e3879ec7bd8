"""Does a name find its part of the book, however it is written, and does a refusal name what is accepted?"""

from __future__ import annotations

import doctest
import os
from pathlib import Path

import pytest

from tests.workbook.exercises.tree import make_clone
from tests.workbook.predictions.asking_book import SECTION, make_book
from workbook import parts
from workbook.exercises import say
from workbook.exercises.catalogue import ExerciseError, UnknownExercise
from workbook.parts import sections_called

ASKS = "asks a prediction"
LAUNCH, GLOSSARY = "05-cuda/what-a-launch-is", "00-start/glossary"


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with three sections, of which the glossary asks nothing, and an exercise."""
    monkeypatch.setattr(say, "program", lambda: "workbook")
    make_clone(tmp_path, "04-autograd/04_in_place")
    with (tmp_path / "mkdocs.yml").open("w", encoding="utf-8") as navigation:
        navigation.write(f"nav:\n  - Book:\n      - {GLOSSARY}.md\n")
    for section in (SECTION, LAUNCH):
        make_book(tmp_path, section)
    return tmp_path


def called(clone: Path, name: str) -> set[str]:
    """What a name stands for among the sections that ask."""
    return sections_called(clone, name, [SECTION, LAUNCH], ASKS)


def test_the_examples_hold() -> None:
    assert doctest.testmod(parts).failed == 0


@pytest.mark.parametrize(
    "name",
    [
        "04", "4", "Autograd", "graph", f"./{SECTION}", f"./chapters/{SECTION}.md", f"notebooks/{SECTION}.ipynb",
        "notebooks\\04-autograd", ".\\chapters\\04-autograd\\graph.md", "chapters//04-autograd/", " 04 ",
        "04.4", "4.04", "in_place", "in-place", "exercises/04-autograd/04_in_place/answer.py", "exercises/04-autograd",
        "exercises\\04-autograd\\04_in_place",
    ],
)  # fmt: skip
def test_a_name_or_path_finds_its_sections(clone: Path, name: str) -> None:
    assert called(clone, name) == {SECTION}


def test_a_path_is_followed_from_where_the_reader_is(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert called(clone, str(clone / "chapters" / f"{SECTION}.md")) == {SECTION}
    monkeypatch.chdir(clone / "chapters" / "05-cuda")
    assert called(clone, os.path.join("..", "04-autograd")) == {SECTION}
    assert called(clone, "what-a-launch-is.ipynb") == {LAUNCH}
    with pytest.raises(UnknownExercise):
        called(clone, str(clone.parent / "04-autograd"))


def test_a_section_that_does_nothing_of_the_kind_is_told(clone: Path) -> None:
    for name in ("glossary", "00", f"chapters/{GLOSSARY}.md"):
        with pytest.raises(
            ExerciseError, match=f"^nothing in {GLOSSARY} asks a prediction\n  accepted: 04-autograd, 05"
        ):
            called(clone, name)
    with pytest.raises(
        ExerciseError, match=r"^nothing in 05-cuda/\S+ asks a prediction\n.*: none, as no section asks a"
    ):
        sections_called(clone, "05-cuda", [], ASKS)
    make_book(clone, "05-cuda/streams")
    with pytest.raises(ExerciseError, match=r"^nothing in '05-cuda' asks a prediction\n  accepted: 04-autograd, "):
        sections_called(clone, "05-cuda", [SECTION], ASKS)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("veiws", "views"),
        ("04-autogard", "04-autograd"),
        ("what-a-lunch-is", "what-a-launch-is"),
        ("77", ""),
        ("055", ""),  # names of two characters are not offered
        ("~x", ""),
    ],
)
def test_the_nearest_name_is_offered(clone: Path, name: str, near: str) -> None:
    with pytest.raises(UnknownExercise) as error:
        called(clone, name)
    offered = f"; the nearest is {near!r}" if near else ""
    assert " ".join(str(error.value).split()).startswith(
        f"there is no chapter, topic, section or exercise {name!r}{offered} chapters: 00-start, 04-autograd, 05-cuda "
        "topics: architecture, calls, "
    )
    assert str(error.value).endswith("such as glossary\n  exercises: `workbook progress` shows them")


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize("name", ["what-a-lunch-is", "glossary"])
def test_a_refusal_fits_the_screen(clone: Path, monkeypatch: pytest.MonkeyPatch, columns: int, name: str) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    with pytest.raises(ExerciseError) as error:
        called(clone, name)
    lines = f"workbook: {error.value}".splitlines()
    assert max(map(len, lines)) <= columns
    assert set(parts.TITLES) <= set(str(error.value).replace(",", "").split()) or name == "glossary"
