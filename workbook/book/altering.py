"""How does a failure lab put another function in the place of one of the library's, until its block ends?"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def altered(holder: object, name: str, value: object) -> Iterator[None]:
    """Give a module, a class or an object another value under a name, and put the first one back at the end."""
    original = getattr(holder, name)
    setattr(holder, name, value)
    try:
        yield
    finally:
        setattr(holder, name, original)
