"""Asks the base for its counter, which makes one where there is none yet: then the two have the same."""

from __future__ import annotations

from glasstorch._tensor import Tensor

FILE = "autograd/views.py"
LINE = 33


def mended(base: Tensor, other: Tensor) -> Tensor:
    """Record that `other` shares the storage of `base` and that no gradient flows between them, as in `detach`."""
    other._version_counter = base.version_counter()
    return other
