"""How are the gradients that arrive at one input of a node added up?

Mirrors: torch/csrc/autograd/input_buffer.cpp (accumulate, can_accumulate_inplace)
Differs: a storage whose memory was ever exposed as a NumPy array counts as shared; PyTorch writes into that of a
    gradient made with `torch.from_numpy`.
"""

from __future__ import annotations

import sys
from typing import Any

from glasstorch._tensor import Tensor
from glasstorch.core.geometry import is_non_overlapping_and_dense
from glasstorch.dispatch.python_fallback import is_seen


def accumulate(arrived: Tensor, grad: Tensor, *, others: int, grad_mode: bool) -> Tensor:
    """The sum of a gradient that has arrived and the next one: `arrived` itself, written into, where that is safe.

    The sum has no gaps between its elements, so `arrived` is left alone where it has some. `others` counts the
    references to `arrived` and to its memory that are not the engine's; `grad_mode` says whether grad mode is on.
    """
    # Safe: only the buffer has `arrived`, no history will need its old values, and the memory has a place for each
    # element of the sum: of the same shape and dtype, each used once. Writing into memory with gaps would be safe, too,
    # but here as in PyTorch a sum has no gaps, so that a leaf may keep it without a copy. Who has `grad` is not known.
    if (
        grad_mode
        or others
        or arrived._shape != grad._shape
        or arrived.dtype is not grad.dtype
        or not (arrived._strides is None or is_non_overlapping_and_dense(arrived._shape, arrived._strides))
        or is_seen(arrived)  # a mode or its class may take what is written for a new tensor
    ):
        return arrived + grad
    return arrived.add_(grad)


def other_references(buffer: list[Any], index: int) -> int:
    """How many references there are to the gradient at an index of a list, and to its memory, besides the list's.

    An array over the memory counts as one, also when it is gone.
    """
    grad = buffer[index]
    found = sys.getrefcount(grad) - UNSHARED
    storage = grad._storage
    return found if storage is None else found + sys.getrefcount(storage) - UNSHARED + (not storage.may_resize)


def _references_when_unshared() -> int:
    """The count that `other_references` sees for an object with one other owner; it depends on the interpreter."""
    held = [object()][0:]

    def count(buffer: list[object], index: int) -> int:
        grad = buffer[index]
        return sys.getrefcount(grad)

    return count(held, 0)


UNSHARED = _references_when_unshared()
