"""Is a page of the book made again when, and only when, something that it is made from was changed?"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.book.small_book import ROOT, SmallBook
from workbook.book import cache, page_cache
from workbook.book.build import build_site
from workbook.book.cache import FOLDER, Cache, digest_of_files, is_input, whole_book
from workbook.book.notebooks import build as build_notebooks

CONFIG = f"""
site_name: Small
docs_dir: chapters
use_directory_urls: false
theme: {{name: material, font: false}}
extra_css: [assets/fonts.css]
hooks: [{(ROOT / "workbook" / "book" / "hook.py").as_posix()}]
plugins:
  - mkdocstrings: {{handlers: {{python: {{paths: [reference], options: {{extensions: [workbook.book.api]}}}}}}}}
markdown_extensions: [attr_list, md_in_html, tables, pymdownx.superfences]
nav:
  - index.md
  - section.md
  - map.md
  - data.md
"""
PLACE = """architecture:
- {{path: "torch/__init__.py", symbol: "{}", in_wheel: null, says: "where it begins"}}
"""
LIBRARY = '"""{}"""\n\n\ndef doubled(x: int) -> int:\n    """Twice as much."""\n    return 2 * x\n'
FIGURE = '<svg class="glass-figure"><title>{}</title></svg>'


def write(small: SmallBook, path: str, text: str) -> None:
    place = small.root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")


def notebook(small: SmallBook, word: str) -> None:
    assert build_notebooks([small.section(f"# Section\n\n```{{code-cell}}\nprint('{word}')\n```\n")], small.root) == []


def figure(small: SmallBook, word: str) -> None:
    write(small, "chapters/assets/figures/f.svg", FIGURE.format(word))


def yaml_row(small: SmallBook, word: str) -> None:
    write(small, "tests/truth/source_map.yaml", PLACE.format(word))


def docstring(small: SmallBook, word: str) -> None:
    write(small, "reference/glasstorch/core/__init__.py", LIBRARY.format(word))


def page(small: SmallBook, word: str) -> None:
    write(small, "chapters/index.md", f"# Home\n\n{word} [on](section.md#section)\n")


def navigation(small: SmallBook, word: str) -> None:
    write(small, "mkdocs.yml", CONFIG.replace("- index.md", f"- {word}: index.md"))


INPUTS: dict[str, tuple[Callable[[SmallBook, str], None], str]] = {
    "notebook": (notebook, "section.html"),
    "figure": (figure, "map.html"),
    "yaml row": (yaml_row, "data.html"),
    "docstring": (docstring, "reference/api/core.html"),
    "page": (page, "index.html"),
    "navigation": (navigation, "section.html"),
}


@pytest.fixture
def small(book: SmallBook, monkeypatch: pytest.MonkeyPatch) -> SmallBook:
    """A book with a page of each kind, on a machine without node."""
    monkeypatch.setattr("workbook.book.vendor.shutil.which", lambda name: None)
    write(book, "chapters/map.md", "# Map\n\n![f](assets/figures/f.svg)\n")
    write(book, "chapters/data.md", "# Data\n\n<!-- from data: source-map -->\n")
    write(book, "reference/glasstorch/__init__.py", '"""The front door."""\n')
    for kind, (change, _) in INPUTS.items():
        change(book, word("Before", kind))
    return book


@pytest.fixture
def converted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages that are turned into HTML from now on."""
    pages: list[str] = []
    convert = page_cache.rendered

    def counted(page, config, files):
        pages.append(page.file.src_uri)
        return convert(page, config, files)

    monkeypatch.setattr(page_cache, "rendered", counted)
    return pages


def built(small: SmallBook) -> dict[str, bytes]:
    """The files of the site after a build."""
    site = build_site(small.root, strict=False)
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in site.rglob("*") if path.is_file()}


def word(time: str, kind: str) -> str:
    return f"{time}{kind.title().replace(' ', '')}"


def test_a_change_of_every_kind_is_seen_and_a_warm_build_is_a_cold_one(small: SmallBook, converted: list[str]) -> None:
    before = built(small)
    pages = sorted(converted)
    remade = {
        "figure": [],
        "navigation": [],
        "docstring": [page for page in pages if page.startswith("reference/api/")],
    }
    for kind, (change, path) in INPUTS.items():
        assert word("Before", kind).encode() in before[path], kind
        change(small, word("After", kind))
        converted.clear()
        after = built(small)
        assert word("After", kind).encode() in after[path], kind
        assert word("Before", kind).encode() not in after[path], kind
        assert sorted(converted) == remade.get(kind, [path.replace(".html", ".md")]), kind
        before = after
    shutil.rmtree(small.root / FOLDER)
    converted.clear()
    assert built(small) == before
    assert sorted(converted) == pages


