"""A small book, for tests that break one."""

from __future__ import annotations

from pathlib import Path

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
