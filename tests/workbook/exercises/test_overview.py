"""Does `workbook progress` show what has passed and what was predicted, by chapter, section and topic?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.workbook.exercises.test_desk import PLACES, passes
from tests.workbook.exercises.tree import make_clone, stand_in
from tests.workbook.predictions.asking_book import QUESTIONS as ASKED
from tests.workbook.predictions.asking_book import make_book as make_asking_book
from tests.workbook.review.book import make_book
from workbook.exercises import desk
from workbook.exercises import state as states
from workbook.exercises.catalogue import Exercise, UnknownExercise, find
from workbook.exercises.overview import progress
from workbook.exercises.state import Card, digest
from workbook.predictions.questions import questions
from workbook.predictions.record import commit
from workbook.review.interview import key_of

Output = pytest.CaptureFixture[str]


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone with three exercises, before the reader's eyes on a screen of 100 columns."""
    stand_in(tmp_path, monkeypatch)
    return make_clone(tmp_path, *PLACES)


@pytest.fixture
def strides(clone: Path) -> Exercise:
    """The first exercise."""
    return find(clone, "02.1")


def test_progress_shows_all_with_their_standing(clone: Path, strides: Exercise, capsys: Output) -> None:
    passes(clone, "02.1", "02.2")
    find(clone, "02.2").answer.write_text("changed\n")
    assert progress(clone, None, as_json=False) == 0
    assert capsys.readouterr().out.splitlines() == [
        "[####################----------]",
        "2 of 3 exercises passed; about 15 min left",
        "",
        "02-tensor-storage",
        "  02.1  passed           15 min  About strides",
        "  02.2  changed          15 min  About view",
        "",
        "04-autograd",
        "  04.1  not started      15 min  About formula",
        "",
        "`changed`: the answer passed and was edited afterwards. Check it again.",
        "Go on: `workbook next`",
    ]


