"""Does every section of the book keep to the form, and is every place that it names there?"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.book.small_book import ROOT
from tests.truth.test_behaviours import WAITING
from workbook.book.exercise_pages import page_of
from workbook.book.minutes import MOST, STEP, minutes_of
from workbook.book.notebook_text import notebook_sources
from workbook.book.source_map import Place, places
from workbook.exercises.catalogue import exercises, find

CHAPTERS = ROOT / "chapters"
SECTIONS = sorted(f"{path.parent.name}/{path.stem}" for path in CHAPTERS.glob("[0-9][0-9]-*/*.md"))
GLOSSARY = "00-start/glossary"
WITH_ALL_PARTS = [section for section in SECTIONS if section not in (GLOSSARY, "00-start/how-to-read")]
WITH_EXERCISES = [section for section in SECTIONS if not section.startswith("00-")]  # chapter 00 is a tour
EXERCISES = sorted((ROOT / "exercises").glob("[0-9][0-9]-*/*/exercise.toml"))
PARTS = (
    "In PyTorch's source",
    "Failure lab",
    "Exercises",
    "If someone asks you",
    "Next",
)
WIDEST, LONGEST = 80, 30  # of a cell: columns and lines
WITH_REASON = 50  # lines of a cell whose tags say why it is long
UNWANTED = re.compile(
    r"\b(simply|just|obviously|of course|as we can see|magic|powerful)\b|[\U0001f300-\U0001faff]", re.IGNORECASE
)
CELL = re.compile(r"^```\{code-cell\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = re.compile(r"\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)  # of a cell that asks a question
PREDICT = re.compile(r"^:?tags: \[predict\b", re.MULTILINE)
ROW = re.compile(r"^\| `(?P<path>[^`]+)`, `(?P<symbol>[^`]+)` \|[^|]+\| (?P<here>[^|]+) \|$", re.MULTILINE)
BEHAVIOUR = re.compile(r"\bB\d{3}\b")
REASON = re.compile(r'^:?tags: \[.*"long: \w[^"]+".*\]$', re.MULTILINE)


class Named(NamedTuple):
    """A place that a section names."""

    section: str
    path: str
    symbol: str


def text_of(section: str) -> str:
    """A section's source."""
    return (CHAPTERS / f"{section}.md").read_text(encoding="utf-8")


def prose_of(section: str) -> str:
    """What of a section is neither code nor its header."""
    return CELL.sub("", text_of(section).split("---", 2)[2])


def named_places() -> Iterator[Named]:
    """Every place in PyTorch that a table names with its symbol."""
    for section in SECTIONS:
        yield from (Named(section, row["path"], row["symbol"]) for row in ROW.finditer(text_of(section)))


PLACES = sorted(set(named_places()))
KNOWN: dict[str, list[Place]] = {}
for _place in (place for chapter in places(ROOT).values() for place in chapter):
    KNOWN.setdefault(_place.path, []).append(_place)


def stands_where_it_is_said_to(place: Named, require: Callable[[str], Any]) -> bool:
    """Whether PyTorch's file has the symbol: by the source map, or else by looking into the installed package."""
    known = KNOWN[place.path]
    if any(place.symbol in entry.symbol for entry in known):
        return True  # the source map's own test looks it up
    assert known[0].in_wheel is not None, "only the source map can vouch for a file that is not in the wheel"
    file = Path(require("torch").__file__).parent / known[0].in_wheel
    return place.symbol in file.read_text(encoding="utf-8")


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_says_how_long_it_takes_and_what_it_needs(section: str) -> None:
    lead = re.search(r"^# .+\n\n\*(.+?)\*\n\n", text_of(section), re.MULTILINE | re.DOTALL)
    assert lead is not None
    assert section == GLOSSARY or re.match(
        r"(10|15|20|25|30|35|40) minutes\. Needs: .+ You will ", " ".join(lead[1].split())
    )


@pytest.mark.parametrize("section", [section for section in SECTIONS if section != GLOSSARY])
def test_the_minutes_of_a_section_are_true(section: str) -> None:
    text = text_of(section)
    stated = re.search(r"^\*(\d+) minutes\.", text, re.MULTILINE)
    assert stated is not None
    takes = minutes_of(text)  # `python -m workbook.book.minutes` prints those of all sections
    assert takes <= int(stated[1]) < takes + STEP
    assert takes <= MOST, "a section that takes longer is to be split, or to be shortened"


