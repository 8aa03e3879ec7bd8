"""Does the page of an exercise work on the same answer and record as the terminal, and lose nothing?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.workbook.exercises.tree import make_clone
from workbook.exercises import state as states
from workbook.exercises.catalogue import find
from workbook.live import desk


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    return make_clone(tmp_path, "02-tensor-storage/01_strides", "02-tensor-storage/02_overlap")


def answer_of(clone: Path) -> Path:
    return find(clone, "02.1").answer


def saved(clone: Path, text: str, version: str, **more: Any) -> tuple[int, dict[str, Any]]:
    return desk.save(clone, "02.1", json.dumps({"text": text, "version": version, **more}).encode())


def test_an_exercise_is_started_as_by_the_command(clone: Path) -> None:
    assert desk.shown(clone, "02.1")[1]["text"] is None
    status, facts = desk.start(clone, "02.1")
    assert (status, facts["standing"]) == (200, "started")
    assert facts["text"] == find(clone, "02.1").start.read_text() == answer_of(clone).read_text()
    assert desk.overview(clone)[1]["standings"] == {"02.1": "started", "02.2": "not started"}
    answer_of(clone).write_text("mine")
    assert desk.start(clone, "02.1")[1]["text"] == "mine"  # and never written over


def test_a_text_is_saved_where_the_file_is_the_one_that_the_page_knows(clone: Path) -> None:
    version = desk.start(clone, "02.1")[1]["version"]
    status, facts = saved(clone, "first ä", version)
    assert (status, answer_of(clone).read_text(encoding="utf-8")) == (200, "first ä")
    assert saved(clone, "second", facts["version"])[0] == 200
    answer_of(clone).write_text("by an editor")
    status, facts = saved(clone, "third", facts["version"])
    assert (status, facts["text"], answer_of(clone).read_text()) == (409, "by an editor", "by an editor")
    assert "changed outside of this page" in facts["error"]
    status, facts = saved(clone, "third", version, anyway=True)
    assert (status, answer_of(clone).read_text()) == (200, "third")
    assert (clone / facts["kept"]).read_text() == "by an editor"


def test_a_text_that_nobody_changed_leaves_the_file_alone(clone: Path) -> None:
    desk.start(clone, "02.1")
    answer_of(clone).write_bytes(b"by an editor\r\n")  # with the line endings of Windows
    facts = desk.shown(clone, "02.1")[1]
    before = answer_of(clone).stat().st_mtime_ns
    assert saved(clone, facts["text"], facts["version"])[0] == 200
    assert (answer_of(clone).read_bytes(), answer_of(clone).stat().st_mtime_ns) == (b"by an editor\r\n", before)


def test_a_file_that_the_page_cannot_show_is_kept_when_it_is_written(clone: Path) -> None:
    desk.start(clone, "02.1")
    answer_of(clone).write_bytes(b"# caf\xe9")  # not UTF-8
    facts = desk.shown(clone, "02.1")[1]
    assert "kept" not in saved(clone, facts["text"], facts["version"])[1]
    assert answer_of(clone).read_bytes() == b"# caf\xe9"
    status, told = saved(clone, facts["text"] + " and more", facts["version"])
    assert status == 200
    assert (clone / told["kept"]).read_bytes() == b"# caf\xe9"


def test_a_file_that_was_deleted_is_written_again(clone: Path) -> None:
    version = desk.start(clone, "02.1")[1]["version"]
    answer_of(clone).unlink()
    assert saved(clone, "typed", version)[0] == 200
    assert answer_of(clone).read_text() == "typed"


def test_a_full_disk_leaves_the_file_and_says_so(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    version = desk.start(clone, "02.1")[1]["version"]
    before = answer_of(clone).read_text()

    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(states, "replace_file", full)
    status, told = saved(clone, "typed", version)
    assert (status, answer_of(clone).read_text()) == (507, before)
    assert told["error"].endswith("The file is as it was; your text is on this page.")


@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b"{}", b'{"text": 1, "version": ""}', b'{"version": ""}', b'{"text": "\\ud800", "version": ""}'],
)
def test_what_is_no_answer_is_refused(clone: Path, body: bytes) -> None:
    desk.start(clone, "02.1")
    before = answer_of(clone).read_text()
    assert desk.save(clone, "02.1", body)[0] == 400
    assert desk.save(clone, "02.1", json.dumps({"text": "x" * (desk.LARGEST + 1), "version": ""}).encode())[0] == 413
    assert answer_of(clone).read_text() == before


def test_a_hint_that_is_opened_is_recorded(clone: Path) -> None:
    assert desk.hint(clone, "02.1", b'{"number": 2}')[0] == 200
    assert states.load(clone).of(find(clone, "02.1")).hints == 2
    for body in (b'{"number": 0}', b'{"number": 4}', b'{"number": "1"}', b"{}", b"["):
        assert desk.hint(clone, "02.1", body)[0] == 400


def test_an_exercise_that_is_not_there_is_refused(clone: Path) -> None:
    for answer in (desk.shown(clone, "09.9"), desk.start(clone, "09.9"), desk.hint(clone, "09.9", b'{"number": 1}')):
        assert answer[0] == 404
        assert "09.9" in answer[1]["error"]
