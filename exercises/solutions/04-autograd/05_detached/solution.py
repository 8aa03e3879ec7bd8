"""Asks the base for its counter, which makes one if there is none yet, so that the two tensors share it."""

from __future__ import annotations

from glasstorch._tensor import Tensor
from glasstorch.core.keys import ADINPLACEORVIEW
from glasstorch.core.tensor_impl import count_versions_anew

FILE = "autograd/views.py"
LINE = 40


def mended(base: Tensor, other: Tensor) -> Tensor:
    """Record that `other` shares the storage of `base` and that no gradient flows between them, as in `detach`."""
    if not base.key_set & other.key_set & ADINPLACEORVIEW:
        count_versions_anew(other)
        return other
    other._version_counter = base.version_counter()
    return other
