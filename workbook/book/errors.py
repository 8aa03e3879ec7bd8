"""What went wrong with the book, in words for the person who can mend it?"""

from __future__ import annotations


class BookError(Exception):
    """The book cannot be built. The message says where, what clashed, and what to do."""
