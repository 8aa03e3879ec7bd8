"""Does the program that reads the book and the exercises find what an editor would look at?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.book.small_book import ROOT
from workbook.book.reading import main, read

TEXTS = sorted(path for path in (ROOT / "chapters").rglob("*.md") if ".ipynb_checkpoints" not in path.parts)
SHEETS = sorted(path for name in ("lab.md", "hints.md") for path in (ROOT / "exercises").glob(f"[0-9]*/*/{name}"))
FOLD = re.compile(r"^> \[!NOTE\]- From the five documents\n(?:>.*\n)+", re.MULTILINE)
MAY_NAME_THE_DOCUMENTS = {"00-start/how-to-read", "00-start/map-of-the-house", "00-start/glossary"}


def test_sentences_are_counted_and_code_is_not() -> None:
    reading = read(
        "---\ntitle: x\n---\n\n# A heading. Of two\n\nOne two three, `x.view(2, 3)`. Four *five*!\n\n"
        "```{code-cell}\nx = 1. Not. A. Sentence.\n```\n\n| a table | of words. And words |\n|---|---|\n\n"
        "- An item of a list\n- [Linked words](a.md#b) count.\n\n"
        "> [!QUESTION]- Is a question counted?\n> Its answer is.\n\n"
        "*PyTorch: `Node` in `torch/csrc/autograd/node.h`.\nHere: `autograd/node.py`. In the documents: 节点.*\n"
    )
    assert reading.sentences == [
        "One two three, `x_view_2_3`.",
        "Four *five*!",
        "An item of a list",
        "Linked words count.",
        "Its answer is.",
    ]
    assert reading.mean == pytest.approx(3.6 - 0.2)
    assert reading.short == 1.0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It names a CUDA device that there is not, which an eager reader has to parse twice.", "that there is not"),
        ("This is what the whole of a computational graph looks like when a call has ended.", "computational graph"),
        ("## The question\n\nA sentence follows that has a length which an editor would let pass.", "The question"),
        ("Short one. " * 12, "words in a sentence"),
        ("Short one. " * 4 + "This sentence is as long as one may be. " * 8, "have fewer than 8 words"),
    ],
)
def test_what_an_editor_would_look_at_is_found(text: str, found: str) -> None:
    assert any(found in fault for fault in read(text).faults())


def test_a_text_that_reads_well_has_no_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = tmp_path / "good.md"
    good.write_text("A view shares the storage of its base, so that a write through one is seen by the other.\n")
    assert main([str(good)]) == 0
    assert capsys.readouterr().out == f"{good}: 1 sentences, mean 19.0, short 0%\n"


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT / "chapters").as_posix())
def test_a_text_of_the_book_reads_well(path: Path) -> None:
    assert read(path.read_text(encoding="utf-8")).faults() == []


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.relative_to(ROOT / "exercises").as_posix())
def test_a_lab_sheet_and_the_hints_of_an_exercise_read_well(path: Path) -> None:
    assert read(path.read_text(encoding="utf-8")).faults() == []


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT / "chapters").as_posix())
def test_the_documents_are_named_in_their_fold_only(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    outside = FOLD.sub("", text)
    assert text.count("> [!NOTE]- From the five documents") == len(FOLD.findall(text)) <= 1
    section = path.relative_to(ROOT / "chapters").with_suffix("").as_posix()
    if section[:2].isdigit() and section not in MAY_NAME_THE_DOCUMENTS:
        assert re.findall(r"\b[Dd]ocuments? 00\d|\b[Tt]he (?:five )?documents\b|errata\.md", outside) == []
