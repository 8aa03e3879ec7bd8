"""Can a reader run, change and stop what a page shows, and is what cannot run said: served, keyless, from disk?"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.site.conftest import ROOT
from tests.site.looking import PHONE, TABLET, WIDE, regarded, watched
from tests.site.test_predictions import Quiet
from workbook.book.swap import put_in_place
from workbook.serve import HOST, Server, bind, in_background

pytestmark = pytest.mark.ci
SECTION = "02-tensor-storage/one-buffer-many-views.html"


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the kernels need of the clone, apart from the reader's files."""
    root = tmp_path_factory.mktemp("clone with a space")
    for name in ("chapters", "reference", "workbook", "tests", "mkdocs.yml", "examples", "benchmarks"):
        (root / name).symlink_to(ROOT / name)
    (root / "exercises").mkdir()
    return root


@pytest.fixture(scope="module")
def server(site: Path, clone: Path) -> Iterator[Server]:
    """The book, served with its kernels."""
    made = bind(site, 0, clone)
    with in_background(made):
        yield made


class Section:
    """A page with cells in a browser."""

    def __init__(self, page: Any, address: str = "") -> None:
        self.page = page
        if address:
            page.goto(address, wait_until="load")
        self.ready()

    def ready(self) -> None:
        self.page.wait_for_selector("html[data-cells=ready]", state="attached")
        self.tools = self.page.locator(".cell-tools")

    def press(self, cell: int, name: str) -> None:
        self.tools.nth(cell).get_by_role("button", name=name, exact=True).click()

    def said(self, cell: int, part: str) -> str:
        """What is said of a cell, once it contains this."""
        status = self.tools.nth(cell).locator("[role=status]")
        status.get_by_text(part).wait_for()
        return str(status.inner_text())

    def run(self, cell: int, part: str) -> str:
        """Run a cell; returns what is then said of it."""
        self.press(cell, "Run")
        return self.said(cell, part)

    def write(self, cell: int, code: str) -> None:
        """Put code in the place of a cell's."""
        edit = self.tools.nth(cell).get_by_role("button", name="Edit", exact=True)
        if edit.is_visible():
            edit.click()
        self.tools.nth(cell).locator("xpath=..").locator("textarea").fill(code)

    def live(self, cell: int) -> str:
        """What the last run of a cell put out, as it is shown."""
        return str(self.tools.nth(cell).locator("xpath=..").locator(".cell-live").inner_text())


def opened(window: Any, server: Server, path: str = SECTION) -> Section:
    return Section(window.page, f"{server.address}/{path}#key={server.key}")


def problems(window: Any, server: Server) -> list[str]:
    return [one for one in window.problems if not one.startswith(f"asked for {server.address}")]


def test_a_cell_runs_after_those_above_it_and_gives_the_recorded_output(browser: Any, server: Server) -> None:
    with watched(browser) as window:
        section = opened(window, server)
        assert server.key not in window.page.url
        assert "The same output as recorded" in section.run(0, "as recorded")
        assert not window.page.locator(".cell-live").first.is_visible()  # it is the one above
        last = section.tools.count() - 1
        section.press(last, "Run")
        window.page.wait_for_function(
            "[...document.querySelectorAll('.cell-tools')].every(tools => tools.dataset.mark)"
        )
        marks = section.tools.evaluate_all("all => all.map(tools => tools.dataset.mark)")
        assert set(marks) == {"same", "folded"}
        folded = window.page.locator("details.answer").first
        assert not folded.evaluate("fold => fold.open")  # what a prediction asks for stays unseen
        assert problems(window, server) == []


def test_a_changed_cell_is_kept_runs_and_is_undone(browser: Any, server: Server, site: Path, tmp_path: Path) -> None:
    with watched(browser) as window:
        page = window.page
        page.set_viewport_size(PHONE)
        section = opened(window, server)
        section.press(0, "Edit")
        page.keyboard.press("Control+End")
        page.keyboard.type("\nfor i in range(2):\nkept = i\nprint(kept, '<b>')")
        page.keyboard.press("Shift+Enter")
        assert section.said(0, "Your version").startswith("Your version ran in")
        assert "0 <b>\n1 <b>" in section.live(0)  # the field has indented the body of the loop
        section.run(1, "folded")
        page.keyboard.press("Escape")
        put_in_place(site, tmp_path / "other")  # the book is built again
        put_in_place(tmp_path / "other", site)
        page.reload(wait_until="load")
        section.ready()
        assert section.said(0, "You changed this cell.")
        section.write(2, "print('kept is', kept)")  # the kernel still knows it, and no cell above runs again
        assert section.run(2, "Your version")
        assert "kept is 1" in section.live(2)
        section.press(0, "Undo my changes")
        assert page.locator("textarea").count() == 1
        section.press(2, "Undo my changes")
        page.reload(wait_until="load")
        section.ready()
        assert page.locator("textarea").count() == 0
        assert problems(window, server) == []


