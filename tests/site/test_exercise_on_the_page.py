"""Can a reader do an exercise on its page, from the stub to "passed", beside an editor that has the same file open?"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.site.conftest import ROOT
from tests.site.looking import PHONE, TABLET, WIDE, full_disk, regarded, watched
from workbook.exercises import state as states
from workbook.exercises.catalogue import find
from workbook.serve import bind, in_background

pytestmark = pytest.mark.ci
PAGE = "exercises/02.1-strides.html"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone whose exercises nobody has begun, in a folder with a space in its name."""
    root = tmp_path / "a clone"
    root.mkdir()
    for name in ("chapters", "reference", "tests", "mkdocs.yml", "examples", "benchmarks", "pyproject.toml"):
        (root / name).symlink_to(ROOT / name)
    shutil.copytree(ROOT / "workbook", root / "workbook", ignore=shutil.ignore_patterns("__pycache__"))
    readers = shutil.ignore_patterns("answer.py", "my_lab.ipynb", "progress.json*", "kept", "faulty", "__pycache__")
    shutil.copytree(ROOT / "exercises", root / "exercises", ignore=readers)
    return root


class Desk:
    """The page of an exercise in a browser."""

    def __init__(self, page: Any, address: str) -> None:
        self.page = page
        page.goto(address, wait_until="load")
        page.wait_for_selector("html[data-desk=ready]", state="attached")
        self.box = page.locator(".exercise")
        self.field = self.box.locator("textarea")

    def press(self, name: str) -> None:
        self.box.get_by_role("button", name=name).click()

    def said(self, part: str) -> str:
        status = self.box.locator("[role=status]")
        status.get_by_text(part).wait_for()
        return str(status.inner_text())


def test_an_exercise_is_done_on_its_page(browser: Any, site: Path, clone: Path, axe: str) -> None:
    exercise = find(clone, "02.1")
    server = bind(site, 0, clone)
    with in_background(server) as address, watched(browser) as window:
        desk = Desk(window.page, f"{address}{PAGE}#key={server.key}")
        desk.press("Begin here")
        desk.field.wait_for()
        assert desk.field.input_value() == exercise.start.read_text(encoding="utf-8")
        desk.press("Check")
        desk.said("Not passed yet")
        assert "contiguous_strides is not written yet" in desk.box.locator("pre").inner_text()

        hints = window.page.locator("details.hint summary")
        with window.page.expect_response("**/hint") as told:
            hints.first.click()
        told.value.finished()
        assert states.load(clone).of(exercise).hints == 1
        for _ in range(3):  # closed, and opened and closed once more
            hints.first.click()
        assert regarded(window, axe=axe, axe_at=(WIDE, TABLET, PHONE)) == []

        desk.field.fill("typed on the page")  # an editor saves, and the page notices
        exercise.answer.write_text("by an editor")
        desk.press("Save")
        desk.said("was changed outside of this page. Nothing was written.")
        assert exercise.answer.read_text() == "by an editor"
        window.page.reload(wait_until="load")
        desk.said("This is what you typed here and have not saved.")
        assert desk.field.input_value() == "typed on the page"
        desk.press("Read the file again")
        desk.press("Write mine, and keep a copy of the file")
        desk.said("What stood there is in")
        assert exercise.answer.read_text() == "typed on the page"
        assert [path.read_text() for path in exercise.kept.iterdir()] == ["by an editor"]

        desk.field.fill(exercise.solution.read_text(encoding="utf-8"))
        desk.field.press("Control+Enter")
        assert desk.said("Passed.") == "Passed."
        assert "3  inside glasstorch  passed" in desk.box.locator("pre").inner_text()
        window.page.wait_for_selector(f"nav a[href$='{Path(PAGE).name}'][data-standing=passed]", state="attached")
        assert sum(one.endswith("/02.1/hint") for one in window.problems) == len(exercise.hints())  # each was told once
        refused = "the server responded with a status of 409"  # the browser's own line on the conflict
        assert [one for one in window.problems if not one.startswith("asked for http:") and refused not in one] == []
    state = states.load(clone)
    assert state.standing(exercise) == "passed"
    assert state.of(exercise).hints == len(exercise.hints())  # axe looked at what is unfolded


