"""Does a page ask, mark and keep: served by the workbook, served by another program, and opened from disk?"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.site.conftest import ROOT
from tests.site.looking import PHONE, Watched, full_disk, watched
from workbook.exercises import state as states
from workbook.predictions.importing import import_record
from workbook.predictions.questions import Asked, questions
from workbook.serve import HOST, bind, in_background

pytestmark = pytest.mark.ci

KINDS = ("choice", "several", "number", "text", "open")


class Quiet(SimpleHTTPRequestHandler):
    """Another program's server: it knows nothing of predictions."""

    def log_message(self, format: str, *arguments: Any) -> None:
        """Log nothing."""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What the server reads of the clone, and a place for the record."""
    shutil.copytree(ROOT / "chapters", tmp_path / "chapters", ignore=shutil.ignore_patterns("assets", "*.md"))
    shutil.copyfile(ROOT / "mkdocs.yml", tmp_path / "mkdocs.yml")
    (tmp_path / "exercises").mkdir()
    return tmp_path


@contextmanager
def elsewhere(server: ThreadingHTTPServer) -> Iterator[str]:
    """The address of another program's server, which runs."""
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://{HOST}:{server.server_port}/"
        server.shutdown()
        thread.join()


def first_of(kind: str) -> Asked:
    """The first question of a kind in the section that is the shortest of those that ask one: its page opens sooner."""
    asked = [one for one in questions(ROOT) if one.question.kind == kind]
    return min(asked, key=lambda one: (ROOT / "chapters" / f"{one.section}.md").stat().st_size)


class Question:
    """A question on a page that is open in the browser."""

    def __init__(self, window: Watched, asked: Asked) -> None:
        self.page, self.asked = window.page, asked
        self.box = self.page.locator(f".prediction[data-prediction*='{asked.question.key}']")
        self.fold = self.box.locator("xpath=following-sibling::details")
        self.said = self.box.locator(".prediction-said")

    def give(self, given: list[str]) -> None:
        """Fill the form in, as a reader would."""
        if self.asked.question.choices:
            for text in given:
                self.box.locator("label").nth(self.asked.question.choices.index(text)).click()
            if not given and self.asked.question.kind == "several":
                self.box.get_by_text("none of these", exact=True).click()
        else:
            self.box.locator("input, textarea").fill(given[0])

    def commit(self, given: list[str]) -> str:
        """Commit an answer; returns what the page says."""
        self.give(given)
        self.box.get_by_role("button", name="Commit").click()
        self.page.wait_for_function("text => text.textContent !== ''", arg=self.said.element_handle())
        return self.said.inner_text()

    @property
    def mark(self) -> str:
        """How the answer is marked."""
        return self.box.get_attribute("data-mark") or ""


def answers(asked: Asked) -> dict[str, list[str]]:
    """A right and a wrong answer."""
    question = asked.question
    right = ["I think that it is so."] if question.kind == "open" else list(question.expected)
    if question.kind == "several":
        return {"right": right, "wrong": [text for text in question.choices if text not in right]}
    wrong = {
        "choice": next((text for text in question.choices if text not in right), ""),
        "number": "-7777",
        "text": "<img src=x onerror=alert(1)>",
        "open": "<b>I do not know.</b>",
    }
    return {"right": right, "wrong": [wrong[question.kind]]}


def open_page(window: Watched, address: str, asked: Asked) -> Question:
    """The page of a question, once its program has found where answers are kept."""
    window.page.goto(f"{address}{asked.section}.html", wait_until="load")
    window.page.wait_for_selector("html[data-predictions=ready]", state="attached")
    return Question(window, asked)