def test_axe_finds_nothing_on_a_page_that_runs(browser: Any, server: Server, axe: str) -> None:
    with watched(browser) as window:
        section = opened(window, server, "00-start/one-backward.html")
        section.run(1, "Its output is folded with the recorded one")
        section.write(0, "print('a line')\n1 / 0")
        section.run(0, "It raised an error")
        assert regarded(window, axe=axe, axe_at=(WIDE, TABLET, PHONE)) == []
        assert problems(window, server) == []


def test_a_field_is_left_by_the_keyboard_and_lines_are_indented(browser: Any, server: Server) -> None:
    with watched(browser) as window:
        page = window.page
        section = opened(window, server)
        section.write(0, "a = 1\nb = 2")
        page.keyboard.press("Control+a")
        page.keyboard.press("Tab")
        field = page.locator("textarea").first
        assert field.input_value() == "    a = 1\n    b = 2"
        page.keyboard.press("Shift+Tab")
        assert field.input_value() == "a = 1\nb = 2"
        page.keyboard.press("Escape")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Run"
        page.keyboard.press("Enter")
        section.said(0, "showed nothing")


def test_a_cell_that_does_not_end_is_stopped(browser: Any, server: Server) -> None:
    with watched(browser) as window:
        section = opened(window, server)
        section.write(0, "kept = 1\nprint('begun')\nwhile True: pass")
        section.press(0, "Run")
        window.page.locator(".cell-live").get_by_text("begun").wait_for()
        assert section.run(1, "Another cell of this page is running.")
        section.press(0, "Interrupt")
        section.said(0, "You interrupted it.")
        assert "KeyboardInterrupt" in section.live(0)
        section.write(0, "print('kept is', kept)")
        section.run(0, "Your version")
        assert "kept is 1" in section.live(0)
        section.write(0, "print('x' * 300_000)\nwhile True: print('y' * 1000)")
        section.run(0, "It put out more than 200 kB and was interrupted.")
        deaf = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\nprint('begun')\nwhile True: pass"
        section.write(0, deaf)
        section.press(0, "Run")
        window.page.locator(".cell-live").get_by_text("begun").wait_for()
        section.press(0, "Interrupt")
        section.said(0, "It did not react, so its kernel was ended")
        section.write(0, "import os; os._exit(1)")
        section.run(0, "The kernel died. What it held is lost; the book and what you typed are not.")
        section.write(0, "print('alive')")
        section.run(0, "Your version")
        window.page.get_by_role("button", name="Forget everything and start anew").click()
        window.page.get_by_text("The kernel was ended, and what it held is gone.").wait_for()
        assert section.run(0, "Your version")
        assert problems(window, server) == []


def test_an_output_that_is_not_the_recorded_one_is_marked_and_both_are_shown(browser: Any, server: Server) -> None:
    with watched(browser) as window:
        section = opened(window, server)
        given = window.page.locator(".cell[data-cell] code").first.inner_text()
        section.write(0, f"{given}\nboard.fill_(7)")
        section.run(0, "Your version")
        assert section.run(2, "differs").endswith("its output differs from the recorded one: compare the two below.")
        assert section.tools.nth(2).get_attribute("data-mark") == "other"
        assert "tensor(7) tensor(7) tensor(7) tensor(7)" in section.live(2)
        recorded = section.tools.nth(2).locator("xpath=..").locator(".cell-text:visible")
        assert "tensor(-1) tensor(-1) tensor(-1) tensor(-1)" in recorded.inner_text()
        assert problems(window, server) == []


def test_a_cell_that_runs_for_two_minutes_is_interrupted(browser: Any, server: Server) -> None:
    with watched(browser) as window:
        window.page.clock.install()
        section = opened(window, server)
        section.write(0, "print('begun')\nwhile True: pass")
        section.press(0, "Run")
        window.page.locator(".cell-live").get_by_text("begun").wait_for()
        section.said(0, "Running for ")
        window.page.clock.fast_forward(121_000)
        section.said(0, "It ran for 120 seconds and was interrupted.")
        assert "KeyboardInterrupt" in section.live(0)
        assert problems(window, server) == []


