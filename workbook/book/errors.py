"""What went wrong with the book, in words for the person who can fix it?"""

from __future__ import annotations


class BookError(Exception):
    """The book cannot be built. The message says where, why, and what to do."""


def last_line(text: str) -> str:
    """The last non-empty line of a message."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "(no message)"
