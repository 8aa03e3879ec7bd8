"""Does a reader find the way: between chapters, within one, back to the place of the last time, and to the command?"""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from tests.site.looking import PHONE, WIDE, pages_of, watched
from workbook.book.contents import TITLES, first_sections

ROOT = Path(__file__).parents[2]
SECTION = "04-autograd/the-engine-step-by-step.html"
TABS = ".md-tabs__link"
IN_SIGHT = """element => {
  const box = element.getBoundingClientRect();
  const top = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
  return box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth && element.contains(top);
}"""
KEY = "glass-torch:place"


@pytest.mark.ci
def test_each_chapter_exercises_and_reference_are_in_sight_on_a_wide_window(browser: Any, site: Path) -> None:
    chapters = [f"{number} {TITLES[number]}" for number in first_sections(ROOT)]
    with watched(browser) as window:
        window.open(site / SECTION)
        tabs = window.page.locator(TABS)
        assert [name.strip() for name in tabs.all_inner_texts()] == ["Home", *chapters, "Exercises", "Reference"]
        assert all(tab.evaluate(IN_SIGHT) for tab in tabs.all())
        window.page.get_by_role("link", name="Exercises", exact=True).first.click()
        window.page.wait_for_url("**/exercises/index.html")
        assert window.problems == []