DRAWING = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:h="http://www.w3.org/1999/xhtml" onload="top.ran = 1">
<script>top.ran = 1</script><foreignObject><p onclick="top.ran = 1">x</p></foreignObject>
<h:iframe srcdoc="&lt;script>top.ran = 1&lt;/script>"/><a href="java&#9;script:top.ran = 1"><text>leads</text></a>
<a><set attributeName="href" to="javascript:top.ran = 1"/><text>leads, too</text></a>
<a href="#there"><rect width="9" height="9"/></a><image href="data:image/png;base64,AA=="/></svg>"""
KEPT = "drawn => [...drawn.querySelectorAll('*')].map(one => [one.localName, ...one.getAttributeNames()].join(' '))"


def test_of_a_drawing_nothing_is_kept_that_could_run(browser: Any, server: Server) -> None:
    with watched(browser) as window:
        section = opened(window, server)
        section.write(0, f"from IPython.display import SVG\nSVG({DRAWING!r})")
        section.run(0, "Your version")
        drawn = window.page.locator(".cell-live svg").first
        assert drawn.evaluate("drawn => drawn.hasAttribute('onload')") is False
        kept = ["a", "text", "a", "text", "a href", "rect width height", "image href"]
        assert drawn.evaluate(KEPT) == kept
        assert window.page.evaluate("window.ran") is None


def test_a_new_tab_gets_the_key_from_another_and_a_kernel_of_its_own(browser: Any, server: Server) -> None:
    with watched(browser) as window:
        first = opened(window, server)
        first.write(0, "mine = 'first'")
        first.run(0, "showed nothing")
        second = Section(window.page.context.new_page(), f"{server.address}/{SECTION}")
        second.write(0, "print('mine' in globals())")
        second.run(0, "Your version")
        assert "False" in second.live(0)
        first.write(1, "'typed in the first'")
        second.write(2, "'typed in the second'")
        window.page.reload(wait_until="load")  # each tab has kept what it typed, and what the other did
        typed = window.page.locator("textarea").evaluate_all("all => all.map(field => field.value)")
        assert typed == ["print('mine' in globals())", "'typed in the first'", "'typed in the second'"]
        assert server.key not in str(window.page.context.cookies())
        assert window.page.evaluate("Object.values(localStorage).join()").find(server.key) == -1


def test_the_copy_of_a_tab_gets_a_kernel_of_its_own(browser: Any, server: Server) -> None:
    with watched(browser) as window:
        first = opened(window, server)
        first.write(0, "mine = 'first'")
        first.run(0, "showed nothing")
        with window.page.expect_popup() as waiting:  # it begins with a copy of what the tab stores, as a duplicated one
            window.page.evaluate("window.open(location.href)")
        copy = Section(waiting.value)
        stored = [page.evaluate("JSON.stringify(sessionStorage)") for page in (window.page, copy.page)]
        assert stored[0] == stored[1]
        copy.write(0, "print('mine' in globals())")
        copy.run(0, "Your version")
        assert "False" in copy.live(0)
        copy.page.get_by_text("This tab is a copy of another. It has a kernel of its own").wait_for()
        first.write(0, "print(mine)")
        first.run(0, "Your version")
        assert "first" in first.live(0)
        window.page.close()
        copy.write(0, "kept = 1")
        copy.run(0, "showed nothing")
        copy.page.reload(wait_until="load")  # and keeps it
        copy.ready()
        copy.write(0, "print(kept, 'mine' in globals())")
        copy.run(0, "Your version")
        assert "1 False" in copy.live(0)


def test_a_page_without_the_key_says_how_to_get_it(browser: Any, server: Server) -> None:
    with watched(browser) as window:
        section = Section(window.page, f"{server.address}/{SECTION}")
        assert section.run(0, "without the key of its server").endswith("where make study runs.")
        window.page.evaluate("sessionStorage.setItem('glasstorch.key', 'of-yesterday')")
        window.page.reload(wait_until="load")
        section.ready()
        assert "belongs to an earlier run." in section.run(0, "Open the address that")


def test_a_page_from_disk_or_of_another_server_says_where_cells_run(browser: Any, site: Path, server: Server) -> None:
    with watched(browser) as window:
        section = Section(window.page, (site / SECTION).as_uri())
        section.run(0, "In the clone, type .venv/bin/workbook read")
        section.write(0, "print(1)")  # what is typed is kept all the same
        assert window.problems == []
    with (
        ThreadingHTTPServer((HOST, 0), partial(Quiet, directory=str(site.parent))) as other,
        watched(browser) as window,
    ):
        thread = threading.Thread(target=other.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        address = f"http://{HOST}:{other.server_port}/{site.name}/{SECTION}"  # below a path
        Section(window.page, address).run(0, "There is no Python behind this copy of the book.")
        other.shutdown()
        thread.join()


def test_a_server_that_was_stopped_is_told_and_nothing_typed_is_lost(browser: Any, site: Path, clone: Path) -> None:
    with watched(browser) as window:
        made = bind(site, 0, clone)
        with in_background(made):
            section = opened(window, made)
            section.write(0, "print('typed')")
            section.run(0, "Your version")
        window.page.get_by_text("The kernel has ended").wait_for()
        section.run(0, "The server does not answer.")
        assert window.page.locator("textarea").first.input_value() == "print('typed')"


def test_a_browser_that_keeps_nothing_runs_cells_and_says_so(browser: Any, server: Server) -> None:
    with watched(browser) as window:
        refuse = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"
        window.page.add_init_script(refuse)
        section = opened(window, server)
        section.write(0, "print('once')")
        section.said(0, "This browser keeps nothing: what you type is lost when you leave the page.")
        section.run(0, "Your version")
        assert "once" in section.live(0)