@pytest.mark.parametrize("section", WITH_ALL_PARTS)
def test_a_section_has_its_parts_in_their_order(section: str) -> None:
    headings = re.findall(r"^## (.+)$", text_of(section), re.MULTILINE)
    wanted = [part for part in PARTS if part != "Exercises" or section in WITH_EXERCISES]
    assert [heading for heading in headings if heading in PARTS] == wanted


@pytest.mark.parametrize("section", WITH_ALL_PARTS)
def test_a_section_asks_breaks_and_compares(section: str) -> None:
    cells = CELL.findall(text_of(section))
    assert any(PREDICT.search(cell) for cell in cells)
    assert any("compare_with_torch(" in cell for cell in cells)
    assert len(re.findall(r"^> \[!QUESTION\]-", text_of(section), re.MULTILINE)) >= 3


@pytest.mark.parametrize("section", WITH_EXERCISES)
def test_a_section_asks_for_at_least_three_predictions(section: str) -> None:
    assert len(PREDICT.findall(text_of(section))) >= 3


@pytest.mark.parametrize("section", SECTIONS)
def test_every_prediction_is_answered_in_the_cell_after_it(section: str) -> None:
    text = text_of(section)
    answers = len(re.findall(r'^\+\+\+ \{"tags": \["answer"\]\}$', text, re.MULTILINE))
    answered = re.findall(
        r'^:?tags: \[predict\b[^\n]*\n(?:(?!^```$).)*^```\n\n\+\+\+ \{"tags": \["answer"\]\}$',
        text,
        re.MULTILINE | re.DOTALL,
    )
    assert answers == len(answered) == len(PREDICT.findall(text))


@pytest.mark.parametrize("section", SECTIONS)
def test_cells_fit_a_page(section: str) -> None:
    for cell in CELL.findall(text_of(section)):
        lines = cell.splitlines()
        assert [line for line in lines if len(line) > WIDEST] == []
        length = len(OPTIONS.sub("", cell).splitlines())
        assert bool(REASON.search(cell)) == (length > LONGEST), f"{length} lines: {cell}"
        assert length <= WITH_REASON, cell


def test_the_reason_for_a_long_cell_is_found_in_its_tags_and_nowhere_else() -> None:
    assert REASON.search(':tags: [remove-input, "long: a recorded program"]\n\nx = 1\n')
    assert REASON.search('---\ntags: [predict, "long: a recorded program"]\n---\nx = 1\n')
    assert not REASON.search(':tags: [remove-input, "long: "]\n\nx = 1\n')
    assert not REASON.search('x = 1  # "long: a recorded program"\n')


@pytest.mark.parametrize("section", [section for section in SECTIONS if section != GLOSSARY])
def test_a_section_has_a_figure(section: str) -> None:
    cells = json.loads((CHAPTERS / f"{section}.ipynb").read_text(encoding="utf-8"))["cells"]
    outputs = [output for cell in cells for output in cell.get("outputs", [])]
    drawn = any("image/svg+xml" in output.get("data", {}) for output in outputs)
    assert drawn or ".svg" in text_of(section)


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_is_told_plainly(section: str) -> None:
    assert UNWANTED.findall(prose_of(section)) == []


@pytest.mark.parametrize("section", WITH_ALL_PARTS)
def test_the_source_tables_say_how_far_ours_is_the_same(section: str) -> None:
    table = text_of(section).partition("## In PyTorch's source")[2].partition("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ") and not line.startswith("| where")]
    assert len(rows) >= 3
    for line in rows:
        row = ROW.fullmatch(line)
        assert row is not None, line
        assert re.search(r"\b(same|simplified|omitted)\b", row["here"])


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place.section}:{place.path}:{place.symbol}")
def test_a_place_is_in_the_source_map(place: Named) -> None:
    assert place.path in KNOWN


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place.section}:{place.path}:{place.symbol}")
def test_a_symbol_stands_where_it_is_said_to(place: Named, require: Callable[[str], Any]) -> None:
    assert stands_where_it_is_said_to(place, require)


