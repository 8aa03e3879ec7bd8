"""A small book, for tests that break one."""

from __future__ import annotations

import json
from pathlib import Path

from workbook.book.notebooks import build

ROOT = Path(__file__).parents[2]
HEADER = "---\njupytext:\n  text_representation:\n    format_name: myst\n---\n\n"


class SmallBook:
    """A project folder with a book in it, to which a test adds sections."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "chapters").mkdir(parents=True)
        (root / "mkdocs.yml").write_text("site_name: Small\n", encoding="utf-8")

    def section(self, text: str, name: str = "section") -> Path:
        """A notebook in text form."""
        path = self.root / "chapters" / f"{name}.md"
        path.write_text(HEADER + text, encoding="utf-8")
        return path


def cell(code: str, *tags: str, **options: object) -> str:
    """The text of a code cell."""
    declared = {"tags": list(tags)} | options if tags else options
    head = f"---\n{json.dumps(declared)}\n---\n" if declared else ""
    return f"```{{code-cell}}\n{head}{code}\n```\n\n"


def asking(code: str, question: str = "What is it?", kind: str = "number", *tags: str, **options: object) -> str:
    """The text of a code cell that asks a question."""
    return cell(code, "predict", *tags, question=question, kind=kind, **options)


SAMPLE = (
    "# Title\n\n"
    + cell("import numpy as np\nnp.arange(3)")
    + "Words.\n\n"
    + cell("print('out')\nimport sys\nprint('err', file=sys.stderr)\nprint('out again')")
    + cell("1 / 0", "failure")
    + asking("6 * 7", answer="shown")
)


def built(book: SmallBook, text: str, name: str = "section") -> Path:
    """A section with this text, whose notebook has been built."""
    source = book.section(text, name)
    assert build([source], book.root) == []
    return source


def error_of(book: SmallBook, text: str) -> str:
    """What the build says of a section that cannot be built."""
    problems = build([book.section(text)], book.root)
    assert len(problems) == 1
    return str(problems[0])
