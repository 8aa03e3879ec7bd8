"""Does an import add what is new, and say how much that was?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.workbook.predictions.asking_book import RIGHT, make_book
from workbook.exercises import state as states
from workbook.exercises.catalogue import ExerciseError
from workbook.exercises.state import Prediction, State
from workbook.predictions import importing
from workbook.predictions.importing import import_record
from workbook.predictions.questions import questions
from workbook.predictions.record import add, commit

Output = pytest.CaptureFixture[str]


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    """A file with two predictions, in a clone that asks."""
    make_book(tmp_path)
    entries = {one.question.key: Prediction(one.section, ("0",), "wrong", "2026-11-02") for one in questions(tmp_path)}
    path = tmp_path / "predictions.json"
    path.write_text(json.dumps(states.contents(State(predictions=dict([*entries.items()][:2])))))
    return path


def test_what_is_new_is_added_and_counted(exported: Path, capsys: Output) -> None:
    book = exported.parent
    commit(book, questions(book)[0], RIGHT[0])
    for number in ("1 prediction", "0 predictions"):
        assert import_record(book, exported) == 0
        assert capsys.readouterr().out.startswith(f"{number} added, 2 in the file.")
    assert [one.mark for one in states.load(book).predictions.values()].count("right") == 1


def test_what_another_command_records_meanwhile_is_not_counted(
    exported: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    book = exported.parent

    def add_late(root: Path, other: State) -> tuple[int, State]:
        commit(book, questions(book)[4], RIGHT[4])
        return add(root, other)

    monkeypatch.setattr(importing, "add", add_late)
    assert import_record(book, exported) == 0
    assert capsys.readouterr().out.startswith("2 predictions added, 2 in the file.")


def test_nothing_is_said_to_be_added_where_nothing_is_kept(
    exported: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(states, "replace_file", full)
    assert import_record(exported.parent, exported) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "could not be saved" in captured.err


def test_a_file_of_a_newer_workbook_is_refused_with_the_way_to_get_it(exported: Path) -> None:
    contents = json.loads(exported.read_text())
    exported.write_text(json.dumps({**contents, "version": contents["version"] + 1}))
    with pytest.raises(ExerciseError, match=r"was not imported: it was written by a newer workbook\n  to get"):
        import_record(exported.parent, exported)
    assert not (exported.parent / "exercises" / "progress.json").exists()
