"""Which pages are made from data?

Such a page is a Markdown file with its title and introduction, and a line `<!-- from data: NAME -->` where
the data goes.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from workbook.book.api import api_index
from workbook.book.documents import coverage_sentence, document_page, documents_index
from workbook.book.errata import DOCUMENTS, errata_page
from workbook.book.errors import BookError
from workbook.book.exercise_pages import exercise_index
from workbook.book.home import contents, house
from workbook.book.interview_page import document_questions, first_questions, second_questions
from workbook.book.operator_pages import operator_index
from workbook.book.progress_example import progress_file, progress_output
from workbook.book.pytorch_operators import pytorch_operators
from workbook.book.source_map import source_map_page

MARKER = re.compile(r"^<!-- from data: ([a-z0-9-]+) -->$", re.MULTILINE)

PAGES: dict[str, Callable[[Path], str]] = {
    "api": api_index,
    "contents": contents,
    "coverage": coverage_sentence,
    **{f"document-{name}": partial(document_page, document=name) for name in DOCUMENTS},
    "documents": documents_index,
    "errata": errata_page,
    "exercises": exercise_index,
    "house": house,
    "interview": first_questions,
    "interview-second": second_questions,
    "interview-document": document_questions,
    "operators": operator_index,
    "progress-file": progress_file,
    "progress-output": progress_output,
    "pytorch-operators": pytorch_operators,
    "source-map": source_map_page,
}


def fill_in(markdown: str, root: Path) -> str:
    """The page with each marker replaced by the Markdown of its data."""

    def made(match: re.Match[str]) -> str:
        name = match[1]
        if name not in PAGES:
            raise BookError(f"a page asks for the data {name!r}\n  known: {', '.join(sorted(PAGES))}")
        return PAGES[name](root)

    return MARKER.sub(made, markdown)
