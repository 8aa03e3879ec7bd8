"""Does a text read well on a wide and on a narrow screen, with colours and without?"""

from __future__ import annotations

import doctest
import io
import os
import shutil
import sys
from pathlib import Path

import pytest

from workbook.exercises import say
from workbook.exercises.say import coloured, fill, has_colour, installation, markdown, paint, program, typed, visible

TABLE = "| size | stride |\n|---|---|\n| 4 | 1 |\n| 3 | 4 |"


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty columns, no colours."""
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    program.cache_clear()


def test_the_examples_hold() -> None:
    assert doctest.testmod(say).failed == 0


@pytest.mark.parametrize(("columns", "expected"), [("10", 24), ("40", 40), ("200", 100)])
def test_a_line_is_never_too_wide_to_read(monkeypatch: pytest.MonkeyPatch, columns: str, expected: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert say.width() == expected


def test_commands_and_paths_are_never_broken() -> None:
    path = "exercises/02-tensor-storage/01_strides/answer.py"
    lines = fill(f"Then, as often as it pleases you, `workbook check 02.1` on {path}", "  ", "    ").splitlines()
    assert lines == ["  Then, as often as it pleases you,", "    `workbook check 02.1` on", f"    {path}"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("caf\u00e9 \N{SNOWMAN}\n\tx", "caf\u00e9 \N{SNOWMAN}\n\tx"),
        ("\x1b[2J\r\x07", r"\x1b[2J\r\x07"),
        ("\x9b2J \u202e \udc80", r"\x9b2J \u202e \udc80"),
    ],
)
def test_what_steers_a_terminal_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == visible(visible(text)) == shown


def test_two_powers_in_code_are_no_bold_words() -> None:
    assert markdown("That of `2**x` is **not** `3**x`.") == "That of `2**x` is not `3**x`."


def test_markdown_is_wrapped_and_its_code_left_alone() -> None:
    text = (
        "A **bold** word that comes before the end\nof the line.\n\n"
        "1. the first of two items, which takes two lines\n2. second\n\n"
        "```python\nfor size in reversed(shape):  # a line that is much longer\n    ...\n```\n\nEnd."
    )
    assert markdown(text).splitlines() == [
        "A bold word that comes before the end of",
        "the line.",
        "",
        "1. the first of two items, which takes",
        "   two lines",
        "2. second",
        "",
        "    for size in reversed(shape):  # a line that is much longer",
        "        ...",
        "",
        "End.",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("See [one view](../02-a/b.md#c), and\n[two](https://d.example/).", "See one view, and two."),
        ("A [link over\ntwo lines](a.md).", "A link over two lines."),
        ("[`x[0]`](a.md) and `x[0](1)`", "`x[0]` and `x[0](1)`"),
        ("![A figure](a.svg)", "A figure"),
        ("x[0] (a) and [b]", "x[0] (a) and [b]"),
        ("- [one](a.md)\n- two", "- one\n- two"),
    ],
)
def test_a_link_is_its_words(text: str, shown: str) -> None:
    assert markdown(text) == shown


def test_links_in_code_and_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    assert markdown("```\n[a](b)\n```") == "    [a](b)"
    assert markdown("    [a](b)") == "    [a](b)"
    assert markdown("| a | b |\n|---|---|\n| [c](d.md) | 1 |") == "a  b\n-  -\nc  1"


def test_indented_code_stays_as_it_is() -> None:
    assert markdown("So:\n\n    a  =  1\n    b  =  2") == "So:\n\n    a  =  1\n    b  =  2"


def test_a_table_has_columns_where_they_fit_and_is_a_list_where_not(monkeypatch: pytest.MonkeyPatch) -> None:
    assert markdown(TABLE) == "size  stride\n----  ------\n4     1\n3     4"
    monkeypatch.setattr(say, "width", lambda: 12)
    assert markdown(TABLE) == "- size: 4;\n  stride: 1\n- size: 3;\n  stride: 4"


def test_code_is_coloured_and_keeps_its_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert coloured("run `a b`") == "run `a b`"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert coloured("run `a b`") == "run \x1b[36m`a b`\x1b[0m"
    assert paint("x", "red", "bold") == "\x1b[31;1mx\x1b[0m"
    assert paint("", "red") == ""


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_colours_are_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert not has_colour(Terminal())
    monkeypatch.setenv("NO_COLOR", "")
    assert has_colour(Terminal())
    assert not has_colour(io.StringIO())
    monkeypatch.setenv("TERM", "dumb")
    assert not has_colour(Terminal())


def test_the_command_is_named_as_the_reader_can_type_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / ".venv" / "bin"
    folder.mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", str(folder / "python"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert program() == "python -m workbook"
    own = folder / ("workbook.exe" if sys.platform == "win32" else "workbook")
    own.touch()
    program.cache_clear()
    assert Path(program()) == own.relative_to(tmp_path)
    program.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda name: str(own))
    assert program() == "workbook"
    program.cache_clear()
    monkeypatch.setattr(shutil, "which", lambda name: str(tmp_path / own.name))
    monkeypatch.chdir(folder)
    assert say.command("next") == f"`.{os.sep}{own.name} next`"
    program.cache_clear()
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    assert program() == str(own)


def test_a_path_with_a_space_is_told_in_quotes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "a clone" / ".venv" / "bin"
    folder.mkdir(parents=True)
    python = folder / "python"
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.chdir(tmp_path)
    assert installation("torch") == f'"{python.relative_to(tmp_path)}" -m pip install -e ".[torch]"'
    monkeypatch.chdir(tmp_path / "a clone")
    assert installation("torch") == f'{python.relative_to(tmp_path / "a clone")} -m pip install -e ".[torch]"'
    monkeypatch.chdir(folder)
    assert typed(python) == f".{os.sep}python"
