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


def accumulate(arrived: Tensor, grad: Tensor, *, shared: bool, recording: bool) -> Tensor:
    """The sum of a gradient that has arrived and the next one: `arrived` itself, written into, where that is safe.

    `shared` says whether anybody but the buffer has `arrived` or its memory, `recording` whether the sum needs a
    history. The next gradient is never written to.
    """
    # Safe: only the buffer has `arrived`, no history will need its old values, and the memory has a place for each
    # element of the sum: of the same shape and dtype, each used once, without gaps.
    if (
        recording
        or shared
        or arrived._shape != grad._shape
        or arrived.dtype is not grad.dtype
        or not (arrived._strides is None or is_non_overlapping_and_dense(arrived._shape, arrived._strides))
    ):
        return arrived + grad
    return arrived.add_(grad)


def is_shared(buffer: list[Any], index: int) -> bool:
    """Whether anything but this list holds the gradient at an index of it, or its memory."""
    grad = buffer[index]
    if sys.getrefcount(grad) > UNSHARED:
        return True
    storage = grad._storage
    return storage is not None and (not storage.may_resize or sys.getrefcount(storage) > UNSHARED)


def _references_when_unshared() -> int:
    """The count that `is_shared` sees for an object with one other owner; it depends on the interpreter."""
    held = [object()][0:]

    def count(buffer: list[object], index: int) -> int:
        grad = buffer[index]
        return sys.getrefcount(grad)

    return count(held, 0)


UNSHARED = _references_when_unshared()
