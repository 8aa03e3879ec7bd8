"""Which files are notebooks, and is a text that is none refused by name?"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.book.small_book import SmallBook, cell
from workbook.book.errors import BookError
from workbook.book.notebook_text import is_notebook_source, notebook_sources, read_text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (cell("1", "solutoin"), "has the tag 'solutoin'\n  known tags: answer, failure"),
        ("```{code-cell}\nx = 1\n\nWords.\n\n```{code-cell}\ny = 2\n```\n", "close the fence of the cell above it"),
        (cell("1", "solution", raises="KeyError"), "has the option 'raises'\n  accepted: with the tag failure"),
        ("```{code-cell}\n:tags: [unclosed\n\nx\n```\n", "cannot be read as a MyST notebook"),
    ],
)
def test_a_text_that_is_no_notebook_is_refused(book: SmallBook, text: str, said: str) -> None:
    with pytest.raises(BookError) as caught:
        read_text(book.section(text))
    assert said in str(caught.value)
    assert str(caught.value).startswith("chapters/section.md: ")


def test_plain_pages_are_not_notebooks(book: SmallBook) -> None:
    plain = book.root / "chapters" / "plain.md"
    plain.write_text("---\ntitle: x\n---\n\njupytext: no\n", encoding="utf-8")
    section = book.section("# Title")
    assert not is_notebook_source(plain)
    assert notebook_sources(book.root) == [section.resolve()]
    assert notebook_sources(book.root, [section.with_suffix(".ipynb")]) == [section.resolve()]
    with pytest.raises(BookError, match="plain pages need no notebook"):
        notebook_sources(book.root, [plain])
    with pytest.raises(BookError, match="no such file"):
        notebook_sources(book.root, [book.root / "nothing.md"])


def test_to_read_a_notebook_builds_no_grammar_of_web_addresses() -> None:
    # jsonschema builds one, for 0.8 s, where it finds a package that Jupyter's server brings
    program = "import sys, jsonschema, workbook.book.notebooks; print('lark' in sys.modules, 'nbformat' in sys.modules)"
    for first, built in (("", "True True"), ("import workbook.book; ", "False True")):
        done = subprocess.run([sys.executable, "-c", first + program], capture_output=True, text=True, check=True)
        assert done.stdout.strip() == built
