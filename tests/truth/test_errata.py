"""Does every erratum say what the document says, what PyTorch does, and where that can be seen?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workbook.book.behaviours import recorded
from workbook.book.errata import Erratum, errata, errata_page, erratum_markdown
from workbook.book.errors import BookError

ROOT = Path(__file__).parents[2]
ENTRIES = errata(ROOT)
# Paths below the wheel's torch/ folder: of its headers, and of its own Python.
WHEEL_PATH = re.compile(r"`((?:torch/)?include/[\w/.]+\.\w+|torch/[\w/]+\.pyi?)")


def test_ids_are_complete_and_in_order() -> None:
    assert [entry.id for entry in ENTRIES] == [f"E{number:03d}" for number in range(1, len(ENTRIES) + 1)]
    assert len(ENTRIES) == 127


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_an_entry_is_whole(entry: Erratum) -> None:
    assert entry.says
    assert not entry.says.endswith(".")
    assert entry.does.endswith((".", ")"))
    assert set(entry.behaviours) <= set(recorded(ROOT))
    assert f"{entry.says} {entry.does} {entry.proof}".count("`") % 2 == 0


@pytest.mark.parametrize(
    ("entry", "path"),
    [(entry, path) for entry in ENTRIES for path in dict.fromkeys(WHEEL_PATH.findall(f"{entry.does} {entry.proof}"))],
    ids=lambda value: value if isinstance(value, str) else value.id,
)
def test_a_path_given_as_proof_is_in_the_wheel(require: Callable[[str], Any], entry: Erratum, path: str) -> None:
    folder = Path(require("torch").__file__).parent
    assert (folder / path.removeprefix("torch/")).is_file(), f"{entry.id} names {path}"


def test_the_page_has_an_anchor_for_each_entry_and_links_between_them() -> None:
    page = errata_page(ROOT)
    assert re.findall(r'<div class="erratum" id="(E\d{3})"', page) == [entry.id for entry in ENTRIES]
    assert set(re.findall(r"\]\(#(E\d{3})\)", page)) <= {entry.id for entry in ENTRIES}


def test_an_entry_shows_the_claim_the_fact_and_the_folded_proof() -> None:
    text = erratum_markdown(
        Erratum("E900", "000", "wrong", "torch.add is x", "It is y, see E001.", "Look at `z`.", ("B001",)),
        recorded(ROOT),
    )
    order = ["`torch.add` is x.\n{ .claim }", "It is y, see [E001](#E001).", "<summary>How we know</summary>"]
    order += ["Look at `z`.", "Contiguous strides", "(12, 4, 1) 0 True 96"]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "text",
    ["- {id: E1, document: '000', status: fine, says: a, does: b}", "- {id: E1}", "- [", "- {id: E1, colour: red}"],
)
def test_broken_data_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "tests" / "truth").mkdir(parents=True)
    (tmp_path / "tests" / "truth" / "errata.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(BookError, match=r"errata\.yaml: "):
        errata(tmp_path)
