"""Are figures drawn the same each time, readable by ear, and in the book's colours?"""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.book.small_book import ROOT
from workbook.book.figures.__main__ import drawn, main
from workbook.book.figures.command import stale
from workbook.book.figures.kit import DARK, LIGHT, Figure, text_width

SVG = "{http://www.w3.org/2000/svg}"


def sample() -> Figure:
    figure = Figure("sample", "A title & more", "What is drawn.", 200, 100)
    figure.label(0, 0, 80, 30, "core/", kind="glass", mono=True)
    figure.cells(0, 40, [0, 1, 2])
    figure.arrow([(0, 0), (10.5, 20.25)], colour="torch", dashed=True)
    return figure


def test_the_committed_figures_are_fresh() -> None:
    assert stale(drawn(ROOT)) == []


def test_a_figure_is_drawn_the_same_each_time() -> None:
    assert sample().svg() == sample().svg()


@pytest.mark.parametrize("path", sorted(drawn(ROOT)), ids=lambda path: path.name)
def test_a_figure_is_sound_and_can_be_read_aloud(path: Path) -> None:
    svg = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    names = (svg.get("aria-labelledby") or "").split()
    said = {element.get("id"): element.text for element in svg if element.tag in (f"{SVG}title", f"{SVG}desc")}
    assert svg.get("role") == ("group" if svg.find(f".//{SVG}a") is not None else "img")
    assert set(names) == set(said)
    assert all(said.values())
    ids = [element.get("id") for element in svg.iter() if element.get("id")]
    assert len(ids) == len(set(ids))
    assert all(str(name).startswith(f"{path.stem}-") for name in ids), "ids must differ between figures of a page"


def test_text_that_does_not_fit_its_place_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"needs about .* pixels at size 13, its place has 32"):
        sample().label(0, 0, 40, 20, "compiler/")


def test_widths_are_upper_estimates() -> None:
    assert text_width("mm", 10) > text_width("il", 10)
    assert text_width("abc", 10, mono=True) == 18.3


@pytest.mark.parametrize(("scheme", "colours"), [("default", LIGHT), ("slate", DARK)])
def test_figures_have_the_colours_of_the_pages(scheme: str, colours: dict[str, str]) -> None:
    css = (ROOT / "chapters" / "assets" / "extra.css").read_text(encoding="utf-8")
    block = re.search(rf'\[data-md-color-scheme="{scheme}"\] {{(.*?)}}', css, re.DOTALL)
    assert block is not None
    assert dict(re.findall(r"--([\w-]+): (#\w+);", block[1])).items() >= colours.items()


def test_the_command_draws_and_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "chapters").mkdir()
    (tmp_path / "mkdocs.yml").write_text("", encoding="utf-8")
    monkeypatch.setattr("workbook.book.figures.command.project_root", lambda: tmp_path)
    assert main(["--check"]) == 1
    assert main([]) == 0
    assert main(["--check"]) == 0


def test_a_link_has_a_name_and_a_place_to_point_at() -> None:
    figure = sample()
    with figure.link("a.md?b&c", "A <page>", (1, 2, 30.5, 24)):
        figure.text(4, 5, "a")
    svg = figure.svg()
    assert '<a href="a.md?b&amp;c" aria-label="A &lt;page&gt;">\n<rect class="g-hit" x="1" y="2" width="30.5"' in svg
    assert 'role="group"' in svg
    assert ".g-hit{" in svg
    assert ".g-hit{" not in sample().svg()


def test_a_figure_may_be_renamed_after_it_is_drawn() -> None:
    figure = sample()
    figure.name = "other"
    svg = figure.svg()
    assert 'id="other-torch"' in svg
    assert "url(#other-torch)" in svg
    assert "sample" not in svg
