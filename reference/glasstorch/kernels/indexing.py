"""What do indexing and index_put check on every device?

Mirrors: aten/src/ATen/native/TensorAdvancedIndexing.cpp (_index_put_impl_)
"""

from __future__ import annotations

from collections.abc import Sequence

from glasstorch._tensor import Tensor
from glasstorch.core.errors import OverlapError
from glasstorch.core.geometry import Overlap, has_internal_overlap
from glasstorch.core.user_line import warn_user
from glasstorch.kernels.structured import OVERLAPS_INPUT, overlap
from glasstorch.operators.shapes.indexing.advanced import fills_mask


def warn_of_bytes() -> None:
    """PyTorch's warning where a mask is of dtype uint8."""
    warn_user("indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.")


def look_before_put(self: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool) -> bool:
    """Whether one value fills a mask. Warns where the tensor overlaps itself.

    Raises OverlapError where values or indices share memory with the target, except a 0-dim value that fills a mask.
    """
    filled = fills_mask(indices, values, accumulate)
    if self._strides is not None and has_internal_overlap(self._shape, self._strides):
        _warn_of_expanded("index_put_", "tensor[indices] = tensor")
        if filled:
            _warn_of_expanded("masked_fill_", "tensor[mask] = scalar")
    if not filled:
        for other in (values, *indices):
            if overlap(self, other) in (Overlap.PARTIAL, Overlap.FULL):
                raise OverlapError(OVERLAPS_INPUT)
    return filled


def _warn_of_expanded(name: str, other: str) -> None:
    warn_user(
        f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing this operation. "
        f"This also applies to advanced indexing e.g. {other}"
    )