def test_a_browser_that_keeps_nothing_asks_before_typed_text_is_dropped(browser: Any, site: Path, clone: Path) -> None:
    server = bind(site, 0, clone)
    with in_background(server) as address, watched(browser) as window:
        refuse = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"
        window.page.add_init_script(refuse)
        desk = Desk(window.page, f"{address}{PAGE}#key={server.key}")
        desk.press("Begin here")
        desk.said("which you can also write in your editor")
        desk.field.fill("typed on the page")
        desk.said("This browser keeps nothing: save before you leave the page.")
        desk.press("Read the file again")
        desk.said("What you typed is not saved, and the file differs.")
        assert desk.field.input_value() == "typed on the page"
        desk.press("Take the file, and discard what I typed")
        desk.said("Read from")
        find(clone, "02.1").answer.unlink()
        desk.press("Read the file again")
        desk.said("is not there any more. Save writes what stands here into a new one.")
        desk.press("Save")
        desk.said("Saved in")
        assert find(clone, "02.1").answer.read_bytes() == find(clone, "02.1").start.read_bytes()


def test_a_browser_that_is_full_does_not_say_that_it_keeps_the_last_words(
    browser: Any, site: Path, clone: Path
) -> None:
    server = bind(site, 0, clone)
    with in_background(server) as address, watched(browser) as window:
        desk = Desk(window.page, f"{address}{PAGE}#key={server.key}")
        desk.press("Begin here")
        desk.field.fill("kept")
        desk.said("Not saved yet.")
        window.page.route("**/workbook/exercises/**", lambda route: route.abort())
        desk.press("Save")
        desk.said("what you typed is kept in this browser.")
        full = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"
        window.page.evaluate(f"() => {{ {full} }}")
        desk.field.fill("not kept")
        desk.press("Save")
        desk.said("what you typed is on this page only: copy it before you leave.")


def test_on_a_full_disk_the_answer_stays_and_what_was_typed_is_saved_later(
    browser: Any, site: Path, clone: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercise = find(clone, "02.1")
    server = bind(site, 0, clone)
    with in_background(server) as address, watched(browser) as window:
        desk = Desk(window.page, f"{address}{PAGE}#key={server.key}")
        desk.press("Begin here")
        desk.field.fill("typed before")
        desk.press("Save")
        desk.said("Saved in")
        with full_disk(monkeypatch, "answer.py"):
            desk.field.fill("typed on a full disk")
            desk.press("Check")
            desk.said(
                "answer.py could not be written: No space left on device. The file is as it was; your text is on this"
            )
            assert [(one.name, one.read_text()) for one in exercise.folder.glob("answer*")] == [
                ("answer.py", "typed before")
            ]
            window.page.reload(wait_until="load")
            desk.said("This is what you typed here and have not saved.")
        desk.press("Save")
        desk.said("Saved in")
        assert exercise.answer.read_text() == "typed on a full disk"


def test_a_page_that_cannot_check_says_where_one_can(browser: Any, site: Path, clone: Path) -> None:
    with watched(browser) as window:
        window.page.set_viewport_size(PHONE)
        desk = Desk(window.page, (site / PAGE).as_uri())
        desk.press("Begin here")
        desk.said("A page that is opened from disk cannot run Python. In the clone, type .venv/bin/workbook read")
        assert window.problems == []
    server = bind(site, 0, clone)
    with in_background(server) as address, watched(browser) as window:
        desk = Desk(window.page, f"{address}{PAGE}")
        desk.press("Begin here")
        desk.said("opened without the key of its server")
    assert not find(clone, "02.1").answer.exists()
