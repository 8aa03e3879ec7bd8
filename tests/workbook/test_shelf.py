"""Is the reader's copy shown line by line, without what an exercise withholds, and with its own line numbers?"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workbook.exercises.copies import clone_with_repair
from workbook import shelf as shelves
from workbook.book.withheld import library, masked, places
from workbook.exercises.catalogue import Exercise, ExerciseError
from workbook.shelf import Shelf

PLACE = Path("glasstorch", "core", "geometry.py")
FILE = library().parent / PLACE
OURS = FILE.read_text(encoding="utf-8").splitlines(keepends=True)


@pytest.fixture
def repair(tmp_path: Path) -> Exercise:
    """A clone with a repair, and with 02.1, which asks for a function of the file above."""
    return clone_with_repair(tmp_path)


def shelf_with(repair: Exercise, lines: list[str], *opened: str) -> Shelf:
    """What is shown while the reader's copy of the file has these lines, and these exercises have passed."""
    copy = repair.faulty / PLACE
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text("".join(lines), encoding="utf-8")
    return Shelf(repair.folder.parents[2], opened, repair)


CHANGES = {
    "nothing": [],
    "lines added at the top": [(0, 0, ["# one\n", "# two\n"])],
    "lines added within": [(20, 20, ["# one\n"])],
    "lines added at the end": [(len(OURS), len(OURS), ["# one\n"])],
    "lines gone": [(20, 23, [])],
    "more lines in their place": [(20, 22, ["# one\n", "# two\n", "# three\n"])],
    "fewer lines in their place": [(20, 24, ["# one\n"])],
    "several changes": [(5, 6, []), (20, 20, ["# one\n"]), (300, 302, ["# two\n", "# three\n", "# four\n"])],
}


def changed(change: list[tuple[int, int, list[str]]]) -> list[str]:
    """The lines of the file after a change."""
    lines = list(OURS)
    for begin, end, other in reversed(change):
        lines[begin:end] = other
    return lines


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_line_of_ours_has_an_entry_and_together_they_are_the_copy(
    repair: Exercise, change: list[tuple[int, int, list[str]]]
) -> None:
    lines = shelf_with(repair, changed(change), "02.1").lines(FILE)
    assert len(lines) == len(OURS)
    assert "".join(lines) == "".join(changed(change))


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_line_is_found_where_it_is_in_the_copy(repair: Exercise, change: list[tuple[int, int, list[str]]]) -> None:
    shelf, copied = shelf_with(repair, changed(change), "02.1"), changed(change)
    gone = {number for begin, end, _ in change for number in range(begin, end)}
    for number in range(0, len(OURS), 5):
        if number not in gone:
            assert copied[shelf.line(FILE, number)] == OURS[number]


def test_what_the_reader_changes_in_what_is_withheld_is_not_shown(repair: Exercise) -> None:
    root = repair.folder.parents[2]
    (held,) = places(FILE, root)
    start, stop = held.lines.start, held.lines.stop
    for begin, end in ((stop - 1, stop), (stop - 1, stop - 1), (stop, stop), (start, stop), (start, start + 1)):
        lines = shelf_with(repair, changed([(begin, end, ["    secret = 1\n"])])).lines(FILE)
        assert lines == masked(FILE, root), (begin, end)
    for begin, end in ((stop, stop + 1), (start - 1, start), (start - 2, start - 2)):
        lines = shelf_with(repair, changed([(begin, end, ["shown = 1\n"])])).lines(FILE)
        assert "".join(lines).count("shown = 1\n") == 1, (begin, end)
        assert held.outline in lines


def test_a_file_that_the_copy_lacks_or_that_is_no_file_of_the_library_is_shown_as_it_is(repair: Exercise) -> None:
    shelf = shelf_with(repair, [])
    for file in (library() / "core" / "device.py", Path(__file__)):
        assert shelf.copy_of(file) == file
    assert shelf.copy_of(FILE) == repair.faulty / PLACE


def test_a_file_that_cannot_be_read_is_told_only_where_it_is_the_readers(
    repair: Exercise, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(file: Path) -> list[str]:
        raise PermissionError(13, "Permission denied")

    shelf = shelf_with(repair, [])
    monkeypatch.setattr(shelves, "texts", refused)
    with pytest.raises(ExerciseError, match=r"geometry\.py cannot be read: Permission denied\n"):
        shelf.copied(FILE)
    with pytest.raises(PermissionError):
        shelf._replace(repair=None).copied(FILE)
