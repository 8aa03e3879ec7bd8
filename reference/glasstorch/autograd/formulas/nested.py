"""Which helpers do the formulas of nested tensors call?

Mirrors: torch/csrc/autograd/FunctionsManual.cpp (_nested_get_values), tools/autograd/derivatives.yaml
Differs: the two conversions between packed and padded sequences have derivatives of their own, which PyTorch gives to
    the nested tensors above them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from glasstorch.core.geometry import is_non_overlapping_and_dense
from glasstorch.operators.direct import on_tensor, on_tensors

if TYPE_CHECKING:
    from glasstorch._tensor import Tensor

dummy_of, view_from_jagged = on_tensor("_nested_get_jagged_dummy"), on_tensors("_nested_view_from_jagged")
padded: Any = on_tensors("_jagged_to_padded_dense_forward")


def nested_values_backward(grad: Tensor, self: Any) -> Tensor:
    """The gradient of a nested tensor whose values were asked for: nested as it is, with these values."""
    cache = self._metadata_cache
    lengths, ragged_idx = self._lengths, self._ragged_idx
    ends = cache.get("min_seqlen"), cache.get("max_seqlen")
    if not is_non_overlapping_and_dense(grad._shape, grad.strides()):  # expanded: a leaf could not add to it in place
        grad = grad.contiguous()
    return view_from_jagged(grad, self._offsets, dummy_of(self), lengths, ragged_idx, *ends)


def padded_to_jagged_backward(grad: Tensor, offsets: Sequence[Tensor], longest: int) -> Tensor:
    """The gradient of padded sequences: none reaches the padding."""
    result: Tensor = padded(grad, offsets, [longest], 0.0)
    return result
