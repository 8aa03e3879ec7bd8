"""Does the README show the numbers that were kept, and no others?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks import __main__ as program
from benchmarks import book
from benchmarks.__main__ import BOOK, FILES, RESULTS, kept
from workbook.readme_table import BEGIN, END

ROOT = Path(__file__).parents[2]


def test_the_readme_shows_the_last_results_that_were_kept() -> None:
    shown = (ROOT / "README.md").read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip()
    assert shown == kept()


def test_the_pages_weigh_no_more_than_they_may() -> None:
    facts = json.loads(max(RESULTS.glob("[0-9]*-book.json")).read_text(encoding="utf-8"))["facts"]
    assert set(book.MOST) < set(facts)
    assert {name: facts[name] for name, most in book.MOST.items() if "seconds" not in name and facts[name] > most} == {}


def test_the_numbers_of_the_book_are_kept_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    last = max(RESULTS.glob("[0-9]*-cpu.json"))
    (tmp_path / last.name).write_bytes(last.read_bytes())
    monkeypatch.setattr(program, "RESULTS", tmp_path)
    some = {"building the site, seconds": 12.5, "search index, entries": 7.0}
    monkeypatch.setattr(book, "facts", lambda root: some)
    assert program.main(["book"]) == 1  # a part of them is not kept
    assert "no numbers of the book are kept: its pages need chromium and Playwright" in capsys.readouterr().err
    assert program.main(["kept"]) == 1
    assert "results/ holds no DATE-book.json yet; `python -m benchmarks book` writes one" in capsys.readouterr().err
    some |= dict.fromkeys(book.MOST, 1.0)
    assert program.main(["book"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{BOOK}:\n\n- building the site, seconds: 12.50\n- search index, entries: 7\n- ")
    assert "- first cell of a page, seconds: 1.00 (at most 3)\n" in printed
    assert program.main(["kept"]) == 0
    shown = capsys.readouterr().out
    assert shown.endswith(printed)
    assert "| `a + b`, 8 floats |" in shown
    assert program.main(["kept", "book"]) == 2


def test_files_that_are_measured_together_are_kept_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "RESULTS", tmp_path)
    for files in program.TOGETHER.values():
        assert files <= set(FILES)
        for name in files:
            monkeypatch.setitem(FILES, name, lambda modules: [])
    assert program.main(["library"]) == 0
    assert not list(tmp_path.iterdir())
    assert program.main(["sparse", "library"]) == 0
    (kept_now,) = tmp_path.iterdir()
    assert kept_now.name.endswith("-dispatch.json")
    assert json.loads(kept_now.read_text(encoding="utf-8"))["rows"] == []


def test_every_file_that_measures_contests_is_run() -> None:
    files = {
        path.stem
        for path in (ROOT / "benchmarks").glob("*.py")
        if re.search(r"^def contests\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    assert set(FILES) == files
