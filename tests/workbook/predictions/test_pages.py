"""Does the served book record what its own pages send, and nothing else?"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.workbook.predictions.asking_book import NONE_AND_ALL, RIGHT, SECTION, WRONG, make_book
from workbook.exercises import state as states
from workbook.exercises.state import Prediction
from workbook.predictions.pages import PATH
from workbook.predictions.questions import questions
from workbook.serve import bind, in_background

Send = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A clone whose book asks."""
    return make_book(tmp_path)


@pytest.fixture
def send(book: Path) -> Iterator[Send]:
    """Sends a request to the served book; returns the status and the answer."""
    with in_background(bind(book, 0, book)) as served:
        address = served.rstrip("/")

        def sent(body: object = None, path: str = PATH, **headers: str) -> tuple[int, dict[str, Any]]:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            named = {name.replace("_", "-"): text for name, text in headers.items()}
            plain = {"Content-Type": "application/json"} if body is not None else {}
            request = urllib.request.Request(address + path, content if body is not None else None, plain | named)
            try:
                with urllib.request.urlopen(request, timeout=300) as answer:
                    return answer.status, json.loads(answer.read())
            except urllib.error.HTTPError as error:
                with error:
                    return error.code, json.loads(error.read())

        yield sent


def keys(book: Path) -> list[str]:
    """The keys of the questions, in order."""
    return [asked.question.key for asked in questions(book)]


@pytest.mark.parametrize("place", range(4))
def test_an_answer_is_marked_and_recorded(book: Path, send: Send, place: int) -> None:
    key = keys(book)[place]
    for given, mark in ((WRONG[place], "wrong"), (RIGHT[place], "wrong")):  # the first answer counts
        status, table = send({"key": key, "given": given, "mark": "right"})
        assert (status, table["recorded"], table["said"]) == (200, True, [])
        assert table["predictions"][key]["mark"] == mark
    assert states.load(book).predictions == {key: Prediction(SECTION, tuple(WRONG[place]), "wrong", states.today())}
    assert send()[1]["predictions"] == table["predictions"]


def test_none_and_all_of_several_choices_may_be_right(book: Path, send: Send) -> None:
    make_book(book, questions=NONE_AND_ALL)
    answers = ([], ["(1, 2)", "b", "c"])
    for key, given in zip(keys(book), answers, strict=True):
        assert send({"key": key, "given": given, "mark": "wrong"})[1]["predictions"][key]["mark"] == "right"
    record = states.load(book).predictions
    assert [list(record[key].given) for key in keys(book)] == list(answers)


def test_an_open_answer_is_graded_by_its_reader(book: Path, send: Send) -> None:
    key = keys(book)[4]
    marks = [send({"key": key, "given": ["so"], "mark": mark})[1]["predictions"][key]["mark"] if mark else
             send({"key": key, "given": ["so"]})[1]["predictions"][key].get("mark", "")
             for mark in ("", "right", "wrong")]  # fmt: skip
    assert marks == ["", "right", "right"]


def test_what_is_html_is_text(book: Path, send: Send) -> None:
    text = "<script>alert(1)</script>\x1b[31m"
    assert send({"key": keys(book)[4], "given": [text]})[0] == 200
    assert states.load(book).predictions[keys(book)[4]].given == (text,)


def test_what_a_browser_kept_is_added(book: Path, send: Send) -> None:
    first, second = keys(book)[:2]
    send({"key": first, "given": ["3"]})
    kept = {key: {"section": SECTION, "given": ["9"], "mark": "wrong", "day": "2026-01-02"} for key in (first, second)}
    status, table = send({"predictions": kept})
    assert (status, table["recorded"]) == (200, True)
    assert [table["predictions"][key]["given"] for key in (first, second)] == [["3"], ["9"]]


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"{", 400, "not a JSON object"),
        (b"[" * 100_000, 400, "not a JSON object"),
        ([], 400, "not a JSON object"),
        ({"key": "KEY", "given": "3"}, 400, "not a list of texts"),
        ({"key": "KEY", "given": [3]}, 400, "not a list of texts"),
        ({"key": "KEY", "given": ["three"]}, 400, "Not committed: 'three' is not a number"),
        ({"key": "KEY", "given": ["3" * 100_000]}, 400, "Not committed: 100,000 characters are too many"),
        ({"key": "gone", "given": ["3"]}, 409, "This page is older than the book"),
        ({"given": ["3"]}, 409, "This page is older than the book"),
        ({"predictions": []}, 400, "The predictions cannot be added"),
        ({"predictions": {"a": {"mark": "best"}}}, 400, "its prediction a has mark"),
        ({"predictions": {"a": {"given": ["x" * 90_000]}}}, 400, "its answer to a has more than 2,000 characters"),
        (b'"' + b"x" * (1 << 20) + b'"', 413, "larger than 1 MiB"),
    ],
)
def test_a_bad_request_is_refused_and_changes_nothing(
    book: Path, send: Send, body: Any, status: int, said: str
) -> None:
    if isinstance(body, dict) and body.get("key") == "KEY":
        body["key"] = keys(book)[0]
    came, table = send(body)
    assert (came, list(table)) == (status, ["error"])
    assert said in table["error"]
    assert not (book / "exercises" / "progress.json").exists()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "127.0.0.1.evil.example:80"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_another_page_on_the_web_is_refused(book: Path, send: Send, headers: dict[str, str], status: int) -> None:
    assert send({"key": keys(book)[0], "given": ["3"]}, **headers)[0] == status
    assert not (book / "exercises" / "progress.json").exists()
    if status == 403:
        assert send(**headers)[0] == 403


def test_a_damaged_record_is_told_and_kept(book: Path, send: Send) -> None:
    record = book / "exercises" / "progress.json"
    record.write_text("{")
    status, table = send({"key": keys(book)[0], "given": ["3"]})
    assert (status, table["recorded"]) == (200, True)
    assert "progress.json is damaged" in table["said"][0]
    assert record.with_name("progress.json.damaged-1").read_text() == "{"


def test_a_record_that_cannot_be_written_is_told(book: Path, send: Send, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, content: bytes) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(states, "replace_file", full)
    status, table = send({"key": keys(book)[0], "given": ["3"]})
    assert (status, table["recorded"]) == (200, False)
    assert "could not be saved in exercises/progress.json (No space left on device)" in table["said"][0]
    assert table["predictions"][keys(book)[0]]["mark"] == "right"


def test_a_record_of_a_newer_workbook_is_left(book: Path, send: Send) -> None:
    record = book / "exercises" / "progress.json"
    record.write_text('{"version": 9}')
    assert not send({"key": keys(book)[0], "given": ["3"]})[1]["recorded"]
    assert record.read_text() == '{"version": 9}'


def test_without_a_book_there_is_no_record(tmp_path: Path) -> None:
    with in_background(bind(tmp_path, 0)) as address:
        for body in (None, b"{}"):
            with pytest.raises(urllib.error.HTTPError, match=r"40[45]") as caught:
                urllib.request.urlopen(f"{address.rstrip('/')}{PATH}", body, timeout=300)
            caught.value.close()