def test_progress_fits_a_narrow_screen(clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    progress(clone, None, as_json=False)
    out = capsys.readouterr().out
    assert "  02.1  not started  15 min\n        About strides\n" in out
    assert max(map(len, out.splitlines())) <= 40


@pytest.mark.parametrize("name", ["04", "4", "04-autograd", "autograd", "exercises/04-autograd/", "04.1", "formula"])
def test_progress_of_one_chapter(clone: Path, capsys: Output, name: str) -> None:
    progress(clone, name, as_json=False)
    out = capsys.readouterr().out
    assert "0 of 1 exercise passed" in out
    assert "02.1" not in out


def test_a_chapter_without_exercises_is_told(clone: Path) -> None:
    with pytest.raises(UnknownExercise, match="exercise '07'\n  chapters: 02-tensor-storage, 04-autograd"):
        progress(clone, "07", as_json=False)


def test_progress_for_scripts(clone: Path, strides: Exercise, capsys: Output) -> None:
    passes(clone, "02.1")
    desk.hint(clone, "02.1", None, everything=False)
    capsys.readouterr()
    assert progress(clone, None, as_json=True) == 0
    table = json.loads(capsys.readouterr().out)
    assert (table["version"], table["passed"], table["total"]) == (states.VERSION, 1, 3)
    first = table["exercises"][0]
    assert first == {
        "identity": "02.1",
        "name": "strides",
        "chapter": "02-tensor-storage",
        "title": "About strides",
        "form": "write",
        "difficulty": 1,
        "needs": [],
        "minutes": 15,
        "standing": "passed",
        "started": states.today(),
        "passed": states.today(),
        "passed_sha256": digest(strides.answer),
        "answer_sha256": digest(strides.answer),
        "hints_seen": 1,
        "solution_seen": "",
    }


@pytest.mark.parametrize(
    ("due", "said"),
    [
        ([], ""),
        (["9999-01-01"], "No card is due for review.\n"),
        (["2020-01-02"], "1 card is due for review: `workbook review`\n"),
        (["2020-01-02", states.today(), "9999-01-01"], "2 cards are due for review: `workbook review`\n"),
    ],
)
def test_progress_says_how_many_cards_are_due(clone: Path, capsys: Output, due: list[str], said: str) -> None:
    make_book(clone)
    keys = map(key_of, ("What is a tensor?", "What is a view?", "What is a leaf?"))
    cards = {key: Card(day, "2020-01-01", 1.0, 5.0) for key, day in zip(keys, due, strict=False)}
    states.update(clone, lambda state: state.cards.update(cards))
    assert progress(clone, None, as_json=False) == 0
    assert capsys.readouterr().out.rpartition("Go on: `workbook next`\n")[2] == said


def test_progress_goes_on_where_the_book_cannot_be_read(clone: Path, capsys: Output) -> None:
    states.update(clone, lambda state: state.cards.update(key=Card("2020-01-02", "2020-01-01", 1.0, 5.0)))
    (clone / "mkdocs.yml").write_text("nav:\n  - 00-start/gone.md\n", encoding="utf-8")
    assert progress(clone, None, as_json=False) == 0
    assert capsys.readouterr().out.endswith("Go on: `workbook next`\n")


def test_progress_when_all_have_passed(clone: Path, capsys: Output) -> None:
    passes(clone, "02.1", "02.2", "04.1")
    progress(clone, None, as_json=False)
    out = capsys.readouterr().out
    assert out.startswith(f"[{'#' * 30}]\n3 of 3 exercises passed\n")
    assert "`changed`" not in out
    assert out.endswith("To see that they all still pass: `workbook check --all`\n")


def test_progress_without_any_exercise(tmp_path: Path, capsys: Output) -> None:
    assert progress(make_clone(tmp_path / "empty"), None, as_json=False) == 0
    assert capsys.readouterr().out == "There are no exercises in this clone yet.\n"


def test_progress_leaves_out_an_exercise_that_is_damaged_and_says_so(clone: Path, capsys: Output) -> None:
    find(clone, "02.2").facts.write_text("title = ")
    assert progress(clone, None, as_json=False) == 0
    printed = capsys.readouterr()
    assert "0 of 2 exercises passed" in printed.out
    assert "02_view" in printed.err


# --- predictions ---

GRAPH, ENGINE, VIEWS = (
    "04-autograd/the-graph-is-built-by-running",
    "04-autograd/the-engine-step-by-step",
    "02-tensor-storage/one-buffer-many-views",
)


def predicts(clone: Path) -> None:
    """A book with predictions in three sections of three topics, of which four are committed, three of them right."""
    for section in (GRAPH, ENGINE, VIEWS):
        make_asking_book(clone, section, tuple(one | {"question": f"{section}? {one['question']}"} for one in ASKED))
    for asked in questions(clone):
        if asked.section != VIEWS and asked.question.kind in ("number", "choice"):
            right = asked.section == GRAPH or asked.question.kind == "number"
            commit(clone, asked, {"number": ["3"], "choice": ["`Meta`" if right else "`CPU`"]}[asked.question.kind])


def test_predictions_are_shown_by_chapter_and_by_topic(clone: Path, capsys: Output) -> None:
    predicts(clone)
    progress(clone, None, as_json=False)
    out = capsys.readouterr().out
    assert "Predictions: 4 of 15 committed, 3 right\n" in out
    assert "  predictions  0 of 5 committed\n\n04-autograd\n" in out
    assert "  predictions  4 of 10 committed, 3 right\n" in out
    assert (
        "\nPredictions by topic\n"
        "  4 of 10 committed, 3 right   Autograd: the graph\n"
        "  2 of 5 committed, 1 right    Autograd: the engine\n"
    ) in out


def test_a_topic_has_the_same_numbers_in_the_table_and_by_itself(clone: Path, capsys: Output) -> None:
    predicts(clone)
    progress(clone, None, as_json=False)
    table = capsys.readouterr().out.partition("Predictions by topic\n")[2]
    for topic, title in (("autograd", "Autograd: the graph"), ("engine", "Autograd: the engine")):
        progress(clone, topic, as_json=False)
        out = capsys.readouterr().out
        said = next(line.removeprefix("Predictions: ") for line in out.splitlines() if line.startswith("Predictions: "))
        assert f"  {said:<28} {title}\n" in table
        assert "Predictions by topic" not in out


@pytest.mark.parametrize("columns", [24, 40, 80])
def test_the_predictions_of_sections_fit_the_screen(
    clone: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output, columns: int
) -> None:
    predicts(clone)
    monkeypatch.setenv("COLUMNS", str(columns))
    progress(clone, "04", as_json=False)
    lines = capsys.readouterr().out.splitlines()
    if columns == 80:
        titles = [line.index("The graph") for line in lines if "The graph" in line]
        assert titles == [line.index("About formula") for line in lines if "About formula" in line] * 2
        assert "  predicted  2 of 5, 2 right     The graph" in lines
    else:
        place = lines.index("  predicted  2 of 5, 2 right")
        assert lines[place + 1] == "        The graph"
    progress(clone, None, as_json=False)
    out = capsys.readouterr().out
    assert not any(line.endswith((" of", "committed, 3")) for line in out.splitlines())
    topics = " ".join(out.partition("Predictions by topic\n")[2].split())
    if columns == 80:
        assert "4 of 10 committed, 3 right Autograd: the graph 2 of 5" in topics
    else:
        assert "Autograd: the graph: 4 of 10 committed, 3 right Autograd: the engine: 2 of 5" in topics


def test_exercises_are_shown_in_the_order_in_which_they_come_next(clone: Path, capsys: Output) -> None:
    facts = find(clone, "02.1").facts
    facts.write_text(facts.read_text().replace("difficulty = 1", "difficulty = 3"))
    progress(clone, "02", as_json=True)
    assert [one["identity"] for one in json.loads(capsys.readouterr().out)["exercises"]] == ["02.2", "02.1"]


@pytest.mark.parametrize(
    ("name", "sections"),
    [
        ("04", [ENGINE, GRAPH]),
        ("engine", [ENGINE]),
        (VIEWS, [VIEWS]),
        ("views", [VIEWS]),
        ("autograd", [ENGINE, GRAPH]),
    ],
)
def test_a_name_shows_the_sections_of_a_chapter_or_topic(
    clone: Path, capsys: Output, name: str, sections: list[str]
) -> None:
    predicts(clone)
    progress(clone, name, as_json=True)
    assert sorted(one["section"] for one in json.loads(capsys.readouterr().out)["predictions"]) == sections
    progress(clone, name, as_json=False)
    assert capsys.readouterr().out.endswith(f"To answer the others: `workbook predict {name}`\n")


def test_where_all_was_predicted_no_more_is_offered(clone: Path, capsys: Output) -> None:
    make_asking_book(clone, GRAPH, tuple(one for one in ASKED if one["kind"] == "number"))
    progress(clone, "04", as_json=False)
    assert "To answer the others" in capsys.readouterr().out
    for asked in questions(clone):
        commit(clone, asked, ["3"])
    progress(clone, "04", as_json=False)
    assert "To answer the others" not in capsys.readouterr().out