def test_where_nothing_was_changed_nothing_is_built(small: SmallBook, monkeypatch: pytest.MonkeyPatch) -> None:
    before = built(small)

    def refused(config: object) -> None:
        raise AssertionError("it is built again")

    with monkeypatch.context() as patched:
        patched.setattr("mkdocs.commands.build.build", refused)
        assert built(small) == before
        (small.root / "site" / "index.html").unlink()
        with pytest.raises(AssertionError, match="it is built again"):
            built(small)
    assert built(small) == before


def test_another_renderer_makes_every_page_again(
    small: SmallBook, converted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "workbook" / "book" / "render.py"
    program.parent.mkdir(parents=True)
    monkeypatch.setattr(cache, "WORKBOOK", tmp_path / "workbook")
    for text, package in (("one", "a"), ("two", "a"), ("two", "b")):
        program.write_text(text)
        monkeypatch.setattr(cache, "tools", lambda package=package: package)
        converted.clear()
        built(small)
        assert {"index.md", "section.md", "map.md", "data.md", "reference/api/core.md"} <= {*converted}


def test_a_page_with_a_warning_warns_again(small: SmallBook, capsys: pytest.CaptureFixture[str]) -> None:
    page(small, "[Gone](gone.md)")
    for _ in range(2):
        built(small)
        assert "contains a link 'gone.md'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "path", ["exercises/a/start.py", "reference/a.yaml", "chapters/a.svg", "tests/truth/a.yaml", "a"]
)
def test_any_file_of_the_clone_is_an_input_of_the_book(book: SmallBook, path: str) -> None:
    seen = {whole_book(book.root, None, strict=True)}
    for text in ("one", "two"):
        write(book, path, text)
        seen.add(whole_book(book.root, None, strict=True))
    assert len(seen) == 3
    for unread in (".cache/a", "site/a.html", "reference/__pycache__/a.pyc"):
        write(book, unread, "of no interest")
    assert whole_book(book.root, None, strict=True) in seen


def test_what_the_reader_writes_makes_nothing_out_of_date(book: SmallBook) -> None:
    before = whole_book(book.root, None, strict=True)
    for path in (
        "notebooks/a/b.ipynb", "exercises/progress.json", "exercises/progress.json.lock", "exercises/a/b/answer.py",
        "exercises/a/b/my_lab.ipynb", "exercises/a/b/kept/answer.py", "exercises/a/b/faulty-1/a.py",
    ):  # fmt: skip
        write(book, path, "of no interest")
    assert whole_book(book.root, None, strict=True) == before


def test_every_name_that_git_ignores_is_the_readers_or_made_by_a_program() -> None:
    ignored = [line for line in (ROOT / ".gitignore").read_text().splitlines() if line.startswith("/exercises/")]
    assert len(ignored) == 5
    for pattern in ignored:
        assert not is_input(Path(pattern.strip("/").replace("*", "x") + ("/x" if pattern.endswith("/") else "")))


def test_a_file_that_changes_its_name_changes_the_hash(tmp_path: Path) -> None:
    (tmp_path / "ab").write_text("c")
    before = digest_of_files(tmp_path)
    (tmp_path / "ab").rename(tmp_path / "a")
    (tmp_path / "a").write_text("bc")
    assert digest_of_files(tmp_path) != before


def test_what_was_cut_off_is_made_again_and_what_is_not_used_is_dropped(tmp_path: Path) -> None:
    first = Cache(tmp_path)
    assert first.get("a") is None
    first.put("a", {"x": [1, None]})
    first.put("b", 2)
    assert first.get("a") == {"x": [1, None]}
    (tmp_path / "b").write_text('{"cut')
    second = Cache(tmp_path)
    assert second.get("b") is None
    second.drop_unused()
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_a_cache_that_cannot_be_written_is_no_hindrance(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    Cache(tmp_path / "file").put("a", 1)
    assert Cache(tmp_path / "file").get("a") is None