@pytest.mark.parametrize("section", WITH_EXERCISES)
def test_what_a_section_rests_on_the_library_can_do(section: str) -> None:
    assert sorted(set(BEHAVIOUR.findall(text_of(section))) & set(WAITING)) == []


@pytest.mark.parametrize("section", WITH_ALL_PARTS)
def test_links_to_the_glossary_lead_to_a_word(section: str) -> None:
    linked = re.findall(r"glossary\.md#([\w-]+)", text_of(section))
    headings = re.findall(r"^### (.+)$", text_of(GLOSSARY), re.MULTILINE)
    assert sorted(set(linked) - {heading.replace(" ", "-") for heading in headings}) == []


@pytest.mark.parametrize("facts", EXERCISES, ids=lambda path: str(path.parent.name))
def test_an_exercise_is_asked_for_by_the_section_that_it_names(facts: Path) -> None:
    exercise = find(ROOT, f"{facts.parent.parent.name}/{facts.parent.name}")
    identity, section = exercise.identity, exercise.section
    asked = text_of(section).partition("\n## Exercises\n")[2].partition("\n## ")[0]
    assert f"(../{page_of(exercise)})" in asked
    assert re.search(rf"\bworkbook start {re.escape(identity)}\b", asked)


def exercises_listed_in(section: str) -> list[str]:
    """The identities of the exercises to which a section sends its reader."""
    asked = text_of(section).partition("\n## Exercises\n")[2].partition("\n## ")[0]
    return re.findall(r"\(\.\./exercises/(\d\d\.\d+)-[\w-]+\.md\)", asked)


@pytest.mark.parametrize("section", WITH_EXERCISES)
def test_a_section_sends_the_reader_to_an_exercise_or_says_that_it_has_none(section: str) -> None:
    asked = text_of(section).partition("\n## Exercises\n")[2].partition("\n## ")[0]
    own = [exercise.identity for exercise in exercises(ROOT) if exercise.section == section]
    assert bool(own) != ("This section has none of its own" in asked)
    assert set(own) <= set(exercises_listed_in(section))


@pytest.mark.parametrize("section", WITH_EXERCISES)
def test_no_section_sends_the_reader_to_an_exercise_that_stands_after_it(section: str) -> None:
    order = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    for identity in exercises_listed_in(section):
        assert order.index(f"- {find(ROOT, identity).section}.md") <= order.index(f"- {section}.md"), identity


@pytest.mark.parametrize("chapter", sorted({facts.parent.parent.name for facts in EXERCISES}))
def test_the_first_exercise_of_a_chapter_belongs_to_its_first_section_that_has_one(chapter: str) -> None:
    # `workbook next` goes by the number, and names the section to be read first
    order = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    sections = [exercise.section for exercise in exercises(ROOT) if exercise.chapter == chapter]
    assert sections[0] == min(sections, key=lambda section: order.index(f"- {section}.md"))


def test_a_helper_of_a_section_says_what_it_does() -> None:
    """`told`, `called` and `noted` were met by readers who had to look up each one."""
    vague = re.compile(r"def (told|called|noted|done|made)\(")
    for source in sorted((ROOT / "chapters").glob("*/*.md")):
        assert vague.findall(source.read_text(encoding="utf-8")) == [], source.name


@pytest.mark.parametrize("path", sorted(CHAPTERS.rglob("*.md")), ids=lambda path: path.relative_to(CHAPTERS).as_posix())
def test_a_paragraph_below_a_table_is_no_row_of_it(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    row = re.compile(r"(> )?\|.*\|")
    glued = [
        after for line, after in pairwise(lines) if row.fullmatch(line) and after.strip("> ") and not row.match(after)
    ]
    assert glued == []


@pytest.mark.parametrize("source", notebook_sources(ROOT), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_number_that_ends_a_sentence_is_no_item_of_a_list(source: Path) -> None:
    # "8. For n steps" is a list of one item, and counts from 1: it is written "8\. For n steps"
    text = source.read_text(encoding="utf-8")
    alone = []
    for item in re.finditer(r"\n\n(?P<number>\d+)\. .*", text):
        number = int(item["number"])
        before, after = text[: item.start()], text[item.end() :]
        if f"\n{number - 1}. " not in before if number > 1 else "\n2. " not in after:
            alone.append(item[0].strip())
    assert alone == []
