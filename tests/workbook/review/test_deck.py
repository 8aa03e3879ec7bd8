"""Are the right questions asked, in the right order?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workbook.review.book import make_book, write_section
from workbook.exercises import state as states
from workbook.exercises.catalogue import ExerciseError, UnknownExercise, find
from workbook.exercises.state import Card, Prediction, State
from workbook.review.deck import count_due, deck
from workbook.review.interview import key_of

TODAY = "2026-11-26"
FIRST, SECOND, OFFSET, RUN, LEAF, NODE = (
    "What is a tensor?",
    "What is a view?",
    "What is an offset?",
    "What is a run?",
    "What is a leaf?",
    "What is a node?",
)


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with six questions in three chapters and one exercise."""
    monkeypatch.setattr(states, "today", lambda: TODAY)
    return make_book(tmp_path, "02-tensor-storage/01_strides")


def card(due: str) -> Card:
    """A card that comes back on this day."""
    return Card(due, "2026-11-01", 10.0, 5.0)


def scheduled(due: dict[str, str]) -> State:
    """A record with the cards of these questions, each due on a day."""
    return State(cards={key_of(question): card(day) for question, day in due.items()})


def asked(questions: list) -> list[str]:
    """The texts of questions."""
    return [one.text for one in questions]


def test_what_is_due_comes_in_the_order_of_its_days(clone: Path) -> None:
    state = scheduled({FIRST: "2026-11-26", LEAF: "2026-11-20", RUN: "2026-11-27", OFFSET: "2026-11-25"})
    cards = deck(clone, state)
    assert asked(cards.due(state, TODAY)) == [LEAF, OFFSET, FIRST]
    assert asked(cards.later(state, TODAY)) == [RUN]
    assert count_due(clone, state) == 3


def test_cards_of_one_day_come_in_the_order_of_the_book(clone: Path) -> None:
    state = scheduled({NODE: TODAY, LEAF: TODAY, FIRST: TODAY})
    assert asked(deck(clone, state).due(state, TODAY)) == [FIRST, LEAF, NODE]


def test_who_has_done_nothing_begins_with_the_first_chapter(clone: Path) -> None:
    assert asked(deck(clone, State()).new(State())) == [FIRST, SECOND]


def test_a_question_with_a_card_is_not_new(clone: Path) -> None:
    state = scheduled({FIRST: "2027-01-01"})
    assert asked(deck(clone, state).new(state)) == [SECOND]


@pytest.mark.parametrize(
    ("section", "new"),
    [
        ("02-tensor-storage/one-buffer-many-views", [OFFSET]),
        ("02-tensor-storage/when-a-view-is-impossible", [OFFSET, RUN]),
        ("00-start/first", [FIRST, SECOND]),
        ("09-gone/section", [FIRST, SECOND]),
    ],
)
def test_new_ones_come_from_as_far_as_the_predictions_reach(clone: Path, section: str, new: list[str]) -> None:
    state = State(predictions={"key": Prediction(section, ("1",), "right", TODAY)})
    assert asked(deck(clone, state).new(state)) == new


def test_an_exercise_that_was_begun_opens_its_section(clone: Path) -> None:
    state = states.note(clone, find(clone, "02.1"), states.begun)
    assert asked(deck(clone, state).new(state)) == [OFFSET]


def test_exercises_that_cannot_be_read_hinder_no_review(clone: Path) -> None:
    state = states.note(clone, find(clone, "02.1"), states.begun)
    (clone / "exercises/02-tensor-storage/01_strides/exercise.toml").write_text("title", encoding="utf-8")
    assert asked(deck(clone, state).new(state)) == [FIRST, SECOND]


@pytest.mark.parametrize(
    ("name", "questions"),
    [
        ("02", [OFFSET, RUN]),
        ("2", [OFFSET, RUN]),
        ("0", [FIRST, SECOND]),
        ("02-tensor-storage", [OFFSET, RUN]),
        ("chapters/02-tensor-storage/", [OFFSET, RUN]),
        ("tensor-storage", [OFFSET, RUN]),
        ("VIEWS", [OFFSET, RUN]),
        ("memory", [OFFSET]),
        ("when-a-view-is-impossible", [RUN]),
        ("chapters/02-tensor-storage/when-a-view-is-impossible.md", [RUN]),
        ("autograd", [LEAF, NODE]),
    ],
)
def test_a_name_asks_all_of_a_chapter_a_topic_or_a_section(clone: Path, name: str, questions: list[str]) -> None:
    assert asked(deck(clone, State(), name).new(State())) == questions


def test_a_name_leaves_out_what_is_due_elsewhere(clone: Path) -> None:
    state = scheduled({FIRST: TODAY, RUN: TODAY})
    assert asked(deck(clone, state, "views").due(state, TODAY)) == [RUN]


@pytest.mark.parametrize("name", ["", "veiws", "77", "../00-start"])
def test_an_unknown_name_is_refused_with_those_that_there_are(
    clone: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with pytest.raises(UnknownExercise) as error:
        deck(clone, State(), name)
    first, chapters, topics, *_ = str(error.value).splitlines()
    near = {"veiws": "; the nearest is 'views'", "../00-start": "; the nearest is '00-start'"}.get(name, "")
    assert first == f"there is no chapter, topic, section or exercise {name!r}{near}"
    assert chapters == "  chapters: 00-start, 02-tensor-storage, 04-autograd"
    assert topics.startswith("  topics: architecture, calls, ")


def test_the_name_of_an_exercise_asks_about_its_chapter(clone: Path) -> None:
    assert asked(deck(clone, State(), "02.1").new(State())) == [OFFSET, RUN]


def test_a_section_without_questions_is_told(clone: Path) -> None:
    with (clone / "mkdocs.yml").open("a", encoding="utf-8") as navigation:
        navigation.write("      - 00-start/glossary.md\n")
    write_section(clone, "00-start/glossary")
    with pytest.raises(ExerciseError, match="nothing in 00-start/glossary is asked in a review"):
        deck(clone, State(), "glossary")


def test_the_card_of_a_question_that_is_gone_is_neither_asked_nor_counted(clone: Path) -> None:
    state = scheduled({FIRST: TODAY, LEAF: TODAY})
    write_section(clone, "04-autograd/the-graph", "What is a node?")
    assert asked(deck(clone, state).due(state, TODAY)) == [FIRST]
    assert count_due(clone, state) == 1


def test_a_mended_answer_keeps_the_card(clone: Path) -> None:
    state = scheduled({LEAF: TODAY})
    path = clone / "chapters/04-autograd/the-graph.md"
    path.write_text(path.read_text(encoding="utf-8").replace("Answer to: What is a leaf?", "Mended."), encoding="utf-8")
    (one,) = deck(clone, state).due(state, TODAY)
    assert one.answer == "Mended."


def test_a_section_that_is_not_there_is_said(clone: Path) -> None:
    (clone / "chapters/04-autograd/the-graph.md").unlink()
    with pytest.raises(ExerciseError, match=r"names 04-autograd/the-graph\.md, and there is no such section"):
        deck(clone, State())


def test_without_a_card_that_is_due_no_section_is_read(clone: Path) -> None:
    (clone / "mkdocs.yml").unlink()
    assert count_due(clone, scheduled({FIRST: "2026-11-27"})) == 0


def test_a_clone_without_a_book_has_no_questions(clone: Path) -> None:
    (clone / "mkdocs.yml").write_text("", encoding="utf-8")
    assert deck(clone, State()).questions == ()
