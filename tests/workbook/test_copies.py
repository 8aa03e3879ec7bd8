"""Does a reader work on copies that ask, that are refreshed while untouched, and that are never overwritten?"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.workbook.predictions.asking_book import REASON, SECTION, make_book, notebook
from workbook.book.project import project_root
from workbook.copies import FOLDER, MADE, Refreshed, copy_of, originals, refresh

ROOT = project_root()
LINK = re.compile(r"\]\(([\w./-]+\.(?:md|ipynb|svg|png))")
OTHER = "04-autograd/engine"


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book of two sections, both of which ask."""
    make_book(tmp_path, OTHER)
    return make_book(tmp_path)


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_bytes())["cells"]
    return found


def write(root: Path, section: str, text: str) -> None:
    """The section's notebook with another title."""
    changed = notebook()
    changed["cells"][0]["source"] = text
    (root / "chapters" / f"{section}.ipynb").write_text(json.dumps(changed), encoding="utf-8")


def test_in_a_copy_nothing_is_answered(book: Path) -> None:
    assert refresh(book) == Refreshed([OTHER, SECTION], [])
    copy = book / FOLDER / f"{SECTION}.ipynb"
    for cell in cells(copy):
        tags = cell["metadata"].get("tags", ())
        if "predict" in tags:
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
        if "answer" in tags:
            assert cell["source"].startswith("<details>")
            assert REASON in cell["source"]


def test_what_is_untouched_follows_the_book(book: Path) -> None:
    refresh(book)
    assert refresh(book) == Refreshed([], [])
    write(book, SECTION, "# The graph, again")
    assert refresh(book) == Refreshed([SECTION], [])
    assert cells(book / FOLDER / f"{SECTION}.ipynb")[0]["source"] == "# The graph, again"


def test_what_the_reader_changed_stays(book: Path) -> None:
    refresh(book)
    copy = book / FOLDER / f"{SECTION}.ipynb"
    copy.write_text("mine", encoding="utf-8")
    assert refresh(book) == Refreshed([], [])  # the book has not changed: there is nothing to say
    write(book, SECTION, "# The graph, again")
    for _ in range(2):
        assert refresh(book) == Refreshed([], [SECTION])
        assert copy.read_text(encoding="utf-8") == "mine"
    copy.rename(copy.with_name("graph-mine.ipynb"))
    assert refresh(book) == Refreshed([SECTION], [])


@pytest.mark.parametrize("ledger", [None, b"", b"[]", b'{"04-autograd/graph": 3}', b"\xff"])
def test_without_its_ledger_every_copy_counts_as_the_readers(book: Path, ledger: bytes | None) -> None:
    refresh(book)
    write(book, SECTION, "# The graph, again")
    made = book / FOLDER / MADE
    made.unlink() if ledger is None else made.write_bytes(ledger)
    assert refresh(book) == Refreshed([], [SECTION])
    assert refresh(book) == Refreshed([], [SECTION])


def test_links_lead_on_from_the_copy(book: Path) -> None:
    (book / "chapters" / "reference").mkdir()
    (book / "chapters" / "reference" / "errata.md").touch()
    links = "[a](engine.md#walk) [b](../04-autograd/engine.md) [c](../reference/errata.md#E1) [d](https://e.org/f.md)"
    write(book, SECTION, f"{links} `nodes[0](engine.py)` [e](#below)")
    refresh(book)
    assert cells(book / FOLDER / f"{SECTION}.ipynb")[0]["source"] == (
        "[a](engine.ipynb#walk) [b](engine.ipynb) [c](../../chapters/reference/errata.md#E1) [d](https://e.org/f.md) "
        "`nodes[0](engine.py)` [e](#below)"
    )


@pytest.mark.parametrize(
    ("path", "copy"),
    [
        (f"chapters/{SECTION}.md", f"{FOLDER}/{SECTION}.ipynb"),
        (f"chapters/{SECTION}.ipynb", f"{FOLDER}/{SECTION}.ipynb"),
        ("chapters/04-autograd", f"{FOLDER}/04-autograd"),
        ("chapters", FOLDER),
        ("chapters/04-autograd/none.md", None),
        ("chapters/index.md", None),
        ("chapters/05-cuda", None),
        ("exercises", None),
    ],
)
def test_a_path_of_the_book_has_its_copy(book: Path, path: str, copy: str | None) -> None:
    refresh(book)
    assert copy_of(book, book / path) == (None if copy is None else book / copy)


def test_all_links_of_the_book_lead_somewhere_from_its_copies(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "chapters", tmp_path / "chapters", ignore=shutil.ignore_patterns("*.js", "*.css"))
    assert len(refresh(tmp_path).made) == len(list(originals(ROOT))) > 20
    lost = []
    for path in sorted((tmp_path / FOLDER).glob("*/*.ipynb")):
        nbformat.validate(nbformat.read(path, as_version=4))
        texts = "\n".join(cell["source"] for cell in cells(path) if cell["cell_type"] == "markdown")
        links = [link for link in LINK.findall(texts) if "/exercises/" not in link]  # those pages are made for the site
        lost += [f"{path.name}: {link}" for link in links if not (path.parent / link).exists()]
    assert lost == []