@pytest.mark.ci
def test_exercises_and_reference_are_two_taps_away_on_a_phone_and_not_scrolled_to(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.page.set_viewport_size(PHONE)
        for name, page in (("Exercises", "exercises/index.html"), ("Reference", "reference/source-map.html")):
            window.open(site / SECTION)
            window.page.locator(".md-header label[for=__drawer]").click()
            window.page.locator(".md-nav[data-md-level='1'] > .md-nav__title:visible").click()
            link = window.page.locator(".md-nav--primary > ul > li > a").filter(has_text=name)
            link.click(trial=True)  # waits for it to be there, at rest and not covered
            assert link.evaluate(IN_SIGHT)
            assert window.page.evaluate("document.querySelector('.md-nav--primary > ul').scrollTop") == 0
            link.click()
            window.page.wait_for_url(f"**/{page}")


@pytest.mark.ci
def test_the_sidebar_has_this_chapter_alone_and_nothing_shows_through_its_title(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.open(site / SECTION)
        shown = window.page.locator(".md-sidebar--primary a.md-nav__link:visible")
        pages = {str(link.get_attribute("href")).partition("#")[0] for link in shown.all()}
        chapter = {path.name for path in (site / "04-autograd").glob("*.html")}
        assert pages == chapter
        for page in ("reference/api/core-storage.html", "exercises/07.9-buffer.html"):
            window.open(site / page)
            covered = window.page.evaluate("""() => {
              const sidebar = document.querySelector(".md-sidebar--primary .md-sidebar__scrollwrap");
              const title = document.querySelector(".md-nav--lifted > ul > .md-nav__item--active > .md-nav__link");
              const found = [];
              title.style.pointerEvents = "auto";  // Material lets the pointer through; what is seen is asked here
              for (let at = 0; at < 300; at += 7) {
                sidebar.scrollTop = at;
                const box = title.getBoundingClientRect();
                for (const y of [box.top + 1, (box.top + box.bottom) / 2, box.bottom - 1]) {
                  const top = document.elementFromPoint(box.left + 20, y);
                  if (!title.contains(top) && top.closest("a, label")) found.push([at, top.outerHTML]);
                }
              }
              return [found, getComputedStyle(title).backgroundColor, getComputedStyle(document.body).backgroundColor];
            }""")
            assert covered[0] == []
            assert covered[1] == covered[2]


@pytest.mark.ci
def test_the_home_page_offers_to_go_on_at_the_last_heading_and_nothing_to_a_newcomer(browser: Any, site: Path) -> None:
    offer = ".go-on a"
    with watched(browser) as window:
        page = window.page
        window.open(site / "index.html")
        assert page.locator(offer).count() == 0
        window.open(site / SECTION)
        page.locator("article h2").nth(3).evaluate("heading => heading.scrollIntoView()")
        anchor = page.locator("article h2").nth(3).get_attribute("id")
        page.wait_for_function(f"() => JSON.parse(localStorage.getItem('{KEY}')).anchor === '{anchor}'")
        window.open(site / "reference" / "errata.html")  # where things are looked up is no place to go on
        window.open(site / SECTION)  # nor is the place lost by opening the section again
        window.open(site / "index.html")
        words = page.locator(offer).inner_text()
        assert words.startswith("The engine, step by step: ")
        assert "#" not in words
        page.locator(offer).click()
        page.wait_for_url(f"**/{SECTION}#{anchor}")
        assert [problem for problem in window.problems if problem.startswith("error")] == []


@pytest.mark.ci
def test_a_browser_that_keeps_nothing_or_something_strange_shows_the_home_page_of_a_newcomer(
    browser: Any, site: Path
) -> None:
    place = {"page": SECTION, "title": "<img src=x>", "heading": "", "anchor": ""}
    strange = ["{", "null", "[]", "{}", "7"]
    other = ({"page": "../../elsewhere.html"}, {"page": "javascript:alert(1)//00-a/b.html"}, {"title": 3})
    strange += [json.dumps(place | change) for change in other]
    with watched(browser) as window:
        window.open(site / "index.html")
        for text in strange:
            window.page.evaluate("([key, text]) => localStorage.setItem(key, text)", [KEY, text])
            window.page.reload()
            assert window.page.locator(".go-on").count() == 0, text
        window.page.evaluate("([key, text]) => localStorage.setItem(key, text)", [KEY, json.dumps(place)])
        window.page.reload()
        assert window.page.locator(".go-on a").inner_text() == "<img src=x>"  # text, and not an element
        window.page.evaluate("localStorage.clear()")
        full = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"
        window.page.add_init_script(full)
        for name in (SECTION, "index.html"):
            window.open(site / name)
        assert window.page.locator(".go-on").count() == 0
        assert [problem for problem in window.problems if problem.startswith("error")] == []


@pytest.mark.ci
def test_on_windows_the_commands_are_those_of_windows(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        window.page.add_init_script("Object.defineProperty(navigator, 'platform', { get: () => 'Win32' })")
        window.open(site / "exercises" / "02.1-strides.html")
        assert (
            window.page.locator("article pre code").first.inner_text().strip() == r".venv\Scripts\workbook start 02.1"
        )
        in_prose = window.page.locator("article p code, article li code").all_inner_texts()
        assert r".venv\Scripts\workbook hint 02.1" in in_prose
        assert [text for text in in_prose if ".venv/bin" in text] == []
        window.page.get_by_role("button", name="Begin here").click()
        window.page.get_by_text(r"In the clone, type .venv\Scripts\workbook read").wait_for()
        assert window.page.evaluate("GlassTyped('type make study, as in remake studying')") == (
            r"type py workbook\bootstrap.py study, as in remake studying"
        )
        window.open(site / "00-start" / "how-to-read.html", "#how-commands-are-typed")
        assert window.page.locator("article code", has_text="make study").count() == 0
        told = window.page.locator("#how-commands-are-typed + p").inner_text()
        assert r"your clone, type .venv/bin/workbook next, or .venv\Scripts\workbook next on Windows." in told
        assert r"after source .venv/bin/activate, or .venv\Scripts\activate on Windows" in told


def test_what_a_reader_is_to_type_is_there_as_it_is_typed(site: Path) -> None:
    pages = [site / "index.html", *sorted((site / "exercises").glob("0*.html"))]
    for path in pages:
        text = path.read_text(encoding="utf-8")
        article = text[text.index("<article") : text.index("</article>")]
        assert "<code>workbook " not in article, path.name
        assert "<code>.venv/bin/workbook next</code>" in article, path.name


class Blocks(HTMLParser):
    """The lines of a page's blocks of code, except for those that a program printed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.printed = False
        self.inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Enter a block."""
        if tag == "div" and "highlight" in (classes := dict(attrs).get("class") or ""):
            self.printed = "cell-text" in classes
        elif tag == "pre" and not self.printed:
            self.inside = True
            self.lines.append("")

    def handle_endtag(self, tag: str) -> None:
        """Leave it."""
        self.inside = self.inside and tag != "pre"

    def handle_data(self, data: str) -> None:
        """Keep its text."""
        if self.inside:
            first, *others = data.split("\n")
            self.lines[-1] += first
            self.lines += others


def test_a_command_that_can_be_copied_is_typed_as_by_somebody_who_has_just_cloned(site: Path) -> None:
    commands = {}
    for path in pages_of(site):
        text = path.read_text(encoding="utf-8")
        if "workbook" not in text:
            continue
        lines = [line.strip() for line in Blocks(text).lines]
        short = [
            line for line in lines if line.removeprefix("$ ").startswith("workbook ") or line.startswith("$ .venv")
        ]
        assert short == [], path
        commands[path.relative_to(site).as_posix()] = [line for line in lines if line.startswith(".venv/bin/workbook ")]
    assert commands["00-start/one-addition.html"][0] == ".venv/bin/workbook lab chapters/00-start/one-addition.md"
    assert ".venv/bin/workbook start 02.1" in commands["exercises/02.1-strides.html"]
    assert sum(map(len, commands.values())) > 100


def test_one_place_tells_how_commands_are_typed_elsewhere_and_each_section_leads_there(site: Path) -> None:
    told = (site / "00-start" / "how-to-read.html").read_text(encoding="utf-8")
    assert 'id="how-commands-are-typed"' in told
    assert r".venv\Scripts\workbook" in told
    for page in ("00-start/one-addition.html", SECTION):
        text = (site / page).read_text(encoding="utf-8")
        assert 'how-to-read.html#how-commands-are-typed">How commands are typed</a>' in text


CLIPPED = """() => [...document.querySelectorAll("article .md-code__nav")].flatMap(button => {
  const code = button.parentElement.querySelector("code"), box = button.getBoundingClientRect();
  return box.width && code.getBoundingClientRect().right > box.left + 1 ? [code.innerText.slice(0, 60)] : []; })"""
# PyTorch's programs, and what they printed: the first is never cut, the second may be scrolled.
PROGRAMS = ":is(.quote.torch .highlight:not(.cell-text), .cell.torch .cell-input) code"
CUT = f"""() => [...document.querySelectorAll("{PROGRAMS}")]
  .filter(code => code.scrollWidth > code.clientWidth + 1).map(code => code.innerText.slice(0, 60))"""


@pytest.mark.ci
def test_no_code_is_under_the_button_that_copies_it_and_no_program_of_pytorch_is_cut(browser: Any, site: Path) -> None:
    with watched(browser) as window:
        seen = 0
        for name in (
            "02-tensor-storage/one-buffer-many-views",
            "01-architecture/every-hop-of-a-call",
            "reference/errata",
        ):
            window.page.set_viewport_size(WIDE)
            window.open(site / f"{name}.html")
            window.page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true })")
            window.page.wait_for_selector("article .md-code__nav")
            seen += window.page.locator(".quote.torch, .cell.torch").count()
            for width in (1280, 820, 390):
                window.page.set_viewport_size({"width": width, "height": 900})
                assert window.page.evaluate(CLIPPED) == [], (name, width)
                assert window.page.evaluate(CUT) == [], (name, width)
        assert seen > 10
