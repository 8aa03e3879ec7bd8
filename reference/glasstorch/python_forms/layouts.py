"""In which order are a tensor's dimensions laid out in memory?

Mirrors: torch/_tensor.py (dim_order), torch/_prims_common/__init__.py
    (compute_elementwise_output_logical_to_physical_perm), c10/core/TensorImpl.h (is_contiguous)
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from glasstorch.core.errors import ArgumentTypeError, ShapeError, StorageError
from glasstorch.core.geometry import is_channels_last, memory_order
from glasstorch.core.keys import SPARSE, SPARSE_CSR
from glasstorch.core.layout import channels_last, channels_last_3d, contiguous_format
from glasstorch.core.layout import memory_format as MemoryFormat

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

RANKS = {channels_last: 4, channels_last_3d: 5}  # the number of dimensions that a memory format requires


def is_contiguous(self: Tensor, *, memory_format: MemoryFormat = contiguous_format) -> bool:
    """Whether the elements are contiguous in a memory format, row-major by default.

    A tensor of other than 4 dimensions is never `channels_last`, one of other than 5 never `channels_last_3d`.
    """
    if self.key_set & SPARSE_CSR:
        raise StorageError(f"Sparse {self.layout.name[-3:].upper()} tensors do not have is_contiguous")
    if memory_format is contiguous_format:
        return self.is_row_major() and not self.key_set & SPARSE
    if not isinstance(memory_format, MemoryFormat):
        raise ArgumentTypeError(
            f"is_contiguous(): argument 'memory_format' must be torch.memory_format, not {type(memory_format).__name__}"
        )
    rank = RANKS.get(memory_format)
    if rank is None:
        return self.is_row_major()
    return len(self._shape) == rank and is_channels_last(self._shape, self.strides())


def dim_order(self: Tensor, *, ambiguity_check: Any = False) -> tuple[int, ...]:
    """The dimensions in memory order, from the outermost to the innermost.

    Dimensions of size 1 or of equal strides have no unique position. `ambiguity_check=True` refuses such a tensor; a
    list of memory formats refuses it unless it matches exactly one of them.

    >>> import glasstorch as torch
    >>> torch.empty(2, 3, 4).transpose(0, 2).dim_order()
    (2, 1, 0)
    """
    formats = ambiguity_check if isinstance(ambiguity_check, list) else []
    if not isinstance(ambiguity_check, bool | list) or not all(isinstance(f, MemoryFormat) for f in formats):
        raise ArgumentTypeError("The ambiguity_check argument must be a bool or a list of memory formats.")
    shape, strides = self._shape, self.strides()
    is_ambiguous = 1 in shape or any(a == b for a, b in pairwise(strides))
    if ambiguity_check and is_ambiguous and sum(is_contiguous(self, memory_format=format) for format in formats) != 1:
        raise ShapeError(
            "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
        )
    row_major, last = self.is_row_major(), is_contiguous(self, memory_format=channels_last)
    if row_major and not last:
        return tuple(range(len(shape)))
    if last and not row_major:
        return 0, 2, 3, 1
    return tuple(reversed(memory_order([strides], shape)))
