"""Is what the reader did kept, whatever happens to the file?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workbook.exercises.tree import make_clone
from workbook.exercises import state as states
from workbook.exercises.catalogue import Exercise, find
from workbook.exercises.state import Card, Prediction, Record, digest, load, note, update

PLACES = ("02-tensor-storage/01_strides", "02-tensor-storage/02_view")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone with two exercises."""
    return make_clone(tmp_path, *PLACES)


@pytest.fixture
def strides(clone: Path) -> Exercise:
    """The first of them."""
    return find(clone, "02.1")


def file(clone: Path) -> Path:
    """Where the state stands."""
    return clone / "exercises" / "progress.json"


def deny(monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    """Have a method of paths fail as in a folder that is read-only."""

    def refuse(self: Path, *arguments: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, method, refuse)


def test_before_anything_nothing_is_known_and_nothing_written(clone: Path, strides: Exercise) -> None:
    state = load(clone)
    assert state.of(strides) == Record()
    assert state.standing(strides) == "not started"
    assert not file(clone).exists()


def test_what_happened_is_read_again(clone: Path, strides: Exercise) -> None:
    strides.answer.write_text("x = 1\n")
    note(clone, strides, states.begun)
    note(clone, strides, states.hinted(2))
    note(clone, strides, states.hinted(1))
    note(clone, strides, states.passed(digest(strides.answer)))
    note(clone, strides, states.solved)
    state = load(clone)
    day = states.today()
    assert state.of(strides) == Record(day, day, digest(strides.answer), 2, day)
    assert state.last == "02-tensor-storage/strides"
    assert state.said == []


def test_the_file_is_small_and_says_its_version(clone: Path, strides: Exercise) -> None:
    note(clone, strides, states.begun)
    assert json.loads(file(clone).read_text()) == {
        "version": 2,
        "last": "02-tensor-storage/strides",
        "exercises": {"02-tensor-storage/strides": {"started": states.today()}},
        "predictions": {},
        "cards": {},
    }
    assert [path.name for path in file(clone).parent.glob("progress*")] == ["progress.json"]


def test_a_day_that_was_noted_stays(clone: Path, strides: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(states, "today", lambda: "2026-01-02")
    note(clone, strides, states.begun)
    note(clone, strides, states.passed("a"))
    note(clone, strides, states.solved)
    monkeypatch.setattr(states, "today", lambda: "2026-03-04")
    note(clone, strides, states.begun)
    note(clone, strides, states.passed("b"))
    day = "2026-01-02"
    assert note(clone, strides, states.solved).of(strides) == Record(day, day, "b", solution=day)


def test_an_exercise_stands_where_its_answer_stands(clone: Path, strides: Exercise) -> None:
    strides.answer.write_text("x = 1\n")
    assert load(clone).standing(strides) == "started"
    note(clone, strides, states.passed(digest(strides.answer)))
    assert load(clone).standing(strides) == "passed"
    strides.answer.write_text("x = 2\n")
    assert load(clone).standing(strides) == "changed"
    strides.answer.unlink()
    assert load(clone).standing(strides) == "passed"
    note(clone, strides, states.reopened)
    assert load(clone).standing(strides) == "not started"
    assert load(clone).of(strides) == Record(started=states.today())


def test_another_number_for_an_exercise_loses_nothing(clone: Path, strides: Exercise) -> None:
    note(clone, strides, states.begun)
    strides.folder.rename(strides.folder.with_name("05_strides"))
    assert load(clone).of(find(clone, "02.5")).started


def test_what_is_known_of_exercises_that_are_gone_is_kept(clone: Path, strides: Exercise) -> None:
    note(clone, find(clone, "02.2"), states.begun)
    (clone / "exercises" / PLACES[1] / "exercise.toml").unlink()
    note(clone, strides, states.begun)
    assert set(load(clone).records) == {"02-tensor-storage/strides", "02-tensor-storage/view"}


DAMAGED = [
    "",
    "{",
    "[]",
    "[" * 100_000,
    '{"exercises": {}}',
    '{"version": true, "exercises": {}}',
    '{"version": 0, "exercises": {}}',
    '{"version": 1}',
    '{"version": 1, "exercises": []}',
    '{"version": 1, "exercises": {}, "last": 3}',
    '{"version": 1, "exercises": {"a/b": 3}}',
    '{"version": 1, "exercises": {"a/b": {"hints": "3"}}}',
    '{"version": 1, "exercises": {"a/b": {"started": null}}}',
    '{"version": 1, "exercises": {"a/b": {"hints": -5}}}',
    '{"version": 2, "exercises": {}}',
    '{"version": 2, "exercises": {}, "predictions": {}, "cards": []}',
    '{"version": 2, "exercises": {}, "predictions": {"ab": {"mark": "perhaps"}}, "cards": {}}',
    '{"version": 2, "exercises": {}, "predictions": {"ab": {"given": "three"}}, "cards": {}}',
    '{"version": 2, "exercises": {}, "predictions": {"ab": {"given": [3]}}, "cards": {}}',
    '{"version": 2, "exercises": {}, "predictions": {}, "cards": {"ab": {"stability": "2"}}}',
    '{"version": 2, "exercises": {}, "predictions": {}, "cards": {"ab": {"stability": NaN}}}',
    b"\xff\xfe",
]


@pytest.mark.parametrize("text", DAMAGED, ids=range(len(DAMAGED)))
def test_a_damaged_file_is_kept_said_and_rebuilt(clone: Path, strides: Exercise, text: str | bytes) -> None:
    content = text if isinstance(text, bytes) else text.encode()
    file(clone).write_bytes(content)
    strides.answer.write_text("x = 1\n")
    state = load(clone)
    (said,) = state.said
    assert said.startswith("exercises/progress.json is damaged: ")
    assert "kept as exercises/progress.json.damaged-1; your answers are untouched" in said
    assert said.endswith("check --all")
    assert file(clone).with_name("progress.json.damaged-1").read_bytes() == content
    assert state.standing(strides) == "started"
    assert load(clone).said == []
    assert set(load(clone).records) == {"02-tensor-storage/strides"}


def test_what_can_be_read_of_a_damaged_file_is_kept(clone: Path) -> None:
    card = {"due": "2026-12-01", "reviewed": "2026-11-26", "stability": 2.5, "difficulty": 5.0}
    table = {
        "version": 2,
        "exercises": {"02-tensor-storage/strides": {"passed": "2026-01-02"}, "a/b": {"hints": "3"}},
        "predictions": {"ab": {"section": "04-autograd/x", "mark": "right"}, "cd": {"mark": "perhaps"}},
        "cards": {"ef": card, "gh": card | {"due": "2026-11-31"}},
    }
    file(clone).write_text(json.dumps(table))
    state = load(clone)
    assert "1 prediction and 1 card could be read" in state.said[0]
    assert state.records == {"02-tensor-storage/strides": Record(passed="2026-01-02")}
    assert state.predictions == {"ab": Prediction("04-autograd/x", mark="right")}
    assert state.cards == {"ef": Card("2026-12-01", "2026-11-26", 2.5, 5.0)}
    again = load(clone)
    assert (again.said, again.predictions, again.cards) == ([], state.predictions, state.cards)


def test_a_second_damaged_file_does_not_replace_the_first(clone: Path) -> None:
    for text in ("first", "second"):
        file(clone).write_text(text)
        load(clone)
    kept = [file(clone).with_name(f"progress.json.damaged-{number}").read_text() for number in (1, 2)]
    assert kept == ["first", "second"]


def test_a_damaged_file_in_a_read_only_folder_is_left(
    clone: Path, strides: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    file(clone).write_text("{")
    deny(monkeypatch, "rename")
    state = note(clone, strides, states.begun)
    (said,) = state.said
    assert "could not be put aside (Permission denied), so nothing is recorded" in said
    assert file(clone).read_text() == "{"


def test_a_newer_file_is_neither_read_nor_written(clone: Path, strides: Exercise) -> None:
    text = '{"version": 3, "exercises": "otherwise"}'
    file(clone).write_text(text)
    strides.answer.write_text("x = 1\n")
    state = note(clone, strides, states.passed("0"))
    assert state.of(strides).passed  # for the rest of this command
    assert load(clone).standing(strides) == "started"
    assert "newer workbook (version 3; this one knows 2)" in state.said[0]
    assert "git pull" in state.said[0]
    assert file(clone).read_text() == text
    assert [path.name for path in file(clone).parent.glob("progress*")] == ["progress.json"]


def test_what_this_version_does_not_know_in_a_record_does_no_harm(clone: Path, strides: Exercise) -> None:
    entry = {"started": "2026-01-02", "mood": "good"}
    file(clone).write_text(json.dumps({"version": 1, "exercises": {"02-tensor-storage/strides": entry}}))
    assert load(clone).of(strides) == Record(started="2026-01-02")
    assert load(clone).last == ""


def test_a_file_of_version_1_is_read_and_becomes_one_of_version_2(clone: Path, strides: Exercise) -> None:
    entry = {"started": "2026-01-02", "hints": 2}
    file(clone).write_text(json.dumps({"version": 1, "exercises": {"02-tensor-storage/strides": entry}}))
    update(clone, states.predicted("ab", Prediction("04-autograd/x", ("3",), "right")))
    assert json.loads(file(clone).read_text())["version"] == 2
    assert load(clone).of(strides) == Record(started="2026-01-02", hints=2)


def test_predictions_and_cards_are_read_again(clone: Path) -> None:
    prediction = Prediction("04-autograd/x", ("<b>one</b>", "zwei"), "wrong", "2026-01-02")
    card = Card(due="2026-02-03", reviewed="2026-01-30", stability=3.0, difficulty=5.25, lapses=1)
    update(clone, states.predicted("ab", prediction))
    update(clone, lambda state: state.cards.update(cd=card))
    state = load(clone)
    assert (state.predictions, state.cards) == ({"ab": prediction}, {"cd": card})


def test_the_first_prediction_stays_and_an_open_one_may_be_graded(clone: Path) -> None:
    first = Prediction("s", ("3",), "wrong", "2026-01-02")
    for prediction in (first, Prediction("s", ("4",), "right", "2026-01-03")):
        state = update(clone, states.predicted("ab", prediction))
    assert state.predictions["ab"] == first
    for mark in ("", "right", "wrong"):
        state = update(clone, states.predicted("cd", Prediction("s", ("because",), mark)))
    assert state.predictions["cd"] == Prediction("s", ("because",), "right", states.today())


def test_merging_adds_what_is_missing(clone: Path) -> None:
    mine, other = (Prediction("s", (given,), "right", "2026-01-02") for given in ("mine", "other"))
    update(clone, states.predicted("ab", mine))
    exported = json.dumps(states.contents(states.State(predictions={"ab": other, "cd": other}))).encode()
    state = update(clone, states.merged(states.parse(exported)))
    assert state.predictions == {"ab": mine, "cd": other}


def test_a_read_only_folder_is_said_and_the_state_is_right_all_the_same(
    clone: Path, strides: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    deny(monkeypatch, "write_bytes")
    state = note(clone, strides, states.hinted(1))
    assert state.of(strides).hints == 1
    assert state.said == [
        "Your progress could not be saved in exercises/progress.json (Permission denied); the rest was done."
    ]


def test_a_file_that_may_not_be_read_is_left(clone: Path, strides: Exercise, monkeypatch: pytest.MonkeyPatch) -> None:
    note(clone, strides, states.begun)
    before = file(clone).read_text()
    deny(monkeypatch, "read_bytes")
    state = note(clone, strides, states.hinted(1))
    assert state.said == ["exercises/progress.json cannot be read (Permission denied); it is left as it is."]
    assert file(clone).read_text() == before


def test_without_a_place_for_the_lock_it_is_written_all_the_same(clone: Path, strides: Exercise) -> None:
    (clone / ".cache").write_text("a file, where the folder should be")
    assert note(clone, strides, states.begun).said == []
    assert load(clone).of(strides).started


def test_a_lock_that_is_never_given_back_does_not_hinder(
    clone: Path, strides: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(states, "take", lambda stream: False)
    monkeypatch.setattr(states, "PATIENCE", 0.05)
    note(clone, strides, states.begun)
    assert load(clone).of(strides).started


def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    clone: Path, strides: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    note(clone, strides, states.begun)
    before = file(clone).read_text()
    deny(monkeypatch, "replace")
    note(clone, strides, states.hinted(1))
    assert file(clone).read_text() == before
    assert [path.name for path in file(clone).parent.glob("progress*")] == ["progress.json"]


def test_two_commands_at_once_lose_nothing(clone: Path, strides: Exercise) -> None:
    script = (
        "import sys; from pathlib import Path; from dataclasses import replace\n"
        "from workbook.exercises.catalogue import find; from workbook.exercises.state import note\n"
        "root = Path(sys.argv[1]); exercise = find(root, '02.1')\n"
        "for _ in range(25): note(root, exercise, lambda record: replace(record, hints=record.hints + 1))\n"
    )
    running = [subprocess.Popen([sys.executable, "-c", script, str(clone)]) for _ in range(4)]
    assert [process.wait() for process in running] == [0] * 4
    assert load(clone).of(strides).hints == 100
