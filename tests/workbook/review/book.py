"""How does a test get a small clone with a book that asks questions?"""

from __future__ import annotations

from pathlib import Path

from tests.workbook.exercises.tree import make_clone

SECTIONS = {
    "00-start/first": ("What is a tensor?", "What is a view?"),
    "02-tensor-storage/one-buffer-many-views": ("What is an offset?",),
    "02-tensor-storage/when-a-view-is-impossible": ("What is a run?",),
    "04-autograd/the-graph": ("What is a leaf?", "What is a node?"),
}
SECTION = "# {title}\n\n*20 minutes. Needs: nothing. You will learn.*\n\nText.\n\n## If someone asks you\n\n{asked}"


def make_book(root: Path, *places: str) -> Path:
    """A clone in this folder with these exercises and the sections above."""
    make_clone(root, *places)
    paths = "\n".join(f"      - {path}.md" for path in SECTIONS)
    (root / "mkdocs.yml").write_text(f"nav:\n  - Book:\n{paths}\n", encoding="utf-8")
    for path, questions in SECTIONS.items():
        write_section(root, path, *questions)
    return root


def write_section(root: Path, path: str, *questions: str) -> None:
    """A section that asks these questions; it replaces the one that was there."""
    asked = "\n".join(f"> [!QUESTION]- {question}\n> Answer to: {question}\n" for question in questions)
    file = root / "chapters" / f"{path}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(SECTION.format(title=path.rpartition("/")[2], asked=asked), encoding="utf-8")
