"""Does a reader work on copies that ask, that are refreshed while untouched, and that are never overwritten?"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_server.services.contents.filemanager import FileContentsManager

from tests.workbook.predictions.asking_book import REASON, SECTION, make_book, notebook
from workbook import copies
from workbook.book.project import project_root
from workbook.copies import FOLDER, MADE, Refreshed, copy_of, hash_of, originals, refresh
from workbook.exercises.catalogue import ExerciseError
from workbook.exercises.state import replace_file

ROOT = project_root()
LINK = re.compile(r"\]\(([\w./-]+\.(?:md|ipynb|svg|png|py))")
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
    assert refresh(book) == Refreshed([OTHER, SECTION], [], [])
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
    assert refresh(book) == Refreshed([], [], [])
    write(book, SECTION, "# The graph, again")
    assert refresh(book) == Refreshed([SECTION], [], [])
    assert cells(book / FOLDER / f"{SECTION}.ipynb")[0]["source"] == "# The graph, again"


def test_what_the_reader_changed_stays(book: Path) -> None:
    refresh(book)
    copy = book / FOLDER / f"{SECTION}.ipynb"
    copy.write_text("mine", encoding="utf-8")
    assert refresh(book) == Refreshed([], [], [])  # the book has not changed: there is nothing to say
    write(book, SECTION, "# The graph, again")
    for _ in range(2):
        assert refresh(book) == Refreshed([], [SECTION], [])
        assert copy.read_text(encoding="utf-8") == "mine"
    copy.rename(copy.with_name("graph-mine.ipynb"))
    assert refresh(book) == Refreshed([SECTION], [], [])


def test_running_and_saving_a_copy_leaves_it_untouched(book: Path) -> None:
    refresh(book)
    manager = FileContentsManager(root_dir=str(book / FOLDER))
    name = f"{SECTION}.ipynb"
    model = manager.get(name)
    model["content"]["metadata"]["language_info"] = {"name": "python", "version": "3.99"}
    model["content"]["cells"][1]["outputs"] = []
    before = (book / FOLDER / name).read_bytes()
    manager.save(model, name)
    assert (book / FOLDER / name).read_bytes() != before
    assert refresh(book) == Refreshed([], [], [])
    write(book, SECTION, "# The graph, again")
    assert refresh(book) == Refreshed([SECTION], [], [])
    model = manager.get(name)
    model["content"]["cells"][0]["source"] = "# Mine"
    manager.save(model, name)
    write(book, SECTION, "# The graph, once more")
    assert refresh(book) == Refreshed([], [SECTION], [])


def test_the_copy_of_a_section_that_is_gone_is_removed_unless_it_is_the_readers(book: Path) -> None:
    refresh(book)
    (book / FOLDER / f"{OTHER}.ipynb").write_text("mine", encoding="utf-8")
    for section in (SECTION, OTHER):
        (book / "chapters" / f"{section}.ipynb").unlink()
    assert refresh(book) == Refreshed([], [], [])
    assert [path.name for path in (book / FOLDER).glob("*/*.ipynb")] == ["engine.ipynb"]


def test_a_damaged_notebook_replaces_no_copy(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(book)
    refresh(book)
    copy = book / FOLDER / f"{SECTION}.ipynb"
    before = copy.read_bytes()
    (book / "chapters" / f"{SECTION}.ipynb").write_text("<<<<<<< HEAD", encoding="utf-8")
    (sentence,) = refresh(book).left
    assert sentence == (
        f"chapters/{SECTION}.ipynb is not a notebook any more. To get it back: `git checkout chapters/{SECTION}.ipynb`."
    )
    assert copy.read_bytes() == before


def test_what_cannot_be_read_stays(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(book)
    refresh(book)
    copy = book / FOLDER / f"{SECTION}.ipynb"
    copy.unlink()
    copy.mkdir()
    (copy / "mine").touch()
    assert refresh(book) == Refreshed([], [], [f"{FOLDER}/{SECTION}.ipynb cannot be read, and stays as it is."])
    assert (copy / "mine").exists()


def test_what_was_made_before_an_interruption_is_known(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(path: Path, content: bytes) -> None:
        if path.name == "graph.ipynb":
            raise KeyboardInterrupt
        replace_file(path, content)

    monkeypatch.setattr(copies, "replace_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        refresh(book)
    write(book, OTHER, "# The engine, again")
    monkeypatch.undo()
    assert refresh(book) == Refreshed([OTHER, SECTION], [], [])


def test_a_place_that_cannot_be_written_is_named(book: Path) -> None:
    (book / FOLDER).touch()
    with pytest.raises(
        ExerciseError, match=r"notebooks/04-autograd could not be written: Not a directory\n.*must be a "
    ):
        refresh(book)


@pytest.mark.parametrize("ledger", [None, b"", b"[]", b'{"04-autograd/graph": 3}', b"\xff"])
def test_without_its_ledger_every_copy_counts_as_the_readers(book: Path, ledger: bytes | None) -> None:
    refresh(book)
    write(book, SECTION, "# The graph, again")
    made = book / FOLDER / MADE
    made.unlink() if ledger is None else made.write_bytes(ledger)
    assert refresh(book) == Refreshed([], [SECTION], [])
    assert refresh(book) == Refreshed([], [SECTION], [])


def test_a_ledger_that_names_a_file_elsewhere_removes_nothing_there(book: Path) -> None:
    refresh(book)
    mine = book / "mine.ipynb"
    mine.write_bytes(b"mine")
    made = book / FOLDER / MADE
    made.write_text(json.dumps({**json.loads(made.read_bytes()), "../mine": hash_of(b"mine")}))
    refresh(book)
    assert mine.exists()


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
    shutil.copytree(ROOT / "exercises", tmp_path / "exercises")
    assert len(refresh(tmp_path).made) == len(list(originals(ROOT))) > 20
    lost = []
    for path in sorted((tmp_path / FOLDER).glob("*/*.ipynb")):
        nbformat.validate(nbformat.read(path, as_version=4))
        texts = "\n".join(cell["source"] for cell in cells(path) if cell["cell_type"] == "markdown")
        lost += [f"{path.name}: {link}" for link in LINK.findall(texts) if not (path.parent / link).exists()]
    assert lost == []
