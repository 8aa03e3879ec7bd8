"""Does the table of the last benchmarks, and nothing else, change in README.md?"""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from workbook.readme_table import BEGIN, END, TableError, main, replace_in, replaced

ROOT = Path(__file__).parents[2]
TEXT = f"# Title\n\n{BEGIN}\n\n| old |\n\n{END}\n\nThe end.\n"
TABLE = "| new |\n| --- |\n"


def test_the_table_is_replaced_and_the_rest_stays() -> None:
    new = replaced(TEXT, TABLE)
    assert new == f"# Title\n\n{BEGIN}\n\n| new |\n| --- |\n\n{END}\n\nThe end.\n"
    assert replaced(new, TABLE) == new


@pytest.mark.parametrize(
    "text",
    [
        "",
        f"{BEGIN}\n",
        f"{END}\n",
        f"{END}\n{BEGIN}\n",
        f"{BEGIN}\n{BEGIN}\n{END}\n",
        f"{BEGIN}\n{END}\n{END}\n",
    ],
)
def test_a_file_without_one_place_for_it_is_refused(text: str) -> None:
    with pytest.raises(TableError, match="needs these two lines, once each and in this order"):
        replaced(text, TABLE)


def test_an_empty_table_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(TEXT)
    with pytest.raises(TableError, match=r"README\.md: the benchmarks printed no table"):
        replace_in(path, " \n")
    assert path.read_text() == TEXT


def test_it_says_whether_the_file_changed(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    path.write_text(TEXT)
    assert replace_in(path, TABLE)
    assert not replace_in(path, TABLE)


def test_the_readme_has_a_place_for_the_table() -> None:
    replaced((ROOT / "README.md").read_text(encoding="utf-8"), TABLE)


def test_it_works_as_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "README.md"
    path.write_text(TEXT)
    monkeypatch.setattr("sys.stdin", io.StringIO(TABLE))
    assert main([str(path)]) == 0
    assert "| new |" in path.read_text()
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main([str(path)]) == 1
    assert main([]) == 2
    assert "usage: python -m benchmarks kept |" in capsys.readouterr().err
