"""Does the site come out whole, and does what is wrong with it come out in words?"""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from tests.book.small_book import HEADER, ROOT, SmallBook
from workbook.book import build as build_module
from workbook.book.build import PLACE, alone, build_site
from workbook.book.errors import BookError
from workbook.book.notebooks import build as build_notebooks
from workbook.book.vendor import Vendored

CONFIG = f"""
site_name: Small
docs_dir: chapters
use_directory_urls: false
theme: {{name: material, font: false}}
extra_css: [assets/fonts.css]
hooks: [{(ROOT / "workbook" / "book" / "hook.py").as_posix()}]
plugins: []
markdown_extensions:
  [attr_list, md_in_html, pymdownx.superfences, pymdownx.details, pymdownx.quotes: {{callouts: true}}]
validation: {{nav: {{omitted_files: warn}}, links: {{anchors: warn}}}}
"""
SECTION = "# Section\n\n```{code-cell}\n6 * 7\n```\n\n> [!QUESTION]- Why?\n> Because.\n"


@pytest.fixture
def small(book: SmallBook, monkeypatch: pytest.MonkeyPatch) -> SmallBook:
    """A book of two pages on a machine without npm."""
    (book.root / "mkdocs.yml").write_text(CONFIG, encoding="utf-8")
    (book.root / "chapters" / "index.md").write_text("# Home\n\n[On](section.md#section)\n", encoding="utf-8")
    assert build_notebooks([book.section(SECTION)], book.root) == []
    monkeypatch.setattr("workbook.book.vendor.shutil.which", lambda name: None)
    return book


def page(small: SmallBook, text: str, name: str = "index") -> None:
    (small.root / "chapters" / f"{name}.md").write_text(text, encoding="utf-8")


def said_by(small: SmallBook) -> str:
    with pytest.raises(BookError) as caught:
        build_site(small.root)
    return str(caught.value)


def test_a_section_comes_out_with_its_output_its_callout_and_its_notebook(
    small: SmallBook, capsys: pytest.CaptureFixture[str]
) -> None:
    site = build_site(small.root)
    html = (site / "section.html").read_text(encoding="utf-8")
    assert site == small.root / "site"
    assert '<div class="cell" data-cell=' in html
    assert "<code>42\n</code>" in html
    assert '<a class="download" href="section.ipynb" download>' in html
    assert (site / "section.ipynb").is_file()
    assert '<details class="question">\n<summary>Why?</summary>' in html
    assert "typefaces: TTF files of the Python packages, as npm is not installed" in capsys.readouterr().err


def test_without_npm_the_style_names_the_typefaces_of_the_python_packages(small: SmallBook) -> None:
    styles = small.root / "chapters" / "assets"
    styles.mkdir()
    shutil.copyfile(ROOT / "chapters" / "assets" / "fonts.css", styles / "fonts.css")
    assets = build_site(small.root) / "assets"
    assert 'url("vendor/fonts/serif-normal.ttf") format("truetype")' in (assets / "fonts.css").read_text("utf-8")
    assert (assets / "vendor" / "fonts" / "serif-normal.ttf").is_file()
    assert (assets / "vendor" / "fonts" / "LICENSE-source-serif").is_file()


def test_vendored_files_are_part_of_the_site(small: SmallBook, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.woff2").write_text("one", encoding="utf-8")
    hook_vendored = Vendored({"fonts/one.woff2": tmp_path / "one.woff2"})
    monkeypatch.setattr("workbook.book.vendor.vendored", lambda root: hook_vendored)
    site = build_site(small.root, target=tmp_path / "out", strict=False)
    assert site == tmp_path / "out"
    assert (site / "assets" / "vendor" / "fonts" / "one.woff2").read_text(encoding="utf-8") == "one"


def test_all_stale_notebooks_are_named_at_once(small: SmallBook) -> None:
    page(small, HEADER + SECTION.replace("6 * 7", "6 * 8"), "section")
    page(small, HEADER + SECTION, "another")
    message = said_by(small)
    assert message.startswith("the book was not built\n")
    assert "chapters/section.ipynb: out of step with its text: cell 2 differs" in message
    assert "chapters/another.ipynb: missing" in message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# Home\n\n[Gone](gone.md)\n", "'index.md' contains a link 'gone.md', but the target is not found"),
        (
            "# Home\n\n[Gone](section.md#gone)\n",
            "'section.md#gone', but the doc 'section.md' does not contain an anchor",
        ),
        (
            "# Home\n\n<!-- from data: nothing -->\n",
            "a page asks for the data 'nothing'\n  known: api, contents, coverage",
        ),
    ],
)
def test_a_broken_page_is_refused_with_its_name(small: SmallBook, text: str, said: str) -> None:
    page(small, text)
    assert said in said_by(small)


