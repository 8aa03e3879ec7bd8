"""Compares Python's counts for the tensor and its storage with the count for an object that only a list holds."""

import sys
from typing import Any


def other_references(buffer: list[Any], index: int) -> int:
    """Count the references to the gradient and its memory besides the list's."""
    grad = buffer[index]
    found = sys.getrefcount(grad) - ALONE
    storage = grad._storage
    if storage is not None:
        found += sys.getrefcount(storage) - ALONE
        found += not storage.resizable()
    return found


def references_when_alone() -> int:
    """The count that the same steps return for an object that only a list holds."""

    def count(buffer: list[Any], index: int) -> int:
        grad = buffer[index]
        return sys.getrefcount(grad)

    return count([object()][0:], 0)


ALONE = references_when_alone()
