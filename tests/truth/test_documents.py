"""Does the book answer for every heading of the five documents, and for every correction of them?

`headings.txt` has the title of each heading, with the number of claims below it, in the order of the documents. It was
taken from them once; nothing else of their text is kept here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from workbook.book.contents import sections
from workbook.book.documents import (
    DOCUMENTS,
    Coverage,
    Heading,
    coverage,
    coverage_sentence,
    document_page,
    documents_index,
    headings,
)
from workbook.book.errata import errata
from workbook.book.errors import BookError
from workbook.exercises.catalogue import exercises

ROOT = Path(__file__).parents[2]
FOUND = headings(ROOT)
ERRATA = errata(ROOT)
LISTED = (Path(__file__).parent / "headings.txt").read_text(encoding="utf-8").splitlines()


@dataclass(frozen=True)
class Faults:
    """What the headings leave open, by the list of the documents' own and the list of corrections."""

    headings: list[str]
    errata: list[str]


def faults(found: list[Heading]) -> Faults:
    """What an entry was taken out of, and which corrections no claim of their document cites."""
    have = [f"{heading.document}\t{len(heading.claims)}\t{heading.title}" for heading in found]
    cited = {(heading.document, one) for heading in found for claim in heading.claims for one in claim.errata}
    return Faults(
        [line for line in LISTED if line not in have] + [line for line in have if line not in LISTED],
        [entry.id for entry in ERRATA if (entry.document, entry.id) not in cited],
    )


def test_every_heading_has_its_claims_in_the_order_of_the_documents() -> None:
    assert [f"{heading.document}\t{len(heading.claims)}\t{heading.title}" for heading in FOUND] == LISTED
    assert len(LISTED) == 90


def test_every_correction_is_cited_by_its_document() -> None:
    assert faults(FOUND).errata == []


def test_a_correction_is_cited_by_no_other_document() -> None:
    documents = {entry.id: entry.document for entry in ERRATA}
    for heading in FOUND:
        for claim in heading.claims:
            assert {documents[one] for one in claim.errata} <= {heading.document}, claim.says


@pytest.mark.parametrize("verdict", ["outdated", "unverified"])
def test_a_verdict_is_that_of_its_erratum(verdict: str) -> None:
    statuses = {entry.id: entry.status for entry in ERRATA}
    for claim in (claim for heading in FOUND for claim in heading.claims):
        assert (claim.verdict == verdict) == (verdict in {statuses[one] for one in claim.errata}), claim.says


def test_every_place_is_a_section_of_the_book_and_every_exercise_is_there() -> None:
    paths = {section.path.removesuffix(".md") for section in sections(ROOT)}
    identities = {exercise.identity for exercise in exercises(ROOT)}
    claims = [claim for heading in FOUND for claim in heading.claims]
    assert {claim.section for claim in claims} - paths - {""} == set()
    assert {claim.exercise for claim in claims} - identities - {""} == set()
    assert [claim.says for claim in claims if claim.exercise and not claim.section] == []


def test_what_is_to_come_is_told_of_a_chapter_and_what_is_not_has_a_reason() -> None:
    for claim in (claim for heading in FOUND for claim in heading.claims):
        assert not claim.says.endswith("."), claim.says
        assert not claim.left_out or len(claim.left_out.split()) >= 4, claim.says


@pytest.mark.parametrize("number", range(len(FOUND)))
def test_a_heading_that_is_taken_out_is_missed(number: int) -> None:
    assert faults(FOUND[:number] + FOUND[number + 1 :]).headings != []


@pytest.mark.parametrize("number", range(len(FOUND)))
def test_a_claim_that_is_taken_out_is_missed(number: int) -> None:
    heading = FOUND[number]
    for place in range(len(heading.claims)):
        fewer = heading._replace(claims=heading.claims[:place] + heading.claims[place + 1 :])
        assert faults([*FOUND[:number], fewer, *FOUND[number + 1 :]]).headings != []


def test_the_counts_are_shown_on_the_pages() -> None:
    counted = coverage(FOUND)
    assert counted.all == sum(len(heading.claims) for heading in FOUND)
    assert coverage_sentence(ROOT).startswith(counted.sentence())
    for document in DOCUMENTS:
        of_one = coverage([heading for heading in FOUND if heading.document == document])
        assert document_page(ROOT, document).startswith(of_one.sentence())
        fates = f"{of_one.taught} taught, {of_one.later} in later chapters, {of_one.left_out} left out"
        assert f"| {of_one.all} | {fates} |" in documents_index(ROOT)


@pytest.mark.parametrize(
    ("counted", "said"),
    [
        (
            Coverage(2, 1, 1),
            "The book teaches 2 of 4 claims (50 %); later chapters will teach 1, and 1 is left out for a reason.",
        ),
        (Coverage(2, 0, 2), "The book teaches 2 of 4 claims (50 %); 2 are left out for a reason."),
        (Coverage(4, 0, 0), "The book teaches 4 of 4 claims (100 %)."),
    ],
)
def test_the_counts_are_said_in_words(counted: Coverage, said: str) -> None:
    assert counted.sentence() == said


CLAIM = {"says": "a", "verdict": "holds", "section": "00-start/one-addition"}


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        ({**CLAIM, "verdict": "fine"}, "accepted: holds, corrected"),
        ({**CLAIM, "verdict": "corrected"}, "one needs the other"),
        ({**CLAIM, "errata": ["E001"]}, "one needs the other"),
        ({**CLAIM, "later": "08"}, "expected exactly one of section, later and left_out, got section, later"),
        ({"says": "a", "verdict": "holds"}, "got none"),
        ({"says": "a", "verdict": "holds", "later": "99"}, "no chapter '99'"),
        ({**CLAIM, "colour": "red"}, "a claim has says, verdict"),
    ],
)
def test_a_claim_that_is_not_whole_is_refused(tmp_path: Path, claim: dict[str, str], said: str) -> None:
    (tmp_path / "tests" / "truth").mkdir(parents=True)
    entry = {"document": "000", "title": "t", "english": "e", "claims": [claim]}
    (tmp_path / "tests" / "truth" / "documents.yaml").write_text(yaml.safe_dump([entry]), encoding="utf-8")
    with pytest.raises(BookError, match=said):
        headings(tmp_path)
