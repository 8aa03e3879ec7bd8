"""Does a new site take the place of the old one without a moment in which a page is missing or cut off?"""

from __future__ import annotations

import os
import shutil
import threading
from pathlib import Path

import pytest

from workbook.book.swap import beside, put_in_place


def written(folder: Path, **texts: str) -> Path:
    """A folder with files: `a_b` is the file a/b.html."""
    for name, text in texts.items():
        path = folder / f"{name.replace('_', '/')}.html"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def test_the_site_holds_the_new_files_and_no_others(tmp_path: Path) -> None:
    site = written(tmp_path / "site", same="1", changed="1", gone_deep_down="1")
    (site / ".gitignore").write_text("*")
    same = (site / "same.html").stat()
    put_in_place(written(tmp_path / "new", same="1", changed="2", added_there="2"), site)
    assert {path.relative_to(site).as_posix() for path in site.rglob("*")} == {
        ".gitignore", "same.html", "changed.html", "added", "added/there.html",
    }  # fmt: skip
    assert (site / "changed.html").read_text() == "2"
    after = (site / "same.html").stat()
    assert (after.st_ino, after.st_mtime_ns) == (same.st_ino, same.st_mtime_ns)


def test_a_change_is_seen_where_size_and_time_are_the_same(tmp_path: Path) -> None:
    site, new = written(tmp_path / "site", page="1"), written(tmp_path / "new", page="2")
    for folder in (site, new):
        os.utime(folder / "page.html", (0, 0))
    put_in_place(new, site)
    assert (site / "page.html").read_text() == "2"


def test_a_reader_meets_whole_pages_only(tmp_path: Path) -> None:
    versions = [written(tmp_path / word, page=word * 200_000, other=word) for word in ("a", "b")]
    site = tmp_path / "site"
    put_in_place(versions[0], site)
    seen, ended = set(), threading.Event()

    def read() -> None:
        while not ended.is_set():
            text = (site / "page.html").read_text()
            seen.add((text[:1], len(text), len(set(text))))

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(100):
        put_in_place(versions[turn % 2], site)
    ended.set()
    reader.join()
    assert seen <= {("a", 200_000, 1), ("b", 200_000, 1)}


def test_pages_come_after_what_they_refer_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new = written(tmp_path / "new", a="", z_b="")
    (new / "style.css").write_text("")
    order: list[str] = []
    monkeypatch.setattr("workbook.book.swap.move", lambda new, old: order.append(new.name))
    put_in_place(new, tmp_path / "site")
    assert order == ["style.css", "a.html", "b.html"]


def test_a_full_disk_leaves_the_old_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = written(tmp_path / "site", page="old")

    def full(new: Path, part: Path) -> None:
        part.write_text("ne")
        raise OSError(28, "No space left on device", str(part))

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(OSError, match="No space left"):
        put_in_place(written(tmp_path / "new", page="new"), site)
    assert [(path.name, path.read_text()) for path in site.iterdir()] == [("page.html", "old")]


def test_what_a_killed_build_left_is_removed(tmp_path: Path) -> None:
    written(tmp_path / "site-killed", page="half")
    with beside(tmp_path) as folder:
        written(folder, page="new")
        assert list(tmp_path.iterdir()) == [folder]
    assert list(tmp_path.iterdir()) == []
