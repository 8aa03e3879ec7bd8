"""What does each of the five source documents say, is it so, and where does the book teach it?

`tests/truth/documents.yaml` goes through the documents heading by heading: a line for each claim, in our own words,
with a verdict and the place where a reader finds it made visible. The pages of the documents are made from it, and the
number on the home page that says how much of them the book covers.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from workbook.book.contents import TITLES, chapter_title, sections
from workbook.book.errata import DOCUMENTS, mark
from workbook.book.errors import BookError, last_line
from workbook.book.exercise_pages import all_exercises, page_of
from workbook.book.project import TRUTH
from workbook.book.prose import with_code
from workbook.book.render import box

FOLDER = "reference/documents"  # of the pages, below the folder of chapters
VERDICTS = {
    "holds": "PyTorch 2.13 does what the document says",
    "corrected": "PyTorch does something else, or it needs more care; an erratum says what",
    "outdated": "it was so in an earlier version; an erratum says what is so now",
    "unverified": "could not be settled; an erratum says what was tried",
    "advice": "nothing to be checked: an opinion, a recommendation or an introduction",
}


WITH_ERRATA = ("corrected", "outdated", "unverified")


class Claim(NamedTuple):
    """One thing that a document says below a heading.

    Exactly one of `section`, `later` and `left_out` is given: the section that teaches it, the number of the chapter
    that will, or why the book does not cover it.
    """

    says: str  # in our words, without the full stop
    verdict: str
    errata: tuple[str, ...] = ()
    section: str = ""  # its path below the chapters, without its ending
    exercise: str = ""  # its identity
    later: str = ""
    left_out: str = ""


class Heading(NamedTuple):
    """A heading of a document and what is claimed below it."""

    document: str
    title: str  # in the document's words
    english: str
    claims: tuple[Claim, ...]


class Coverage(NamedTuple):
    """How many claims there are, and what became of them."""

    taught: int
    later: int
    left_out: int

    @property
    def all(self) -> int:
        """The number of claims."""
        return sum(self)

    def sentence(self) -> str:
        """The numbers in words.

        >>> Coverage(120, 40, 12).sentence()
        'The book teaches 120 of 172 claims (69 %); later chapters will teach 40, and 12 are left out for a reason.'
        """
        said = f"The book teaches {self.taught} of {self.all} claims ({100 * self.taught // max(1, self.all)} %)"
        rest = [f"later chapters will teach {self.later}"] if self.later else []
        if self.left_out:
            rest.append(f"{self.left_out} {'is' if self.left_out == 1 else 'are'} left out for a reason")
        return "; ".join([said, ", and ".join(rest)] if rest else [said]) + "."


def headings(root: Path) -> list[Heading]:
    """The headings in the order of the documents. Raises BookError where an entry is not whole."""
    path = root / TRUTH / "documents.yaml"
    try:
        found = [_heading(entry) for entry in yaml.safe_load(path.read_text(encoding="utf-8"))]
    except (yaml.YAMLError, TypeError, KeyError) as error:
        raise BookError(
            f"{path.name}: {last_line(str(error))}\n"
            f"  a heading has {', '.join(Heading._fields)}; a claim has {', '.join(Claim._fields)}"
        ) from error
    for heading in found:
        for claim in heading.claims:
            if fault := _fault(heading, claim):
                raise BookError(f"{path.name}: document {heading.document}, {heading.title}: {claim.says!r}\n  {fault}")
    return found


def _heading(entry: dict[str, Any]) -> Heading:
    claims = tuple(Claim(**{**claim, "errata": tuple(claim.get("errata", ()))}) for claim in entry["claims"])
    return Heading(entry["document"], entry["title"], entry["english"], claims)


def _fault(heading: Heading, claim: Claim) -> str:
    """What is wrong with a claim; empty for one that is whole."""
    if heading.document not in DOCUMENTS:
        return f"there is no document {heading.document!r}; known: {', '.join(DOCUMENTS)}"
    if claim.verdict not in VERDICTS:
        return f"the verdict is {claim.verdict!r}; accepted: {', '.join(VERDICTS)}"
    if (claim.verdict in WITH_ERRATA) != bool(claim.errata):
        return f"the verdict is {claim.verdict!r} and the errata are {claim.errata}; one needs the other"
    places = [name for name in ("section", "later", "left_out") if getattr(claim, name)]
    if len(places) != 1:
        return f"expected exactly one of section, later and left_out, got {', '.join(places) or 'none'}"
    if claim.later and claim.later not in TITLES:
        return f"there is no chapter {claim.later!r}; known: {', '.join(TITLES)}"
    return ""


def coverage(found: Iterable[Heading]) -> Coverage:
    """How many of the claims below these headings are taught, wait or are left out."""
    claims = [claim for heading in found for claim in heading.claims]
    return Coverage(
        sum(bool(claim.section) for claim in claims),
        sum(bool(claim.later) for claim in claims),
        sum(bool(claim.left_out) for claim in claims),
    )


def page_of_document(document: str) -> str:
    """The path of a document's page in the book."""
    return f"{FOLDER}/{document}.md"


def document_page(root: Path, document: str) -> str:
    """The Markdown of a document's page, without its introduction: a table for each heading."""
    found = [heading for heading in headings(root) if heading.document == document]
    titles = {section.path: section.title for section in sections(root)}
    exercises = {exercise.identity: page_of(exercise) for exercise in all_exercises(root)}
    parts = [coverage(found).sentence()]
    for heading in found:
        parts.append(f"## {heading.english}\n\n{heading.title}\n{{ .original lang=zh }}")
        rows = [
            f"| {with_code(claim.says)} | {_verdict(claim)} | {_place(claim, titles, exercises)} |"
            for claim in heading.claims
        ]
        parts.append(box("claims", "\n".join(["| it says | verdict | in the book |", "|---|---|---|", *rows])))
    return "\n\n".join(parts)


def _verdict(claim: Claim) -> str:
    links = ", ".join(f"[{one}](../errata.md#{one})" for one in claim.errata)
    return f"{mark(claim.verdict)} {links}".rstrip()


def _place(claim: Claim, titles: dict[str, str], exercises: dict[str, str]) -> str:
    if claim.later:
        return f"later, in chapter {chapter_title(claim.later)}"
    if claim.left_out:
        return f"left out: {claim.left_out}"
    section = f"[{titles[claim.section + '.md']}](../../{claim.section}.md)"
    return section + (f", exercise [{claim.exercise}](../../{exercises[claim.exercise]})" if claim.exercise else "")


def documents_index(root: Path) -> str:
    """The documents with their pages and how much of each the book covers; then what the verdicts mean."""
    lines = ["| document | claims | what became of them |", "|---|---:|---|"]
    by_document = groupby(headings(root), key=lambda heading: heading.document)
    for document, found in by_document:
        counted = coverage(found)
        title = f"[{document} {DOCUMENTS[document]}]({document}.md)"
        fates = f"{counted.taught} taught, {counted.later} in later chapters, {counted.left_out} left out"
        lines.append(f"| {title} | {counted.all} | {fates} |")
    meanings = [f"| {mark(verdict)} | {meaning} |" for verdict, meaning in VERDICTS.items()]
    return "\n".join([*lines, "", "| verdict | meaning |", "|---|---|", *meanings])


def coverage_sentence(root: Path) -> str:
    """For the home page: how much of the documents the book covers."""
    pages = f"[The five documents]({FOLDER}/index.md) are answered heading by heading."
    return f"{coverage(headings(root)).sentence()} {pages}"