def test_a_build_that_fails_leaves_the_site_as_it_was(small: SmallBook) -> None:
    site = build_site(small.root)
    before = {path: path.read_bytes() for path in site.rglob("*") if path.is_file()}
    page(small, "# Another home\n\n[Gone](gone.md)\n")
    said_by(small)
    assert {path: path.read_bytes() for path in site.rglob("*") if path.is_file()} == before


def test_a_second_build_waits_for_the_first(small: SmallBook, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, build = threading.Event(), build_module.build_alone

    def build_alone(root: Path, *, strict: bool, target: Path | None) -> Path:
        begun.set()
        return build(root, strict=strict, target=target)

    monkeypatch.setattr(build_module, "build_alone", build_alone)
    with alone(small.root / PLACE):
        second = threading.Thread(target=build_site, args=(small.root,))
        second.start()
        assert not begun.wait(timeout=0.5)
        assert second.is_alive()
        assert not (small.root / "site").exists()
    second.join()
    assert begun.is_set()
    assert (small.root / "site" / "index.html").is_file()


def figure_with(small: SmallBook, link: str) -> None:
    """A figure that leads somewhere, on the home page."""
    figures = small.root / "chapters" / "assets" / "figures"
    figures.mkdir(parents=True)
    svg = f'<svg class="glass-figure"><a href="{link}">there</a></svg>'
    (figures / "f.svg").write_text(svg, encoding="utf-8")
    page(small, "# Home\n\n![f](assets/figures/f.svg)\n")


@pytest.mark.parametrize(
    ("link", "on_the_page"),
    [
        ("../../section.md", "section.html"),
        ("../../../reference/glasstorch/core", "reference/api/core.html"),
        ("https://example.org/a.h", "https://example.org/a.h"),
    ],
)
def test_a_link_of_a_figure_leads_to_the_page(small: SmallBook, link: str, on_the_page: str) -> None:
    core = small.root / "reference" / "glasstorch" / "core" / "__init__.py"
    core.parent.mkdir(parents=True)
    core.write_text('"""What?"""\n', encoding="utf-8")
    figure_with(small, link)
    assert f'<a href="{on_the_page}">there</a>' in (build_site(small.root) / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("link", ["../../gone.md", "../../../reference/glasstorch/core"])
def test_a_link_of_a_figure_that_leads_nowhere_is_refused(small: SmallBook, link: str) -> None:
    figure_with(small, link)
    assert f"assets/figures/f.svg: its link {link} leads to no page of the book" in said_by(small)


def test_what_strict_refuses_is_a_note_without_it(small: SmallBook, capsys: pytest.CaptureFixture[str]) -> None:
    page(small, "# Home\n\n[Gone](gone.md)\n")
    build_site(small.root, strict=False)
    assert "note: Doc file 'index.md' contains a link 'gone.md'" in capsys.readouterr().err


def test_a_target_that_cannot_be_written_is_said(small: SmallBook) -> None:
    (small.root / "site").write_text("in the way", encoding="utf-8")
    assert "see that the folder can be written" in said_by(small)


def test_a_broken_configuration_is_said(small: SmallBook) -> None:
    (small.root / "mkdocs.yml").write_text(CONFIG + "docs_dir: nowhere\n", encoding="utf-8")
    assert "nowhere" in said_by(small)


def test_the_command_ends_with_the_message_alone(
    small: SmallBook, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build_module, "project_root", lambda: small.root)
    assert build_module.main() == 0
    assert "open site/index.html" in capsys.readouterr().out
    page(small, "[Gone](gone.md)")
    assert build_module.main() == 1
    assert "Traceback" not in capsys.readouterr().err