def answer(question: Question, mark: str) -> None:
    """Give the right or a wrong answer and see that it is marked so, with the output open."""
    assert not question.fold.evaluate("fold => fold.open")
    said = question.commit(answers(question.asked)[mark])
    if question.asked.question.kind == "open":
        assert "Was yours right?" in said
        name = "It was right" if mark == "right" else "It was not"
        question.box.get_by_role("button", name=name, exact=True).click()
        question.page.wait_for_selector(f".prediction[data-mark={mark}]")
    else:
        assert said.startswith("Right." if mark == "right" else "Wrong: ")
    assert question.mark == mark
    assert question.fold.evaluate("fold => fold.open")
    assert question.box.get_by_role("button").count() == 0


@pytest.mark.parametrize("mark", ["right", "wrong"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_served_book_records(browser: Any, site: Path, clone: Path, kind: str, mark: str) -> None:
    asked = first_of(kind)
    with in_background(bind(site, 0, clone)) as address, watched(browser) as window:
        answer(open_page(window, address, asked), mark)
        again = open_page(window, address, asked)
        assert again.mark == mark
        where = window.page.locator(".predictions").inner_text()
        assert "exercises/progress.json" in where
        assert not window.page.get_by_role("button", name="Export").is_visible()
        assert f"1 of {window.page.locator('.prediction').count()} committed" in where
        assert window.page.evaluate("localStorage.getItem('glasstorch.predictions')") in (None, EMPTY)
        problems = [one for one in window.problems if not one.startswith("asked for http://127.0.0.1")]
        assert problems == []
    (prediction,) = states.load(clone).predictions.values()
    given = prediction.given if kind == "several" else prediction.given[:1]
    assert (sorted(given), prediction.mark) == (sorted(answers(asked)[mark]), mark)
    assert prediction.section == asked.section


def test_a_question_of_which_nothing_is_ticked_is_not_answered(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        question = open_page(window, f"{site.as_uri()}/", first_of("several"))
        question.box.get_by_role("button", name="Commit").click()
        assert question.said.inner_text() == (
            "Not committed: nothing was chosen; if no choice applies, tick “none of these”."
        )
        box = question.box.get_by_label("none of these")
        box.check()
        question.give([question.asked.question.choices[0]])
        assert not box.is_checked()
        box.check()
        assert question.box.locator("input:checked").count() == 1
        assert question.mark == ""


@pytest.mark.parametrize("share", [0, 1], ids=["none", "all"])
def test_none_and_all_of_several_choices_may_be_right(browser: Any, site: Path, clone: Path, share: int) -> None:
    several = (asked for asked in questions(ROOT) if asked.question.kind == "several")
    asked = next(a for a in several if len(a.question.expected) == share * len(a.question.choices))
    with in_background(bind(site, 0, clone)) as address, watched(browser) as window:
        question = open_page(window, address, asked)
        answer(question, "right")
        assert open_page(window, address, asked).mark == "right"
    (prediction,) = states.load(clone).predictions.values()
    assert (prediction.given, prediction.mark) == (asked.question.expected, "right")


EMPTY = json.dumps({"version": 2, "exercises": {}, "predictions": {}, "cards": {}}, indent=1) + "\n"


@pytest.mark.parametrize("mark", ["right", "wrong"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_from_disk_keeps_in_the_browser(browser: Any, site: Path, kind: str, mark: str) -> None:
    asked = first_of(kind)
    with watched(browser) as window:
        answer(open_page(window, f"{site.as_uri()}/", asked), mark)
        assert open_page(window, f"{site.as_uri()}/", asked).mark == mark
        where = window.page.locator(".predictions").inner_text()
        assert window.page.get_by_role("button", name="Export").is_visible()
        assert "A browser may give each page that is opened from disk a storage of its own" in where
        assert window.problems == []


def exported(window: Watched, folder: Path) -> Path:
    """The file that the page gives out."""
    with window.page.expect_download() as download:
        window.page.get_by_role("button", name="Export").click()
    path = folder / "predictions.json"
    download.value.save_as(path)
    return path


@pytest.mark.parametrize("served", [False, True])
def test_answers_are_exported_and_imported(browser: Any, site: Path, tmp_path: Path, clone: Path, served: bool) -> None:
    asked = first_of("choice")
    handler = partial(Quiet, directory=str(site))
    with elsewhere(ThreadingHTTPServer((HOST, 0), handler)) as address:
        place = address if served else f"{site.as_uri()}/"
        with watched(browser) as window:
            answer(open_page(window, place, asked), "right")
            path = exported(window, tmp_path)
            assert len(json.loads(path.read_text())["predictions"]) == 1
        with watched(browser) as window:  # another browser
            question = open_page(window, place, asked)
            assert question.mark == ""
            for content, said in (
                ("{", "it is not JSON"),
                ("[]", "it holds no predictions"),
                (b"x" * 2_000_000, "it is larger than a megabyte"),
            ):
                bad = tmp_path / "bad.json"
                bad.write_bytes(content if isinstance(content, bytes) else content.encode())
                window.page.locator("input[type=file]").set_input_files(bad)
                window.page.get_by_text(f"bad.json was not imported: {said}", exact=False).wait_for()
            window.page.locator("input[type=file]").set_input_files(path)
            window.page.get_by_text("1 added from predictions.json.").wait_for()
            assert question.mark == "right"
            assert open_page(window, place, asked).mark == "right"
    assert import_record(clone, path) == 0
    assert states.load(clone).predictions.keys() == {asked.question.key}


def test_on_a_full_disk_the_record_stays_and_an_answer_is_recorded_later(
    browser: Any, site: Path, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = first_of("number")
    given = list(asked.question.expected)
    record = clone / "exercises" / "progress.json"
    server = bind(site, 0, clone)
    with in_background(server) as address, watched(browser) as window:
        page = window.page
        page.goto(address + f"{asked.section}.html", wait_until="load")
        page.wait_for_selector("html[data-predictions=ready]", state="attached")
        states.write(clone, states.load(clone))
        before = record.read_bytes()
        with full_disk(monkeypatch, "progress.json"):
            assert Question(window, asked).commit(given).startswith("Right.")
            page.get_by_text("could not be saved in exercises/progress.json (No space left on device)").wait_for()
            page.get_by_text("The answer is kept in this browser until it can be recorded.").wait_for()
            assert [(one.name, one.read_bytes()) for one in record.parent.iterdir()] == [("progress.json", before)]
        page.reload(wait_until="load")
        page.wait_for_selector("html[data-predictions=ready]", state="attached")
        assert Question(window, asked).mark == "right"
        assert states.load(clone).predictions[asked.question.key].mark == "right"


def test_what_the_server_missed_is_handed_over(browser: Any, site: Path, clone: Path) -> None:
    asked = first_of("choice")
    with watched(browser) as window:
        server = bind(site, 0, clone)
        port = server.port
        with in_background(server) as address:
            question = open_page(window, address, asked)
        assert question.commit(answers(asked)["right"]).startswith("Right.")
        where = window.page.locator(".predictions").inner_text()
        assert "does not answer. The answer is kept in this browser until it can be recorded." in where
        assert states.load(clone).predictions == {}
        with in_background(bind(site, port, clone)) as address:
            assert open_page(window, address, asked).mark == "right"
            window.page.wait_for_function(f"localStorage.getItem('glasstorch.predictions') === {json.dumps(EMPTY)}")
        assert states.load(clone).predictions.keys() == {asked.question.key}


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        ("number", "three", "“three” is not a number"),
        ("text", "   ", "nothing was entered"),
        ("open", "", "nothing was entered"),
    ],
)
def test_what_is_no_answer_is_refused_and_opens_nothing(
    browser: Any, site: Path, kind: str, given: str, said: str
) -> None:
    with watched(browser) as window:
        question = open_page(window, f"{site.as_uri()}/", first_of(kind))
        assert question.commit([given]).startswith(f"Not committed: {said}")
        assert not question.fold.evaluate("fold => fold.open")
        assert question.mark == ""
        assert question.box.get_by_role("button", name="Commit").is_enabled()


def test_a_long_text_is_cut_by_the_input_and_refused_by_the_program(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        question = open_page(window, f"{site.as_uri()}/", first_of("text"))
        field = question.box.locator("input")
        field.evaluate("(input, text) => { input.removeAttribute('maxlength'); input.value = text }", "a" * 100_000)
        question.box.get_by_role("button", name="Commit").click()
        assert "100,000 characters are too many; accepted: at most 200" in question.said.inner_text()


def test_a_damaged_storage_is_put_aside(browser: Any, site: Path) -> None:
    asked = first_of("choice")
    with watched(browser) as window:
        open_page(window, f"{site.as_uri()}/", asked)
        window.page.evaluate("localStorage.setItem('glasstorch.predictions', '{\"predictions\": 3}')")
        answer(open_page(window, f"{site.as_uri()}/", asked), "right")
        assert window.page.evaluate("localStorage.getItem('glasstorch.predictions.damaged')") == '{"predictions": 3}'
        assert window.problems == []


def test_a_browser_that_keeps_nothing_says_so(browser: Any, site: Path) -> None:
    asked = first_of("choice")
    with watched(browser) as window:
        window.page.add_init_script(
            "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"
        )
        answer(open_page(window, f"{site.as_uri()}/", asked), "right")
        assert "This browser keeps nothing for this page: export" in window.page.locator(".predictions").inner_text()


def test_the_keyboard_is_enough_also_on_a_phone(browser: Any, site: Path) -> None:
    asked = first_of("number")
    with watched(browser) as window:
        window.page.set_viewport_size(PHONE)
        question = open_page(window, f"{site.as_uri()}/", asked)
        question.box.locator("input").focus()
        window.page.keyboard.type(asked.question.expected[0])
        window.page.keyboard.press("Enter")
        window.page.wait_for_selector(".prediction[data-mark=right]")


FOCUSED = "text => document.activeElement === text"


@pytest.mark.parametrize("kind", ["choice", "open"])
def test_the_focus_goes_to_the_result_of_a_commit_and_not_of_a_record(browser: Any, site: Path, kind: str) -> None:
    asked = first_of(kind)
    with watched(browser) as window:
        question = open_page(window, f"{site.as_uri()}/", asked)
        question.give(answers(asked)["right"])
        button = question.box.get_by_role("button", name="Commit")
        button.scroll_into_view_if_needed()
        place = window.page.evaluate("scrollY")
        button.press("Enter")
        window.page.wait_for_function(FOCUSED, arg=question.said.element_handle(), timeout=60_000)
        assert window.page.evaluate("scrollY") == place
        if kind == "open":
            window.page.keyboard.press("Shift+Tab")
            assert window.page.evaluate("document.activeElement.textContent") == "It was not"
            window.page.keyboard.press("Enter")
            window.page.wait_for_selector(".prediction[data-mark=wrong]")
            assert question.said.evaluate(FOCUSED)
        again = open_page(window, f"{site.as_uri()}/", asked)
        assert again.mark == ("wrong" if kind == "open" else "right")
        assert window.page.evaluate("document.activeElement === document.body")


def test_without_scripts_the_question_and_its_choices_are_there(browser: Any, site: Path) -> None:
    asked = first_of("choice")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{site.as_uri()}/{asked.section}.html")
    box = page.locator(f".prediction[data-prediction*='{asked.question.key}']")
    assert box.locator("li").count() == len(asked.question.choices)
    assert box.locator("xpath=following-sibling::details/summary").inner_text() == "Then look"
    context.close()


def test_only_pages_that_ask_load_the_program(site: Path) -> None:
    having = {path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html")
              if "assets/predictions.js" in path.read_text(encoding="utf-8")}  # fmt: skip
    assert having == {asked.section for asked in questions(ROOT)}
