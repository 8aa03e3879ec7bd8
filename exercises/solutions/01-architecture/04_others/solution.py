"""Compares Python's counts of the tensor and of its storage with that of an object which only a list holds."""

import sys
from typing import Any


def other_references(buffer: list[Any], index: int) -> int:
    """How many references to the gradient and its memory are not the list's."""
    grad = buffer[index]
    found = sys.getrefcount(grad) - ALONE
    storage = grad._storage
    if storage is not None:
        found += sys.getrefcount(storage) - ALONE
        found += not storage.resizable()
    return found


def references_when_alone() -> int:
    """What the same steps see for an object that only a list holds."""

    def count(buffer: list[Any], index: int) -> int:
        grad = buffer[index]
        return sys.getrefcount(grad)

    return count([object()][0:], 0)


ALONE = references_when_alone()
