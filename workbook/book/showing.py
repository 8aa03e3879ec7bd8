"""How is something displayed, in a notebook and in a terminal?"""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

MARKUP = re.compile(r"[_*`<\[\]\\]")  # what Markdown would read as more than a letter
LINK = re.compile(r"\[(.*?)\]\(.*?\)")


class Shown(NamedTuple):
    """Something to look at: a caption, blocks of code or text, and a sentence of Markdown below them."""

    role: str  # how the site dresses it: CSS classes
    caption: str
    blocks: tuple[tuple[str, str], ...]  # a language ("text" for output) and the text
    note: str = ""

    def __repr__(self) -> str:
        note = [LINK.sub(r"\1", self.note).replace("`", "")] if self.note else []
        return "\n\n".join([self.caption, *(text for _, text in self.blocks), *note])

    def _repr_mimebundle_(
        self, include: object = None, exclude: object = None
    ) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
        """What Jupyter shows; the role is passed along with the Markdown, for the renderer."""
        fences = [f"```{language}\n{text}\n```" for language, text in self.blocks]
        caption = MARKUP.sub(r"\\\g<0>", self.caption)
        markdown = "\n\n".join([f"*{caption}*", *fences, *([self.note] if self.note else [])])
        return {"text/plain": repr(self), "text/markdown": markdown}, {"text/markdown": {"role": self.role}}


def display(shown: Shown) -> None:
    """Display in the notebook, or print outside of one."""
    if "IPython" in sys.modules and sys.modules["IPython"].get_ipython() is not None:
        sys.modules["IPython"].display.display(shown)
    else:
        print(repr(shown))
