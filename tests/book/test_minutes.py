"""Are the minutes of a section counted from what there is to read, to predict and to run?"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from workbook.book.minutes import main, minutes_of, to_state

SENTENCE = "A sentence has ten words, of which this is one. "  # ten words
CODE = "```{code-cell}\nx = 1\n```\n\n"
GUESS = "```{code-cell}\n---\ntags: [predict]\nquestion: How many?\nkind: number\nanswer: x\n---\nx = 1\n```\n\n"
TABLE = "| a | b |\n|---|---|\n| 1 | 2 |\n\n"
FOLDED = "> [!NOTE]- More\n> | a | b |\n> |---|---|\n> | 1 | 2 |\n\n"
FIGURE = "![What it shows](a.svg)\n\n"


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        (SENTENCE * 40, 2.0),
        (CODE * 3, 3.0),
        (GUESS * 2, 3.0),
        (TABLE, 1.0),
        (FOLDED, 1.0),
        (FIGURE, 1 + 3 / 200),
        ("```text\n| a |\n|---|\n```\n", 0.0),
        (SENTENCE * 20 + "\n\n" + CODE + GUESS + TABLE, 4.5),
    ],
    ids=["words", "cells", "predictions", "table", "folded table", "figure", "no table in code", "all"],
)
def test_each_part_takes_its_time(text: str, minutes: float) -> None:
    assert minutes_of(text) == pytest.approx(minutes)


@pytest.mark.parametrize(("cells", "stated"), [(1, 5), (5, 5), (6, 10), (36, 40)])
def test_what_is_stated_is_rounded_up_to_five(cells: int, stated: int) -> None:
    assert to_state(CODE * cells) == stated


@pytest.mark.parametrize(("stated", "cells", "code"), [(10, 7, 0), (15, 7, 1), (10, 12, 1), (45, 43, 1)])
def test_a_section_that_states_other_minutes_is_reported(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    stated: int,
    cells: int,
    code: int,
) -> None:
    shutil.copy(Path(__file__).parents[2] / "mkdocs.yml", tmp_path / "mkdocs.yml")
    section = tmp_path / "chapters" / "02-a" / "b.md"
    section.parent.mkdir(parents=True)
    section.write_text(f"# B\n\n*{stated} minutes. Needs: nothing. You will see.*\n\n{CODE * cells}", encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text("nav:\n  - 02 A:\n      - 02-a/b.md\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main([]) == code
    assert f"02-a/b.md: states {stated}, takes {cells}.0" in capsys.readouterr().out
